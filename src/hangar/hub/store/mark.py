"""Mark: how far a database file had come, noted beside it, so that an older file in its place is noticed."""

import os
from pathlib import Path

import msgspec

from hangar.hub.store.records import Position


class Mark:
    """The file beside a database file; it lags behind by a second or so, never the other way."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + ".mark")
        self._written: Position | None = None

    def read(self) -> Position | None:
        """Return what was noted, None where nothing was, or nothing that can be read."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Position)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, position: Position) -> None:
        """Note a position, on disk when this returns. Raises OSError."""
        if position == self._written:
            return
        draft = self.path.with_name(self.path.name + ".new")
        with draft.open("wb") as file:
            file.write(msgspec.json.encode(position))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
        self._written = position

"""The lock beside a database file: one hub a file, for a second one would hand the fleet out twice."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class LockedError(Exception):
    """Another process has the database; the message says which file and what to do."""


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Hold the database's lock until the block ends. Raises LockedError; the lock ends with the process, too."""
    path = database.with_name(database.name + ".lock")
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise LockedError(
                f"{database} is in use by process {holder}, which holds {path}: stop that hub, or use another database"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield

"""One hub a database file."""

from pathlib import Path

import pytest

from hangar.hub.store.lockfile import LockedError, locked


def test_a_second_hub_is_kept_off_and_told_by_whom(tmp_path: Path) -> None:
    database = tmp_path / "hub.db"
    with locked(database):
        with (
            pytest.raises(LockedError, match=r"is in use by process [0-9]+, which holds .*hub\.db\.lock"),
            locked(database),
        ):
            pass
        with locked(tmp_path / "other.db"):
            pass
    with locked(database):
        pass

"""The mark beside a database file: an earlier state of the file is noticed, a later one and a new one are not."""

import asyncio
import shutil
from pathlib import Path

import pytest

from hangar.hub.store.store import Store
from hangar.hub.store.tx import EventType, Subject, Tx


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.db"


def use(path: Path, events: int = 1, *, is_remembered: bool = True) -> None:
    """Run a hub's store for a while: it writes events, and notes how far it came."""

    def note(tx: Tx) -> None:
        tx.event(EventType.CLUSTER_ADDED, Subject("cluster", "iad-1"), 1)

    store = Store.open(path)
    for _ in range(events):
        store.write(note)
        if is_remembered:
            asyncio.run(store.remember(store.position()))
    store.close()


def why_restored(path: Path) -> str | None:
    store = Store.open(path)
    try:
        return store.why_restored()
    finally:
        store.close()


def test_what_goes_on_where_it_was_left_is_not_taken_for_restored(path: Path) -> None:
    assert why_restored(path) is None
    use(path)
    assert why_restored(path) is None
    use(path, is_remembered=False)  # it was killed before it could note that
    assert why_restored(path) is None
    use(path, events=3)
    assert why_restored(path) is None


def test_an_earlier_state_in_the_files_place_is(path: Path, tmp_path: Path) -> None:
    use(path)
    backup = tmp_path / "backup"
    shutil.copy(path, backup)
    use(path)
    shutil.copy(backup, path)
    why = why_restored(path)
    assert why is not None
    assert "is at revision 1, and " in why
    assert "hub.db.mark knows revision 2" in why


def test_a_state_from_before_there_were_marks_is(path: Path, tmp_path: Path) -> None:
    use(path, is_remembered=False)
    backup = tmp_path / "backup"
    shutil.copy(path, backup)
    use(path)
    shutil.copy(backup, path)
    assert why_restored(path) is not None


@pytest.mark.parametrize("left", [None, b"", b"{", b'{"rev": "x"}'])
def test_a_file_without_its_mark_is(path: Path, left: bytes | None) -> None:
    use(path)
    mark = path.with_name("hub.db.mark")
    mark.unlink()
    if left is not None:
        mark.write_bytes(left)
    why = why_restored(path)
    assert why is not None
    assert "hub.db.mark, which stood beside the database, is missing or cannot be read" in why


def test_a_file_that_never_had_one_is_not(path: Path) -> None:
    use(path, is_remembered=False)
    assert why_restored(path) is None
    assert not path.with_name("hub.db.mark").exists()


def test_a_new_file_beside_an_old_mark_is_not(path: Path) -> None:
    use(path, events=3)
    path.unlink()
    assert why_restored(path) is None


def test_a_store_in_memory_has_none() -> None:
    store = Store.in_memory()
    store.write(lambda tx: tx.event(EventType.CLUSTER_ADDED, Subject("cluster", "iad-1"), 1))
    asyncio.run(store.remember(store.position()))
    assert store.why_restored() is None

"""SQLite: a full disk, a lock, a file that is none; nothing acknowledged is lost, nothing refused is kept."""

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import select, text

from hangar.hub.store.store import Store
from hangar.hub.store.tables import feed
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.store.writer import StoreUnavailableError
from tests.hub.store.noting import names


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hub.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    made = Store.open(path)
    yield made
    made.close()


def note(tx: Tx, name: str = "iad-1", size: int = 0) -> str:
    """Write one event; `size` makes it big."""
    tx.event(EventType.CLUSTER_ADDED, Subject("cluster", name), 1, data={"filler": "." * size})
    return name


def rev(store: Store) -> int:
    return store.read(lambda connection: int(connection.execute(select(feed.c.rev)).scalar_one()))


def fill_up(store: Store) -> None:
    """Leave the database no room to grow by more than a few pages."""
    store.write(lambda tx: tx.connection.execute(text("PRAGMA max_page_count = 1")))


def test_a_full_disk_refuses_everybody_and_loses_nothing_acknowledged(store: Store) -> None:
    store.write(lambda tx: note(tx, "before"))
    fill_up(store)
    acknowledged, refused = [], 0
    with ThreadPoolExecutor(16) as threads:
        jobs = [threads.submit(store.write, lambda tx, n=n: note(tx, f"c{n}", size=900 * (n % 3))) for n in range(200)]
        for each in jobs:
            error = each.exception()
            if error is None:
                acknowledged.append(each.result())
            else:
                assert isinstance(error, StoreUnavailableError), error
                assert "full" in str(error)
                refused += 1
    assert refused > 0
    assert sorted(names(store)) == sorted(["before", *acknowledged])
    assert rev(store) == len(names(store))
    with pytest.raises(StoreUnavailableError):
        asyncio.run(store.check_writable())
    store.write(lambda tx: tx.connection.execute(text("PRAGMA max_page_count = 1000000")))
    assert store.write(note) == "iad-1"
    asyncio.run(store.check_writable())


def test_a_write_that_another_process_locks_out_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.store.dialects.STORE_BUSY_TIMEOUT_S", 0.01)
    store = Store.open(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked"):
        store.write(note)
    assert names(store) == []
    other.execute("ROLLBACK")
    other.close()
    assert store.write(note) == "iad-1"
    store.close()


def test_a_database_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="cannot be opened"):
        Store.open(tmp_path / "nowhere" / "hub.db")
    (tmp_path / "text.db").write_text("this is no database, whatever its name says" * 100)
    with pytest.raises(StoreUnavailableError, match="no database"):
        Store.open(tmp_path / "text.db")

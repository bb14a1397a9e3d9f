"""The store on disk: nothing acknowledged is lost, nothing refused is kept."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import IntegrityError

from hangar.hub.store.store import Store
from hangar.hub.store.tables import events, feed, readiness
from hangar.hub.store.tx import Committed, EventType, Subject, Tx
from hangar.hub.store.writer import StoreUnavailableError
from hangar.wire.problems import Problem, ProblemCode


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


def names(store: Store) -> list[str]:
    statement = select(events.c.object_name).order_by(events.c.rev)
    return list(store.read(lambda connection: connection.execute(statement).scalars().all()))


def rev(store: Store) -> int:
    return store.read(lambda connection: int(connection.execute(select(feed.c.rev)).scalar_one()))


def fill_up(store: Store) -> None:
    """Leave the database no room to grow by more than a few pages."""
    store.write(lambda tx: tx.connection.execute(text("PRAGMA max_page_count = 1")))


def test_what_was_written_is_read_and_survives_a_restart(store: Store, path: Path) -> None:
    assert store.write(note) == "iad-1"
    store.close()
    again = Store.open(path)
    assert (names(again), rev(again)) == (["iad-1"], 1)
    again.close()


def test_a_failed_job_takes_only_itself_back(store: Store) -> None:
    def refused(tx: Tx) -> None:
        note(tx, "refused")
        tx.stamp()
        raise Problem(ProblemCode.CONFLICT, "held")

    def broken(tx: Tx) -> None:
        note(tx, "broken")
        tx.stamp()
        tx.connection.execute(insert(readiness).values([{"id": 1}, {"id": 1}]))

    with ThreadPoolExecutor(24) as threads:
        kept = [threads.submit(store.write, lambda tx, n=n: note(tx, f"c{n}")) for n in range(8)]
        problems = [threads.submit(store.write, refused) for _ in range(8)]
        faults = [threads.submit(store.write, broken) for _ in range(8)]
        assert sorted(each.result() for each in kept) == [f"c{n}" for n in range(8)]
        assert {type(each.exception()) for each in problems} == {Problem}
        assert {type(each.exception()) for each in faults} == {IntegrityError}
    assert sorted(names(store)) == [f"c{n}" for n in range(8)]
    assert rev(store) == 8


def test_many_writes_share_a_commit(path: Path) -> None:
    store = Store.open(path)
    held, go = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        held.set()
        assert go.wait(10)
        note(tx, "first")

    commits: list[Committed] = []
    store.on_commit(commits.append)

    def touch(tx: Tx) -> None:
        tx.committed.woken.add("key")
        note(tx)

    with ThreadPoolExecutor(11) as threads:
        first = threads.submit(store.write, slow)
        assert held.wait(10)
        rest = [threads.submit(store.write, touch) for _ in range(10)]
        while store.queued_count < 10:
            pass
        go.set()
        first.result()
        for each in rest:
            each.result()
    assert [(each.woken, len(each.events)) for each in commits] == [(set(), 1), ({"key"}, 10)]
    store.close()


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


def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(StoreUnavailableError, match="read-only"):
        store.read(lambda connection: connection.execute(insert(readiness).values(id=1)))


def test_a_full_queue_refuses_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.store.writer.WRITES_QUEUED_MAX", 2)
    store = Store.open(path)
    held, go = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        held.set()
        assert go.wait(10)

    with ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(store.write, slow)]
        assert held.wait(10)
        jobs += [threads.submit(store.write, slow) for _ in range(2)]
        while store.queued_count < 2:
            pass
        with pytest.raises(StoreUnavailableError, match="2 writes are waiting already"):
            store.write(note)
        go.set()
        for each in jobs:
            each.result()
    store.close()


def test_a_write_whose_asker_has_gone_is_not_begun(path: Path) -> None:
    store = Store.open(path)
    held, go = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        held.set()
        assert go.wait(10)

    async def talk() -> None:
        first = asyncio.create_task(store.write_async(slow))
        await asyncio.to_thread(held.wait, 10)
        gone = asyncio.create_task(store.write_async(note))
        await asyncio.to_thread(lambda: None)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        go.set()
        await first

    asyncio.run(talk())
    store.write(lambda tx: note(tx, "later"))
    assert names(store) == ["later"]
    store.close()


def test_the_probe_leaves_nothing_behind(store: Store) -> None:
    asyncio.run(store.check_writable())
    count = select(func.count()).select_from(readiness)
    assert store.read(lambda connection: connection.execute(count).scalar_one()) == 0
    assert rev(store) == 0


def test_a_store_in_memory_is_its_own(path: Path) -> None:
    first, second = Store.in_memory(), Store.in_memory()
    first.write(lambda tx: note(tx, "first"))
    assert (names(first), names(second)) == (["first"], [])
    assert asyncio.run(first.read_async(lambda connection: connection.execute(text("SELECT 1")).scalar())) == 1
    assert list(path.parent.iterdir()) == []

"""The store, judged alike on a file, in memory and on PostgreSQL."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError

from hangar.hub.store.dialects import insert_or_replace, insert_unless_held, insert_unless_there
from hangar.hub.store.records import Position
from hangar.hub.store.store import Store
from hangar.hub.store.tables import events, idempotency, operations, readiness, tokens
from hangar.hub.store.tx import Committed, Tx
from hangar.hub.store.writer import StoreUnavailableError
from hangar.wire.problems import Problem, ProblemCode
from tests.databases import Databases
from tests.hub.store.noting import names, note, revs


def open_place(kind: str, request: pytest.FixtureRequest, folder: Path) -> Callable[[], Store]:
    """Return what opens a store of some kind, once and once more; one in memory is new each time."""
    if kind == "memory":
        return Store.in_memory
    databases: Databases | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    database = folder / "hub.db" if databases is None else databases.empty()
    return lambda: Store.open(database)


@pytest.fixture(params=["memory", "file", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = open_place(request.param, request, tmp_path)()
    yield made
    made.close()


@pytest.fixture(params=["file", "postgresql"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    return open_place(request.param, request, tmp_path)


@pytest.fixture
def shared_store(open_store: Callable[[], Store]) -> Iterator[Store]:
    """A store with threads, in which several connections meet."""
    made = open_store()
    yield made
    made.close()


def refused(tx: Tx) -> None:
    note(tx, "refused")
    tx.stamp()
    raise Problem(ProblemCode.CONFLICT, "held")


def broken(tx: Tx) -> None:
    note(tx, "broken")
    tx.stamp()
    tx.connection.execute(insert(readiness).values([{"id": 1}, {"id": 1}]))


def an_operation(id_: str, hold: str, phase: str = "pending") -> dict[str, object]:
    return {
        "id": id_,
        "type": "node.drain",
        "kind_version": 1,
        "phase": phase,
        "target": "n01",
        "hold": hold,
        "params": {},
        "created_by": "admin",
        "created_us": 1,
    }


def a_token(name: str) -> dict[str, object]:
    return {"id": name, "sha256": name, "principal": name, "role": "viewer", "created_us": 1}


class Held:
    """Jobs that keep the writer busy until they are let go."""

    def __init__(self) -> None:
        self.began, self._go = threading.Event(), threading.Event()

    def job(self, _tx: Tx) -> None:
        self.began.set()
        assert self._go.wait(10)

    def let_go(self) -> None:
        self._go.set()


# --- writing ----------------------------------------------------------------------------------------------------------


def test_what_was_written_is_read(store: Store) -> None:
    assert store.write(note) == "iad-1"
    assert (names(store), store.position().rev) == (["iad-1"], 1)


def test_what_was_written_survives_a_restart(open_store: Callable[[], Store]) -> None:
    first = open_store()
    first.write(note)
    position = first.position()
    first.close()
    again = open_store()
    assert (names(again), again.position()) == (["iad-1"], position)
    again.close()


@pytest.mark.parametrize(("run", "kind"), [(refused, Problem), (broken, IntegrityError)])
def test_a_failed_job_leaves_nothing_behind(store: Store, run: Callable[[Tx], None], kind: type[Exception]) -> None:
    store.write(lambda tx: note(tx, "before"))
    with pytest.raises(kind):
        store.write(run)
    store.write(lambda tx: note(tx, "after"))
    assert (names(store), revs(store)) == (["before", "after"], [1, 2])


def test_a_failed_job_takes_only_itself_back(shared_store: Store) -> None:
    store = shared_store
    with ThreadPoolExecutor(24) as threads:
        kept = [threads.submit(store.write, lambda tx, n=n: note(tx, f"c{n}")) for n in range(8)]
        problems = [threads.submit(store.write, refused) for _ in range(8)]
        faults = [threads.submit(store.write, broken) for _ in range(8)]
        assert sorted(each.result() for each in kept) == [f"c{n}" for n in range(8)]
        assert {type(each.exception()) for each in problems} == {Problem}
        assert {type(each.exception()) for each in faults} == {IntegrityError}
    assert sorted(names(store)) == [f"c{n}" for n in range(8)]
    assert revs(store) == list(range(1, 9))


def test_each_event_has_a_revision_of_its_own_and_the_rows_the_newest_of_them(store: Store) -> None:
    def run(tx: Tx) -> None:
        tx.connection.execute(insert(operations).values(an_operation("op_1", "h")))
        note(tx, "first")
        note(tx, "second")
        tx.touch_operation("op_1", "iad-1")
        tx.stamp()
        tx.touch_operation("op_1", None)

    committed: list[Committed] = []
    store.on_commit(committed.append)
    store.write(run)
    assert revs(store) == [1, 2]
    assert store.read(lambda c: c.execute(select(operations.c.rev)).scalar_one()) == 3
    (found,) = committed
    assert (found.first_rev, found.last_rev, [each["rev"] for each in found.events]) == (1, 3, [1, 2])
    assert found.woken == {"operation:op_1", "cluster:iad-1"}


def test_a_commit_that_stamps_nothing_says_so(store: Store) -> None:
    committed: list[Committed] = []
    store.on_commit(committed.append)
    store.write(lambda tx: None)
    with pytest.raises(Problem):
        store.write(refused)
    assert [(each.first_rev, each.last_rev, each.events) for each in committed] == [(0, 0, [])] * 2
    assert store.position().rev == 0


def test_many_writes_share_a_commit(shared_store: Store) -> None:
    held, commits = Held(), list[Committed]()

    def touch(tx: Tx) -> None:
        tx.committed.woken.add("key")
        note(tx)

    shared_store.on_commit(commits.append)
    with ThreadPoolExecutor(11) as threads:
        first = threads.submit(shared_store.write, held.job)
        assert held.began.wait(10)
        rest = [threads.submit(shared_store.write, touch) for _ in range(10)]
        while shared_store.queued_count < 10:
            pass
        held.let_go()
        for each in (first, *rest):
            each.result()
    shared_store.write(lambda tx: None)  # its listeners are called after those of the commits before
    assert [(each.woken, len(each.events)) for each in commits[:2]] == [(set(), 0), ({"key"}, 10)]
    assert (commits[1].first_rev, commits[1].last_rev) == (1, 10)


def test_those_who_share_a_commit_with_one_that_fails_are_written_once(shared_store: Store) -> None:
    held, commits = Held(), list[Committed]()
    shared_store.on_commit(commits.append)
    with ThreadPoolExecutor(5) as threads:
        first = threads.submit(shared_store.write, held.job)
        assert held.began.wait(10)
        jobs = (lambda tx: note(tx, "one"), refused, lambda tx: note(tx, "two"), broken)
        rest = []
        for count, job in enumerate(jobs, start=1):  # in this order, whichever thread is quicker
            rest.append(threads.submit(shared_store.write, job))
            while shared_store.queued_count < count:
                pass
        held.let_go()
        first.result()
        outcomes = [each.exception() for each in rest]
    assert [type(each) for each in outcomes] == [type(None), Problem, type(None), IntegrityError]
    shared_store.write(lambda tx: None)  # its listeners are called after those of the commits before
    assert (names(shared_store), revs(shared_store)) == (["one", "two"], [1, 2])
    assert dict(commits[1].outcomes) == {"committed": 2, "refused": 2}
    assert [each["rev"] for each in commits[1].events] == [1, 2]


def test_a_full_queue_refuses_at_once(open_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.store.writer.WRITES_QUEUED_MAX", 2)
    store, held = open_store(), Held()
    with ThreadPoolExecutor(3) as threads:
        jobs = [threads.submit(store.write, held.job)]
        assert held.began.wait(10)
        jobs += [threads.submit(store.write, held.job) for _ in range(2)]
        while store.queued_count < 2:
            pass
        with pytest.raises(StoreUnavailableError, match="2 writes are waiting already"):
            store.write(note)
        held.let_go()
        for each in jobs:
            each.result()
    store.close()


def test_a_write_whose_asker_has_gone_is_not_begun(shared_store: Store) -> None:
    held = Held()

    async def talk() -> None:
        first = asyncio.create_task(shared_store.write_async(held.job))
        await asyncio.to_thread(held.began.wait, 10)
        gone = asyncio.create_task(shared_store.write_async(note))
        await asyncio.to_thread(lambda: None)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        held.let_go()
        await first

    asyncio.run(talk())
    shared_store.write(lambda tx: note(tx, "later"))
    assert names(shared_store) == ["later"]


def test_the_probe_leaves_nothing_behind(store: Store) -> None:
    asyncio.run(store.check_writable())
    count = select(func.count()).select_from(readiness)
    assert store.read(lambda connection: connection.execute(count).scalar_one()) == 0
    assert store.position().rev == 0


# --- reading ----------------------------------------------------------------------------------------------------------


def test_readers_cannot_write(shared_store: Store) -> None:
    with pytest.raises(StoreUnavailableError, match="read-only"):
        shared_store.read(lambda connection: connection.execute(insert(readiness).values(id=1)))
    assert shared_store.write(note) == "iad-1"


def test_a_list_is_read_as_of_one_moment(shared_store: Store) -> None:
    shared_store.write(note)

    def read(connection: object) -> tuple[int, int]:
        count = select(func.count()).select_from(events)
        before = connection.execute(count).scalar_one()  # type: ignore[attr-defined]
        shared_store.write(note)
        return before, connection.execute(count).scalar_one()  # type: ignore[attr-defined]

    assert asyncio.run(shared_store.read_async(read)) == (1, 1)
    assert asyncio.run(shared_store.read_async(read)) == (2, 2)
    assert asyncio.run(shared_store.read_point(lambda c: len(c.execute(select(events)).all()))) == 3


def test_text_sorts_by_its_bytes(store: Store) -> None:
    scrambled = ["b", "B", "a-1", "a1", "a.1", "ä", "Z", "_", "a 1", "A"]
    store.write(lambda tx: tx.connection.execute(insert(tokens), [a_token(each) for each in scrambled]))
    found = store.read(lambda c: c.execute(select(tokens.c.id).order_by(tokens.c.id)).scalars().all())
    assert list(found) == sorted(scrambled, key=str.encode)
    later = select(tokens.c.id).where(tokens.c.id > "a").order_by(tokens.c.id)
    assert list(store.read(lambda c: c.execute(later).scalars().all())) == ["a 1", "a-1", "a.1", "a1", "b", "ä"]


def test_documents_come_back_as_they_went(store: Store) -> None:
    document = {"text": "ä\u0000\n'\"%s:name", "list": [1, 2.5, None, True], "empty": {}, "big": 1 << 60}
    row = an_operation("op_1", "h") | {"params": document, "result": None}
    store.write(lambda tx: tx.connection.execute(insert(operations).values(row)))
    found = store.read(lambda c: c.execute(select(operations.c.params, operations.c.result)).one())
    assert (found.params, found.result) == (document, None)


# --- inserting --------------------------------------------------------------------------------------------------------


def test_an_open_operation_has_its_hold_for_itself(store: Store) -> None:
    def ask(id_: str, hold: str, phase: str = "pending") -> bool:
        statement = insert_unless_held
        values = an_operation(id_, hold, phase)
        return store.write(
            lambda tx: tx.connection.execute(statement(tx.dialect, operations), values).first() is not None
        )

    assert ask("op_1", "a")
    assert not ask("op_2", "a")
    assert not ask("op_2", "a", "running")
    assert ask("op_2", "b")
    assert ask("op_3", "c", "failed")
    assert ask("op_4", "c")


def test_what_is_there_is_left_or_replaced_as_asked(store: Store) -> None:
    row = {"principal": "max", "key": "k", "fingerprint": "first", "op_id": "op_1", "expires_us": 1}

    def unless_there(tx: Tx) -> bool:
        statement = insert_unless_there(tx.dialect, idempotency)
        return tx.connection.execute(statement, row | {"fingerprint": "second"}).first() is not None

    def replace(tx: Tx) -> None:
        tx.connection.execute(insert_or_replace(tx.dialect, idempotency, tuple(row)), row | {"fingerprint": "third"})

    def fingerprint() -> str:
        return store.read(lambda c: str(c.execute(select(idempotency.c.fingerprint)).scalar_one()))

    store.write(lambda tx: tx.connection.execute(insert(idempotency).values(row)))
    assert not store.write(unless_there)
    assert fingerprint() == "first"
    store.write(replace)
    assert fingerprint() == "third"


# --- a place of its own -----------------------------------------------------------------------------------------------


def test_a_store_in_memory_is_its_own(tmp_path: Path) -> None:
    first, second = Store.in_memory(), Store.in_memory()
    first.write(lambda tx: note(tx, "first"))
    assert (names(first), names(second)) == (["first"], [])
    assert first.position() != second.position()
    assert second.position() == Position(second.position().incarnation, 0)
    assert list(tmp_path.iterdir()) == []

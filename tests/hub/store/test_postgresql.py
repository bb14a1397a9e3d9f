"""PostgreSQL: several hubs, connections that end or turn read-only, writers in each other's way; nothing is lost."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import URL, make_url, text
from sqlalchemy.exc import OperationalError

from hangar.hub.store.dialects import Database, begin_migrating, writing_engine
from hangar.hub.store.notices import Notice
from hangar.hub.store.store import Store
from hangar.hub.store.tables import Key, metadata
from hangar.hub.store.tx import Tx
from hangar.hub.store.writer import OutcomeUnknownError, StoreUnavailableError
from tests.databases import Databases
from tests.hub.store.noting import names, note, revs

KILL_ME = text("SELECT pg_terminate_backend(pg_backend_pid())")


@pytest.fixture
def url(postgres: Databases) -> URL:
    return postgres.empty()


@pytest.fixture
def open_hub(url: URL) -> Iterator[Callable[[], Store]]:
    """What opens one more hub's store."""
    opened: list[Store] = []

    def open_() -> Store:
        opened.append(Store.open(url))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()


@pytest.fixture
def store(open_hub: Callable[[], Store]) -> Store:
    return open_hub()


@pytest.fixture
def other(url: URL) -> Iterator[psycopg.Connection]:
    """A connection of somebody else, an administrator."""
    with psycopg.connect(url.set(drivername="postgresql").render_as_string(), autocommit=True) as connection:
        yield connection


def pid(store: Store) -> int:
    """The server process that the store's writer talks to."""
    return store.write(lambda tx: int(tx.connection.execute(text("SELECT pg_backend_pid()")).scalar_one()))


def reading_pid(store: Store) -> int:
    return store.read(lambda c: int(c.execute(text("SELECT pg_backend_pid()")).scalar_one()))


def says(store: Store, setting: str) -> str:
    return store.write(lambda tx: str(tx.connection.execute(text(f"SHOW {setting}")).scalar_one()))


# --- several hubs -----------------------------------------------------------------------------------------------------


def test_two_hubs_share_one_feed_without_gaps(open_hub: Callable[[], Store]) -> None:
    hubs = [open_hub(), open_hub()]
    committed: list[list[int]] = [[], []]
    for hub, mine in zip(hubs, committed, strict=True):
        hub.on_commit(lambda each, mine=mine: mine.extend(event["rev"] for event in each.events))  # type: ignore[misc]

    def write(number: int) -> str:
        return hubs[number % 2].write(lambda tx: note(tx, f"c{number}"))

    with ThreadPoolExecutor(16) as threads:
        acknowledged = list(threads.map(write, range(200)))
    assert sorted(names(hubs[0])) == sorted(acknowledged)
    assert revs(hubs[1]) == list(range(1, 201))
    assert sorted(committed[0] + committed[1]) == list(range(1, 201))
    assert all(mine == sorted(mine) and len(mine) == 100 for mine in committed)


def test_the_time_is_the_databases_and_is_read_once_nobody_else_writes(open_hub: Callable[[], Store]) -> None:
    first, second = open_hub(), open_hub()
    held, go = threading.Event(), threading.Event()

    def slow(tx: Tx) -> int:
        held.set()
        assert go.wait(10)
        return int(tx.connection.execute(text("SELECT extract(epoch FROM clock_timestamp()) * 1000000")).scalar_one())

    times: list[int] = []
    second.on_time(times.append)
    with ThreadPoolExecutor(2) as threads:
        earlier = threads.submit(first.write, slow)
        assert held.wait(10)
        later = threads.submit(second.write, lambda tx: tx.now_us)
        go.set()
        now_us = later.result()
        assert now_us is not None
        assert earlier.result() <= now_us
    assert times == [now_us]
    assert second.now_us() is not None


def test_hubs_that_start_together_migrate_once(postgres: Databases) -> None:
    url = postgres.create()
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(lambda _: Store.open(url), range(4)))
    assert {each.write(note) for each in stores} == {"iad-1"}
    assert revs(stores[0]) == [1, 2, 3, 4]
    for each in stores:
        each.close()


def test_a_migration_may_take_as_long_as_it_takes(postgres: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.store.dialects.STORE_STATEMENT_TIMEOUT_S", 0.003)
    url = postgres.create("TEMPLATE template0")
    engine = writing_engine(url)
    with engine.begin() as connection:
        begin_migrating(connection)
        connection.execute(text("SELECT pg_sleep(0.01)"))
    with pytest.raises(OperationalError), engine.begin() as connection:
        connection.execute(text("SELECT pg_sleep(0.01)"))
    engine.dispose()


def test_a_hub_hears_of_what_others_commit_and_not_of_its_own(open_hub: Callable[[], Store]) -> None:
    first, second = open_hub(), open_hub()

    def wake(*keys: str) -> Callable[[Tx], None]:
        def run(tx: Tx) -> None:
            note(tx)
            tx.committed.woken |= set(keys)

        return run

    async def talk() -> list[Notice]:
        heard: asyncio.Queue[Notice] = asyncio.Queue()
        listening = asyncio.create_task(first.listen(heard.put_nowait))
        # The first notice that arrives shows that it listens; what is sent before is lost, as hints may be.
        while heard.empty():
            await second.write_async(wake("probe"))
            await asyncio.sleep(0)
        await first.write_async(wake("own"))
        await second.write_async(lambda tx: None)
        await second.write_async(wake("a", "b"))
        await second.write_async(wake(*(f"operation:{n:030d}" for n in range(400))))
        found = [await heard.get()]
        while found[-1].keys is not None:
            found.append(await heard.get())
        listening.cancel()
        return [each for each in found if each.keys != ["probe"]]

    several, too_many = asyncio.run(asyncio.wait_for(talk(), 20))
    assert (several.keys, too_many.keys) == (["a", "b"], None)


def test_listening_ends_with_its_connection(store: Store, other: psycopg.Connection) -> None:
    async def talk() -> None:
        listening = asyncio.create_task(store.listen(lambda _: None))
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN hangar_feed'"
        while not (await asyncio.to_thread(other.execute, query)).fetchall():
            assert not listening.done()
        await listening

    with pytest.raises(StoreUnavailableError):
        asyncio.run(asyncio.wait_for(talk(), 20))


# --- writers in each other's way --------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["40001", "40P01"])
def test_what_others_got_in_the_way_of_is_run_again_as_a_whole(store: Store, state: str) -> None:
    tries: list[str] = []

    def run(tx: Tx) -> str:
        note(tx, "once")
        tx.stamp()
        tries.append("run")
        if len(tries) == 1:
            tx.connection.execute(text(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{state}'; END $$"))
        return "done"

    assert store.write(run) == "done"
    assert (len(tries), names(store), revs(store)) == (2, ["once"], [1])


def test_it_is_not_tried_for_ever(store: Store) -> None:
    tries: list[str] = []

    def run(tx: Tx) -> None:
        tries.append("run")
        tx.connection.execute(text("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$"))

    with pytest.raises(StoreUnavailableError, match="other writers kept getting in the way"):
        store.write(run)
    assert len(tries) == 3
    assert store.write(note) == "iad-1"


def test_who_waits_too_long_for_another_writer_is_refused(
    open_hub: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = open_hub()
    monkeypatch.setattr("hangar.hub.store.dialects.STORE_BUSY_TIMEOUT_S", 0.05)
    waiting = open_hub()
    held, go = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        held.set()
        assert go.wait(10)

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(holder.write, slow)
        assert held.wait(10)
        with pytest.raises(StoreUnavailableError, match="locked by another writer"):
            waiting.write(note)
        go.set()
        first.result()
    assert waiting.write(note) == "iad-1"
    assert names(holder) == ["iad-1"]


def test_a_hub_that_stands_still_in_a_transaction_holds_up_the_others_for_a_moment_only(
    open_hub: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    others = open_hub()
    monkeypatch.setattr("hangar.hub.store.dialects.STORE_IDLE_TIMEOUT_S", 0.1)
    frozen = open_hub()
    held, go = threading.Event(), threading.Event()

    def freeze(tx: Tx) -> None:
        note(tx, "frozen")
        tx.stamp()
        held.set()
        assert go.wait(10)
        tx.stamp()

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(frozen.write, freeze)
        assert held.wait(10)
        assert others.write(lambda tx: note(tx, "meanwhile")) == "meanwhile"
        go.set()
        with pytest.raises(StoreUnavailableError):
            first.result()
    assert (names(others), revs(others)) == (["meanwhile"], [1])
    assert frozen.write(note) == "iad-1"


# --- connections that end ---------------------------------------------------------------------------------------------


def test_idle_connections_that_ended_are_not_noticed(store: Store, other: psycopg.Connection) -> None:
    before = {pid(store), reading_pid(store)}
    for each in before:
        other.execute("SELECT pg_terminate_backend(%s, 10000)", [each])
    assert store.write(note) == "iad-1"
    assert names(store) == ["iad-1"]
    assert before.isdisjoint({pid(store), reading_pid(store)})


def test_a_connection_that_ends_in_the_middle_refuses_all_that_shared_its_transaction(store: Store) -> None:
    held, go = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        held.set()
        assert go.wait(10)

    def lose(tx: Tx) -> None:
        tx.connection.execute(KILL_ME)

    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(store.write, slow)
        assert held.wait(10)
        jobs = [threads.submit(store.write, run) for run in (note, lose, note)]
        while store.queued_count < 3:
            pass
        go.set()
        first.result()
        errors = [each.exception() for each in jobs]
    assert {type(each) for each in errors} == {StoreUnavailableError}
    assert names(store) == []
    assert store.write(lambda tx: note(tx, "after")) == "after"
    assert (names(store), revs(store)) == (["after"], [1])


def test_a_connection_that_ends_in_a_commit_leaves_the_outcome_unknown(store: Store, other: psycopg.Connection) -> None:
    other.execute(
        """
        CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.object_name = 'lost') EXECUTE FUNCTION lose();
        """
    )
    try:
        with pytest.raises(OutcomeUnknownError, match="in the middle of a commit"):
            store.write(lambda tx: note(tx, "lost"))
    finally:
        other.execute("DROP FUNCTION lose CASCADE")
    assert store.write(lambda tx: note(tx, "after")) == "after"
    assert names(store) == ["after"]


def test_a_connection_that_answers_reads_but_refuses_writes_is_dropped_at_once(store: Store) -> None:
    before = {pid(store), reading_pid(store)}
    store.write(lambda tx: tx.connection.execute(text("SET SESSION default_transaction_read_only = on")))
    with pytest.raises(StoreUnavailableError, match="read-only"):
        store.write(note)
    assert store.write(note) == "iad-1"
    assert names(store) == ["iad-1"]
    assert before.isdisjoint({pid(store), reading_pid(store)})


def test_a_server_that_takes_no_writes_is_not_talked_to(postgres: Databases, other: psycopg.Connection) -> None:
    url = postgres.create()
    store = Store.open(url)
    other.execute(f"ALTER DATABASE {url.database} SET default_transaction_read_only = on")
    other.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", [url.database])
    with pytest.raises(StoreUnavailableError, match="no connection that takes writes"):
        store.write(note)
    with pytest.raises(StoreUnavailableError, match="no connection that takes writes"):
        names(store)
    other.execute(f"ALTER DATABASE {url.database} RESET default_transaction_read_only")
    assert store.write(note) == "iad-1"
    assert names(store) == ["iad-1"]
    store.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"database": "nowhere"}, 'database "nowhere" does not exist'),
        ({"username": "nobody_here"}, 'role "nobody_here" does not exist'),
        ({"query": {"host": "/nowhere"}}, "No such file or directory"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_what_the_server_says(
    url: URL, change: dict[str, object], words: str
) -> None:
    database: Database = url.set(**change)  # type: ignore[arg-type]
    with pytest.raises(StoreUnavailableError, match="no connection that takes writes") as caught:
        Store.open(database)
    assert words in str(caught.value.__cause__)


# --- what is set ------------------------------------------------------------------------------------------------------


def test_what_is_acknowledged_is_on_the_servers_disk_whatever_its_default(
    store: Store, other: psycopg.Connection
) -> None:
    assert other.execute("SHOW synchronous_commit").fetchone() == ("off",)
    assert says(store, "synchronous_commit") == "on"
    assert (says(store, "lock_timeout"), says(store, "statement_timeout")) == ("5s", "20s")
    assert says(store, "idle_in_transaction_session_timeout") == "5s"


def test_the_url_has_the_last_word(url: URL) -> None:
    store = Store.open(make_url(str(url)).update_query_dict({"application_name": "ours"}))
    assert says(store, "application_name") == "ours"
    store.close()


def test_every_key_sorts_by_its_bytes(other: psycopg.Connection) -> None:
    query = "SELECT table_name, column_name FROM information_schema.columns WHERE collation_name = 'C'"
    found = set(other.execute(query).fetchall())
    keys = {(table.name, column.name) for table in metadata.tables.values() for column in table.c if column.type is Key}
    assert keys <= found
    assert ("operations", "id") in found

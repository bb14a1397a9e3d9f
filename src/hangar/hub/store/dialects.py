"""All that differs between the databases: how they are opened, how they insert, what they tell, how they say no."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from sqlalchemy import URL, Connection, Dialect, Engine, Insert, Table, create_engine, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, DisconnectionError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, StaticPool
from sqlalchemy.sql.dml import ReturningInsert

from hangar.domain.limits import (
    STORE_BUSY_TIMEOUT_S,
    STORE_CONNECT_TIMEOUT_S,
    STORE_IDLE_TIMEOUT_S,
    STORE_STATEMENT_TIMEOUT_S,
)
from hangar.hub.store.tables import IS_OPEN

Database: TypeAlias = Path | URL
"""SQLite's file, or the URL of a database on a PostgreSQL server."""

POSTGRESQL = "postgresql"

UNAVAILABLE_SQLITE = {
    sqlite3.SQLITE_BUSY: "the database is locked by another process",
    sqlite3.SQLITE_LOCKED: "the database is locked",
    sqlite3.SQLITE_READONLY: "the database is read-only",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_NOMEM: "there is no memory left",
    sqlite3.SQLITE_CORRUPT: "the database file is damaged",
    sqlite3.SQLITE_NOTADB: "the file is no database",
    sqlite3.SQLITE_PERM: "access to the database file is denied",
    sqlite3.SQLITE_PROTOCOL: "the database file is in use",
}

UNREACHABLE = "the database server gives the hub no connection that takes writes"

UNAVAILABLE_POSTGRESQL = {
    "08": "the connection to the database server was lost",
    "25006": "the database is read-only",
    "25P03": "the database server ended a transaction that stood still",
    "28": "the database server refuses the hub's login",
    "3D": "there is no such database on the server",
    "40": "other writers kept getting in the way",
    "42501": "the database server denies the hub what it needs",
    "53100": "the database server's disk is full",
    "53200": "the database server has no memory left",
    "53300": "the database server takes no more connections",
    "53": "the database server is out of resources",
    "55P03": "the database is locked by another writer",
    "57014": "the database server took too long",
    "57P": "the database server is stopping or starting",
    "58": "the database server's disk failed",
    "XX": "the database server found its data damaged, or itself",
}
"""By SQLSTATE, or by how it begins."""

TO_RUN_ANEW = frozenset({"40001", "40P01"})
"""Serialization failures and deadlocks: nothing is wrong, but the whole transaction has to be run again."""

ENDS_CONNECTIONS = ("08", "57P")
"""How the SQLSTATEs begin after which there is no connection any more, though the driver may not have noticed yet."""

WRITERS_LOCK = 0x6861_6E67_6172
"""The advisory lock of those who write: any number would do, as long as all hubs of a database take the same."""

CHANNEL = "hangar_feed"
"""Where hubs on one PostgreSQL database tell each other of what they committed."""

_GATE = text(
    # The lock is in the FROM, so that the time is read once it is held.
    "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) "
    "FROM (SELECT pg_advisory_xact_lock(:lock)) AS gate"
)
_NOW_US = text("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)")
_NOTIFY = text("SELECT pg_notify(:channel, :notice)")
_SESSION = """
    SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false),
        set_config('idle_in_transaction_session_timeout', %s, false),
        set_config('default_transaction_read_only', %s, false),
        set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false)
"""
"""What was acknowledged survives a crash of the server, whatever its administrator prefers."""


# --- opening ----------------------------------------------------------------------------------------------------------


def memory_engine(image: bytes | None = None) -> Engine:
    """Open a database in memory, over one connection that all share; `image` is what `memory_image` returned.

    All of them share one dialect and what was compiled for it: a simulation opens hundreds, and compiling the same
    statements for each would take most of its time.
    """
    dialect, compiled = _memory_dialect()

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        if image is not None:
            connection.deserialize(image)
        return connection

    pool = StaticPool(connect)  # type: ignore[arg-type]  # its protocol and sqlite3's stubs differ in names
    engine = Engine(pool, dialect, make_url("sqlite://"), execution_options={"compiled_cache": compiled})
    _prepare_sqlite(engine, begin="BEGIN")
    return engine


@cache
def _memory_dialect() -> tuple[Dialect, dict[object, object]]:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.connect():
        pass  # the dialect learns about the database from its first connection
    engine.dispose()
    return engine.dialect, {}


def memory_image(engine: Engine) -> bytes:
    """Return all that a database in memory holds."""
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        return driver.serialize()


def writing_engine(database: Database) -> Engine:
    """Open the engine that writes: one connection, for transactions that begin with `begin_writing`."""
    if isinstance(database, URL):
        engine = create_engine(_with_defaults(database), pool_size=1, max_overflow=0)
        _prepare_postgresql(engine, is_read_only=False)
    else:
        engine = create_engine(_sqlite_url(database), poolclass=StaticPool, connect_args=_sqlite_args())
        _prepare_sqlite(engine, begin="BEGIN IMMEDIATE")
    return engine


def reading_engine(database: Database, connections_max: int) -> Engine:
    """Open the engine that reads: no transactions, so that no reader ever holds up the writer."""
    url = _with_defaults(database) if isinstance(database, URL) else _sqlite_url(database)
    arguments = {} if isinstance(database, URL) else _sqlite_args()
    engine = create_engine(
        url, isolation_level="AUTOCOMMIT", pool_size=connections_max, max_overflow=0, connect_args=arguments
    )
    if isinstance(database, URL):
        _prepare_postgresql(engine, is_read_only=True)
    else:
        _prepare_sqlite(engine, begin=None)
    return engine


def _sqlite_url(path: Path) -> URL:
    return URL.create("sqlite", database=str(path))


def _sqlite_args() -> dict[str, object]:
    return {"check_same_thread": False, "timeout": STORE_BUSY_TIMEOUT_S}


def _prepare_sqlite(engine: Engine, begin: str | None) -> None:
    @event.listens_for(engine, "connect")
    def _on_connect(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver's own mode does not enclose savepoints
        if begin is None:
            connection.execute("PRAGMA query_only = ON")
        elif begin == "BEGIN IMMEDIATE":
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")  # what was acknowledged survives a power cut

    if begin is not None:

        @event.listens_for(engine, "begin")
        def _on_begin(connection: Connection) -> None:
            connection.exec_driver_sql(begin)


def _with_defaults(url: URL) -> URL:
    """Return a URL with what its owner left open: a server that went away or read-only is left at once."""
    defaults = {
        "application_name": "hangar-server",
        "connect_timeout": str(round(STORE_CONNECT_TIMEOUT_S)),
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": str(round(STORE_STATEMENT_TIMEOUT_S * 1000)),
        "target_session_attrs": "read-write",
    }
    return url.set(drivername="postgresql+psycopg").update_query_dict(defaults | dict(url.query))


def _prepare_postgresql(engine: Engine, *, is_read_only: bool) -> None:
    seconds = (STORE_BUSY_TIMEOUT_S, STORE_STATEMENT_TIMEOUT_S, STORE_IDLE_TIMEOUT_S)
    settings = [*(str(round(each * 1000)) for each in seconds), "on" if is_read_only else "off"]

    @event.listens_for(engine, "connect")
    def _on_connect(connection: psycopg.Connection[tuple[object, ...]], record: ConnectionPoolEntry) -> None:
        connection.execute(_SESSION, settings)
        connection.commit()
        record.info["generation"] = _generation(engine)

    @event.listens_for(engine, "checkout")
    def _on_checkout(_connection: object, record: ConnectionPoolEntry, _proxy: PoolProxiedConnection) -> None:
        if record.info["generation"] != _generation(engine):
            raise DisconnectionError  # it is opened anew


def _generation(engine: Engine) -> int:
    return int(engine.get_execution_options().get("generation", 0))


def reconnect(engine: Engine) -> None:
    """Let an engine open each connection anew before it is used again: the server may be another one by now."""
    engine.update_execution_options(generation=_generation(engine) + 1)


# --- transactions -----------------------------------------------------------------------------------------------------


def begin_writing(connection: Connection) -> int | None:
    """Wait until no other transaction writes, and return the database's time, where it has one, in microseconds.

    SQLite sees to the first when the transaction begins. On PostgreSQL one lock stands before all writes of all hubs,
    so that a use case never meets another half way, on neither store.
    """
    if connection.dialect.name != POSTGRESQL:
        return None
    return int(connection.execute(_GATE, {"lock": WRITERS_LOCK}).scalar_one())


def begin_migrating(connection: Connection) -> None:
    """Wait like a writer, so that of several hubs that start at once one migrates; it may take as long as it takes."""
    begin_writing(connection)
    if connection.dialect.name == POSTGRESQL:
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")


def database_now_us(connection: Connection) -> int | None:
    """Return the database's time in microseconds since 1970, None where it has no clock of its own."""
    return None if connection.dialect.name != POSTGRESQL else int(connection.execute(_NOW_US).scalar_one())


@contextmanager
def snapshot(connection: Connection) -> Iterator[None]:
    """Let all reads of a connection see the same moment, until the block ends."""
    if connection.dialect.name == POSTGRESQL:
        connection.execution_options(isolation_level="REPEATABLE READ")
        yield  # it ends as the connection is given back
        return
    connection.exec_driver_sql("BEGIN")
    try:
        yield
    finally:
        if is_in_transaction(connection):
            connection.exec_driver_sql("ROLLBACK")


def is_in_transaction(connection: Connection) -> bool:
    """Tell whether the driver still has a transaction: a full disk makes SQLite roll the whole of it back."""
    driver = connection.connection.driver_connection if not connection.invalidated else None
    if isinstance(driver, psycopg.Connection):
        return driver.info.transaction_status in (
            psycopg.pq.TransactionStatus.INTRANS,
            psycopg.pq.TransactionStatus.INERROR,
        )
    return isinstance(driver, sqlite3.Connection) and driver.in_transaction


# --- the mark beside a file -------------------------------------------------------------------------------------------


def is_marked(connection: Connection) -> bool:
    """Tell whether a database file has had a mark beside it: the file itself says so, wherever it is copied."""
    return bool(connection.exec_driver_sql("PRAGMA user_version").scalar_one())


def note_marked(connection: Connection) -> None:
    """Write into a database file that there is a mark beside it."""
    connection.exec_driver_sql("PRAGMA user_version = 1")


# --- what hubs on one server tell each other --------------------------------------------------------------------------


def notify(connection: Connection, notice: str) -> None:
    """Tell the other hubs on the database something, once the transaction is committed."""
    connection.execute(_NOTIFY, {"channel": CHANNEL, "notice": notice})


async def notices(url: URL) -> AsyncIterator[str]:
    """Yield what other hubs on the database tell, as it comes. Raises psycopg.Error when the connection ends."""
    _, parameters = create_engine(_with_defaults(url)).dialect.create_connect_args(_with_defaults(url))
    connection = await psycopg.AsyncConnection.connect(**parameters, autocommit=True)
    async with connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        async for each in connection.notifies():
            yield each.payload


# --- saying no --------------------------------------------------------------------------------------------------------


def why_unavailable(error: SQLAlchemyError) -> str | None:
    """Return why the store cannot serve now, or None where the error is a fault of the statement."""
    if isinstance(error, PoolTimeoutError):
        return "all connections to the database are in use"
    if not isinstance(error, DBAPIError):
        return None
    if isinstance(error.orig, sqlite3.Error):
        code = getattr(error.orig, "sqlite_errorcode", None)
        return None if code is None else UNAVAILABLE_SQLITE.get(code & 0xFF)  # the upper bits only say more
    return why_unreachable(error.orig) if isinstance(error.orig, psycopg.Error) else None


def why_unreachable(error: psycopg.Error) -> str | None:
    """Return why a PostgreSQL server cannot serve now, or None where the error is a fault of the statement."""
    state = error.sqlstate
    if state is None:
        return UNREACHABLE if isinstance(error, psycopg.OperationalError) else None
    known = (UNAVAILABLE_POSTGRESQL.get(state[:length]) for length in (5, 3, 2))
    return next((why for why in known if why is not None), None)


def is_to_run_anew(error: BaseException | None) -> bool:
    """Tell whether the whole transaction would go well if it were run again."""
    return isinstance(error, DBAPIError) and _sqlstate(error) in TO_RUN_ANEW


def is_connection_lost(error: SQLAlchemyError) -> bool:
    """Tell whether it is the connection that has ended, and not what was asked over it."""
    return isinstance(error, DBAPIError) and (
        error.connection_invalidated or _sqlstate(error).startswith(ENDS_CONNECTIONS)
    )


def _sqlstate(error: DBAPIError) -> str:
    return (error.orig.sqlstate or "") if isinstance(error.orig, psycopg.Error) else ""


# --- inserting --------------------------------------------------------------------------------------------------------


@cache
def insert_unless_held(dialect: str, table: Table) -> ReturningInsert[Any]:
    """Return an insert that does nothing, and returns nothing, where an open operation has the same hold."""
    statement = _insert(dialect, table).on_conflict_do_nothing(index_elements=["hold"], index_where=IS_OPEN)
    return statement.returning(*table.primary_key)


@cache
def insert_unless_there(dialect: str, table: Table) -> ReturningInsert[Any]:
    """Return an insert that does nothing, and returns nothing, where the primary key is taken."""
    keys = [column.name for column in table.primary_key]
    return _insert(dialect, table).on_conflict_do_nothing(index_elements=keys).returning(*table.primary_key)


@cache
def insert_or_replace(dialect: str, table: Table, columns: tuple[str, ...]) -> Insert:
    """Return an insert that overwrites the given columns where the primary key is taken."""
    statement = _insert(dialect, table)
    keys = [column.name for column in table.primary_key]
    changed = {name: statement.excluded[name] for name in columns if name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=changed)


def _insert(dialect: str, table: Table) -> sqlite.Insert | postgresql.Insert:
    return postgresql.insert(table) if dialect == POSTGRESQL else sqlite.insert(table)

"""All that differs between the databases: how they are opened, how they insert, how they say no."""

import sqlite3
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, Engine, Insert, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import StaticPool
from sqlalchemy.sql.dml import ReturningInsert

from hangar.domain.limits import STORE_BUSY_TIMEOUT_S
from hangar.hub.store.tables import IS_OPEN

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


def sqlite_url(path: str) -> str:
    """Return the URL of a database file."""
    return f"sqlite:///{path}"


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


def writing_engine(url: str) -> Engine:
    """Open the engine that writes: one connection, and each transaction takes the write lock as it begins."""
    engine = create_engine(url, poolclass=StaticPool, connect_args=_connect_args())
    _prepare_sqlite(engine, begin="BEGIN IMMEDIATE")
    return engine


def reading_engine(url: str, connections_max: int) -> Engine:
    """Open the engine that reads: no transactions, so that no reader ever holds up the writer."""
    engine = create_engine(
        url, isolation_level="AUTOCOMMIT", pool_size=connections_max, max_overflow=0, connect_args=_connect_args()
    )
    _prepare_sqlite(engine, begin=None)
    return engine


def _connect_args() -> dict[str, object]:
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


def is_in_transaction(connection: Connection) -> bool:
    """Tell whether the driver still has a transaction: a full disk makes SQLite roll the whole of it back."""
    driver = connection.connection.driver_connection
    return isinstance(driver, sqlite3.Connection) and driver.in_transaction


def why_unavailable(error: SQLAlchemyError) -> str | None:
    """Return why the store cannot serve now, or None where the error is a fault of the statement."""
    if not isinstance(error, DBAPIError) or not isinstance(error.orig, sqlite3.Error):
        return None
    code = getattr(error.orig, "sqlite_errorcode", None)
    return None if code is None else UNAVAILABLE_SQLITE.get(code & 0xFF)  # the upper bits only say more


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
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)

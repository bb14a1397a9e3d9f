"""Store: the hub's record, which one writer changes and many read."""

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar, cast

import psycopg
from sqlalchemy import URL, Connection, Engine, delete, insert
from sqlalchemy.exc import SQLAlchemyError

from hangar.clock import SystemClock
from hangar.domain.limits import READINESS_PROBE_BYTES, READING_THREADS
from hangar.hub.store import dialects
from hangar.hub.store.dialects import Database
from hangar.hub.store.mark import Mark
from hangar.hub.store.migrate import WrongSchemaError, create_fresh, migrate, migrate_beside
from hangar.hub.store.notices import Notice, read_notice
from hangar.hub.store.records import Position, feed_position
from hangar.hub.store.tables import readiness
from hangar.hub.store.tx import Committed, Tx
from hangar.hub.store.writer import UNAVAILABLE, Committing, Job, OnBegin, StoreUnavailableError, Writer, commit_jobs

T = TypeVar("T")
OnCommit = Callable[[Committed], None]


class Store:
    """The store of record. A use case runs as `store.write(lambda tx: ...)` or `store.read(lambda connection: ...)`.

    All calls raise StoreUnavailableError when the database cannot serve; then nothing was written, unless it is an
    OutcomeUnknownError.
    """

    def __init__(self, writing: Engine, reading: Engine, *, has_threads: bool, mark: Mark | None = None) -> None:
        self._writing = writing
        self._reading = reading
        self._mark = mark
        self._is_marked = False
        self._listeners: list[OnCommit] = []
        self._time_listeners: list[OnBegin] = []
        self._name = secrets.token_hex(8)
        # The clock is for how long writes take; what is written gets its instants from use cases.
        self._committing = Committing(self._name, self._begins, SystemClock())
        self._writer = Writer(writing, self._committing, self._committed) if has_threads else None
        self._readers = ThreadPoolExecutor(READING_THREADS, "store-reader") if has_threads else None
        self.is_remote = writing.dialect.name == dialects.POSTGRESQL

    @classmethod
    def open(cls, database: Database, *, has_threads: bool = True) -> "Store":
        """Open a database, bring its tables up to date, and start the writer's thread. Raises WrongSchemaError."""
        return cls._open(database, migrate, has_threads=has_threads)

    @classmethod
    def open_beside(cls, database: Database) -> "Store":
        """Open a database on which hubs may be running, whose tables are left as they are. Raises WrongSchemaError."""
        return cls._open(database, migrate_beside, has_threads=True)

    @classmethod
    def _open(cls, database: Database, prepare: Callable[[Engine], None], *, has_threads: bool) -> "Store":
        writing = dialects.writing_engine(database)
        try:
            prepare(writing)
        except WrongSchemaError:
            writing.dispose()
            raise
        except SQLAlchemyError as error:
            writing.dispose()
            raise _unavailable(error) from error
        reading = dialects.reading_engine(database, connections_max=READING_THREADS + 2)
        mark = None if isinstance(database, URL) else Mark(database)
        return cls(writing, reading, has_threads=has_threads, mark=mark)

    @classmethod
    def in_memory(cls) -> "Store":
        """Open an empty store without threads: each call runs at once where it is made. For tests and simulation."""
        engine = dialects.memory_engine(_fresh_image())
        return cls(engine, engine, has_threads=False)

    def on_commit(self, listener: OnCommit) -> None:
        """Call `listener` after each commit, in the writer's thread, with what it brought about."""
        self._listeners.append(listener)

    def on_time(self, listener: OnBegin) -> None:
        """Call `listener` with the database's time as each transaction begins, where the database has a clock."""
        self._time_listeners.append(listener)

    def write(self, run: Callable[[Tx], T]) -> T:
        """Run a transaction and return its result once it is on disk. Not for the event loop: it blocks."""
        return cast("T", self._enqueue(run).future.result())

    async def write_async(self, run: Callable[[Tx], T]) -> T:
        """Run a transaction and return its result once it is on disk."""
        return cast("T", await asyncio.wrap_future(self._enqueue(run).future))

    def read(self, run: Callable[[Connection], T]) -> T:
        """Read in the calling thread."""
        try:
            with self._reading.connect() as connection:
                return run(connection)
        except SQLAlchemyError as error:
            if not dialects.is_connection_lost(error):
                raise _unavailable(error) from error
        # A connection that ended while it was idle says nothing of the server.
        dialects.reconnect(self._reading)
        try:
            with self._reading.connect() as connection:
                return run(connection)
        except SQLAlchemyError as error:
            raise _unavailable(error) from error

    async def read_point(self, run: Callable[[Connection], T]) -> T:
        """Read a row or few: of a file at once, which is quicker than the way to a thread; of a server in a thread."""
        if self.is_remote:
            return await self._in_thread(lambda: self.read(run))
        return self.read(run)

    async def read_async(self, run: Callable[[Connection], T]) -> T:
        """Read a list: in a thread, since it would hold up the event loop, and all of it as of one moment."""
        if self._readers is None:
            return self.read(run)

        def read(connection: Connection) -> T:
            with dialects.snapshot(connection):
                return run(connection)

        return await self._in_thread(lambda: self.read(read))

    async def _in_thread(self, run: Callable[[], T]) -> T:
        if self._readers is None:
            return run()
        return await asyncio.get_running_loop().run_in_executor(self._readers, run)

    async def check_writable(self) -> None:
        """Write something and take it back. Raises StoreUnavailableError when the store does not take writes."""
        await self.write_async(_probe)

    def position(self) -> Position:
        """Return where the feed is now."""
        return self.read(feed_position)

    def why_restored(self) -> str | None:
        """Return how one sees that the database is an earlier state of itself, None where one does not.

        Only a file has a mark beside it. What is on a server may have been restored unseen.
        """
        now = self.position()
        if self._mark is None or now.rev == 0:
            return None
        noted = self._mark.read()
        if noted is None and self.read(dialects.is_marked):
            return f"{self._mark.path}, which stood beside the database, is missing or cannot be read"
        if noted is not None and noted.rev > now.rev:
            return f"the database is at revision {now.rev}, and {self._mark.path} knows revision {noted.rev}"
        return None

    async def remember(self, position: Position) -> None:
        """Note beside a file how far it has come, so that an earlier state of it is noticed. Raises OSError."""
        if self._mark is None or position.rev == 0:
            return
        if not self._is_marked:
            await self.write_async(lambda tx: dialects.note_marked(tx.connection))
            self._is_marked = True
        await asyncio.to_thread(self._mark.write, position)

    def now_us(self) -> int | None:
        """Return the database's time in microseconds since 1970, None where it has no clock of its own."""
        return self.read(dialects.database_now_us)

    async def listen(self, heard: Callable[[Notice], None]) -> None:
        """Call `heard` with each notice of other hubs on the database, until the connection ends.

        Notices are hints: some may be lost, and there are none where the store is a file.
        """
        url = self._writing.url
        try:
            async for text in dialects.notices(url):
                notice = read_notice(text)
                if notice.writer != self._name:
                    heard(notice)
        except psycopg.Error as error:
            raise StoreUnavailableError(dialects.why_unreachable(error) or str(error)) from error

    @property
    def queued_count(self) -> int:
        """Return how many writes wait for the writer now."""
        return 0 if self._writer is None else self._writer.queued_count

    def close(self) -> None:
        """Finish what is queued and close the database."""
        if self._writer is not None:
            self._writer.close()
        if self._readers is not None:
            self._readers.shutdown()
        self._reading.dispose()
        self._writing.dispose()

    def _enqueue(self, run: Callable[[Tx], T]) -> Job:
        job = Job(run)
        if self._writer is not None:
            self._writer.enqueue(job)
        else:
            self._committed(commit_jobs(self._writing, [job], self._committing))
        return job

    def _begins(self, now_us: int) -> None:
        for listener in self._time_listeners:
            listener(now_us)

    def _committed(self, committed: Committed) -> None:
        if committed.outcomes[UNAVAILABLE]:
            # A server that answers reads but refuses writes is no longer the one to talk to.
            dialects.reconnect(self._writing)
            dialects.reconnect(self._reading)
        for listener in self._listeners:
            listener(committed)


@cache
def _fresh_image() -> bytes:
    engine = dialects.memory_engine()
    create_fresh(engine)
    image = dialects.memory_image(engine)
    engine.dispose()
    return image


def _probe(tx: Tx) -> None:
    # Several pages, so that a full disk shows: a small update would find room in a page that is there already.
    tx.connection.execute(delete(readiness))
    tx.connection.execute(insert(readiness).values(id=1, filler="." * READINESS_PROBE_BYTES))
    tx.connection.execute(delete(readiness))


def _unavailable(error: SQLAlchemyError) -> Exception:
    why = dialects.why_unavailable(error)
    return error if why is None else StoreUnavailableError(why)

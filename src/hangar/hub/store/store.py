"""Store: the hub's record, which one writer changes and many read."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from sqlalchemy import Connection, Engine, delete, insert
from sqlalchemy.exc import SQLAlchemyError

from hangar.clock import SystemClock
from hangar.domain.limits import READINESS_PROBE_BYTES, READING_THREADS
from hangar.hub.store.dialects import (
    memory_engine,
    memory_image,
    reading_engine,
    sqlite_url,
    why_unavailable,
    writing_engine,
)
from hangar.hub.store.migrate import check_is_current, create_fresh, migrate
from hangar.hub.store.tables import readiness
from hangar.hub.store.tx import Committed, Tx
from hangar.hub.store.writer import Job, StoreUnavailableError, Writer, commit_jobs

T = TypeVar("T")
OnCommit = Callable[[Committed], None]


class Store:
    """The store of record. A use case runs as `store.write(lambda tx: ...)` or `store.read(lambda connection: ...)`.

    All calls raise StoreUnavailableError when the database cannot serve; then nothing was written.
    """

    def __init__(self, writing: Engine, reading: Engine, *, has_threads: bool) -> None:
        self._writing = writing
        self._reading = reading
        self._listeners: list[OnCommit] = []
        self._clock = SystemClock()  # for how long writes take; what is written gets its instants from use cases
        self._writer = Writer(writing, self._committed, self._clock) if has_threads else None
        self._readers = ThreadPoolExecutor(READING_THREADS, "store-reader") if has_threads else None

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open a database file, bring its tables up to date, and start the writer's thread."""
        url = sqlite_url(str(path))
        writing = writing_engine(url)
        try:
            migrate(writing)
        except SQLAlchemyError as error:
            raise _unavailable(error) from error
        return cls(writing, reading_engine(url, connections_max=READING_THREADS + 2), has_threads=True)

    @classmethod
    def open_beside(cls, path: Path) -> "Store":
        """Open a database file that a running hub has migrated and holds. Raises WrongSchemaError."""
        url = sqlite_url(str(path))
        writing = writing_engine(url)
        check_is_current(writing)
        return cls(writing, reading_engine(url, connections_max=READING_THREADS + 2), has_threads=True)

    @classmethod
    def in_memory(cls) -> "Store":
        """Open an empty store without threads: each call runs at once where it is made. For tests and simulation."""
        engine = memory_engine(_fresh_image())
        return cls(engine, engine, has_threads=False)

    def on_commit(self, listener: OnCommit) -> None:
        """Call `listener` after each commit, in the writer's thread, with what it brought about."""
        self._listeners.append(listener)

    def write(self, run: Callable[[Tx], T]) -> T:
        """Run a transaction and return its result once it is on disk. Not for the event loop: it blocks."""
        return cast("T", self._enqueue(run).future.result())

    async def write_async(self, run: Callable[[Tx], T]) -> T:
        """Run a transaction and return its result once it is on disk."""
        return cast("T", await asyncio.wrap_future(self._enqueue(run).future))

    def read(self, run: Callable[[Connection], T]) -> T:
        """Read in the calling thread: for point reads, which are quicker than the way to another thread."""
        try:
            with self._reading.connect() as connection:
                return run(connection)
        except SQLAlchemyError as error:
            raise _unavailable(error) from error

    async def read_async(self, run: Callable[[Connection], T]) -> T:
        """Read in a thread: for lists, which would hold up the event loop."""
        if self._readers is None:
            return self.read(run)
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read, run)

    async def check_writable(self) -> None:
        """Write something and take it back. Raises StoreUnavailableError when the store does not take writes."""
        await self.write_async(_probe)

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
            self._committed(commit_jobs(self._writing, [job], self._clock))
        return job

    def _committed(self, committed: Committed) -> None:
        for listener in self._listeners:
            listener(committed)


@cache
def _fresh_image() -> bytes:
    engine = memory_engine()
    create_fresh(engine)
    image = memory_image(engine)
    engine.dispose()
    return image


def _probe(tx: Tx) -> None:
    # Several pages, so that a full disk shows: a small update would find room in a page that is there already.
    tx.connection.execute(delete(readiness))
    tx.connection.execute(insert(readiness).values(id=1, filler="." * READINESS_PROBE_BYTES))
    tx.connection.execute(delete(readiness))


def _unavailable(error: SQLAlchemyError) -> Exception:
    why = why_unavailable(error)
    return error if why is None else StoreUnavailableError(why)

"""The writer: one thread that commits what the whole hub writes, several jobs a commit."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from hangar.clock import Clock
from hangar.domain.limits import COMMIT_TRIES_MAX, WRITES_IN_A_COMMIT_MAX, WRITES_QUEUED_MAX
from hangar.hub.store import dialects
from hangar.hub.store.notices import notice_of
from hangar.hub.store.tx import Committed, Tx
from hangar.telemetry.logs import current_request

UNAVAILABLE = "unavailable"
"""The outcome of a write for which the database could not serve."""

OnBegin = Callable[[int], object]
"""Called as a transaction begins, with the database's time in microseconds, where the database has a clock."""


class StoreUnavailableError(Exception):
    """The store cannot take or answer this now; nothing of it was written. The message says why."""


class OutcomeUnknownError(StoreUnavailableError):
    """The connection was lost in the middle of a commit, so that it may have been written after all."""


class Job:
    """One transaction that waits to be run: what to do, and who waits for its outcome.

    `run` may be called more than once: where other writers got in the way, all that it did was taken back before.
    """

    def __init__(self, run: Callable[[Tx], object]) -> None:
        self.run = run
        self.request = current_request()
        self.future: Future[object] = Future()
        self.result: object = None
        self.error: BaseException | None = None
        self.committed = Committed()

    def settle(self) -> None:
        """Tell whoever waits."""
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


@dataclass(frozen=True, slots=True)
class Committing:
    """What commits need of their hub: its name among those on the database, whom to tell the time, and its clock."""

    name: str
    on_begin: OnBegin
    clock: Clock


class _AgainError(Exception):
    """Nothing was committed, and nothing is wrong: the transaction is to be run again."""


class _ApartError(Exception):
    """Nothing was committed, since one of several jobs failed: the others are to be kept apart from it."""


def commit_jobs(engine: Engine, jobs: list[Job], by: Committing) -> Committed:
    """Run jobs in one transaction and settle them.

    A job that fails takes only itself back: they are then run again, each in a savepoint of its own. When the database
    can no longer write, all jobs are refused: a full disk rolls the whole transaction back under our feet, and what ran
    after it would be committed on its own.
    """
    wanted = [job for job in jobs if job.future.set_running_or_notify_cancel()]  # of the others nobody waits any more
    began_s = by.clock.monotonic_s()
    refusal = _commit(engine, wanted, by)
    committed = Committed(took_s=by.clock.monotonic_s() - began_s)
    for job in wanted:
        job.error = refusal or _as_told(job.error)
        committed.outcomes[_outcome(job.error)] += 1
        if job.error is None:
            committed.add(job.committed, job.request)
        job.settle()
    return committed


def _outcome(error: BaseException | None) -> str:
    if error is None:
        return "committed"
    return UNAVAILABLE if isinstance(error, StoreUnavailableError) else "refused"


def _commit(engine: Engine, jobs: list[Job], by: Committing) -> StoreUnavailableError | None:
    """Run jobs and commit them; return why nothing was written, if so.

    Savepoints are a fifth of what a job costs on a server, and most jobs do not fail: so they come with the first that
    does.
    """
    is_apart = False
    for left in reversed(range(COMMIT_TRIES_MAX)):
        try:
            try:
                return _try_to_commit(engine, jobs, by, is_apart=is_apart)
            except _ApartError:
                is_apart = True
                return _try_to_commit(engine, jobs, by, is_apart=True)
        except _AgainError as again:
            if not left:
                return _refusal(again.__cause__)
    raise AssertionError("it is tried once at least")


def _try_to_commit(engine: Engine, jobs: list[Job], by: Committing, *, is_apart: bool) -> StoreUnavailableError | None:
    has_begun, is_committing = False, False
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            now_us = dialects.begin_writing(connection)
            has_begun = True
            if now_us is not None:
                by.on_begin(now_us)
            for job in jobs:
                _run(connection, job, now_us, has_savepoint=is_apart)
                if dialects.is_to_run_anew(job.error):
                    raise _AgainError from job.error
                if not dialects.is_in_transaction(connection):
                    transaction.rollback()
                    return _refusal(job.error)
                if job.error is not None and len(jobs) > 1 and not is_apart:
                    raise _ApartError
            if len(jobs) == 1 and jobs[0].error is not None:
                transaction.rollback()
                return None
            _tell_others(connection, jobs, by.name)
            is_committing = True
    except SQLAlchemyError as error:
        is_lost = dialects.is_connection_lost(error)
        if is_lost and not has_begun:
            dialects.reconnect(engine)  # a connection that ended while it was idle says nothing of the server
            raise _AgainError from error
        if dialects.is_to_run_anew(error):
            raise _AgainError from error
        return _unknown(error) if is_lost and is_committing else _refusal(error)
    return None


def _run(connection: Connection, job: Job, now_us: int | None, *, has_savepoint: bool) -> None:
    """Run one job; when it fails in a savepoint, all that it did is taken back, else it is the caller who does so."""
    tx = Tx(connection, now_us)
    job.result, job.error = None, None
    if has_savepoint:  # as it is: a savepoint of SQLAlchemy's is compiled anew each time
        connection.exec_driver_sql("SAVEPOINT job")
    try:
        job.result = job.run(tx)
        tx.stamp()
        if has_savepoint:
            connection.exec_driver_sql("RELEASE SAVEPOINT job")
    except Exception as error:  # the writer's loop outlives whatever a job does; the job's caller is told
        job.error = error
        if has_savepoint and dialects.is_in_transaction(connection):
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT job")
    job.committed = tx.committed


def _tell_others(connection: Connection, jobs: list[Job], name: str) -> None:
    done = [job.committed for job in jobs if job.error is None and job.committed.last_rev]
    if done and connection.dialect.name == dialects.POSTGRESQL:
        dialects.notify(connection, notice_of(name, set[str]().union(*(each.woken for each in done))))


def _as_told(error: BaseException | None) -> BaseException | None:
    if isinstance(error, SQLAlchemyError) and dialects.why_unavailable(error) is not None:
        return _refusal(error)
    return error


def _refusal(error: BaseException | None) -> StoreUnavailableError:
    if isinstance(error, StoreUnavailableError):
        return error
    why = dialects.why_unavailable(error) if isinstance(error, SQLAlchemyError) else None
    refusal = StoreUnavailableError(why or "the database ended the transaction")
    refusal.__cause__ = error
    return refusal


def _unknown(error: SQLAlchemyError) -> OutcomeUnknownError:
    unknown = OutcomeUnknownError(f"{dialects.why_unavailable(error)}, in the middle of a commit")
    unknown.__cause__ = error
    return unknown


class Writer:
    """The one thread that writes. `on_commit` is called in it with what each commit brought about."""

    def __init__(self, engine: Engine, by: Committing, on_commit: Callable[[Committed], None]) -> None:
        self._engine = engine
        self._by = by
        self._on_commit = on_commit
        self._queue: queue.Queue[Job | None] = queue.Queue(WRITES_QUEUED_MAX)
        self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)
        self._thread.start()

    def enqueue(self, job: Job) -> None:
        """Add a job to the queue; refused at once when it is full."""
        try:
            self._queue.put_nowait(job)
        except queue.Full:
            job.error = StoreUnavailableError(f"{WRITES_QUEUED_MAX} writes are waiting already")
            job.settle()

    @property
    def queued_count(self) -> int:
        """Return how many jobs wait."""
        return self._queue.qsize()

    def close(self) -> None:
        """Finish what is queued and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _loop(self) -> None:
        while True:
            jobs, is_last = self._next_jobs()
            if jobs:
                self._on_commit(commit_jobs(self._engine, jobs, self._by))
            if is_last:
                return

    def _next_jobs(self) -> tuple[list[Job], bool]:
        jobs: list[Job] = []
        job = self._queue.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) == WRITES_IN_A_COMMIT_MAX:
                return jobs, False
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                return jobs, False
        return jobs, True

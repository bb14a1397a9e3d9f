"""The writer: one thread that commits what the whole hub writes, several jobs a commit."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from hangar.clock import Clock
from hangar.domain.limits import WRITES_IN_A_COMMIT_MAX, WRITES_QUEUED_MAX
from hangar.hub.store.dialects import is_in_transaction, why_unavailable
from hangar.hub.store.tx import Committed, Tx
from hangar.telemetry.logs import current_request


class StoreUnavailableError(Exception):
    """The store cannot take or answer this now; nothing of it was written. The message says why."""


class Job:
    """One transaction that waits to be run: what to do, and who waits for its outcome."""

    def __init__(self, run: Callable[[Tx], object]) -> None:
        self.run = run
        self.request = current_request()
        self.future: Future[object] = Future()
        self.result: object = None
        self.error: BaseException | None = None
        self.committed = Committed()

    def settle(self, refusal: StoreUnavailableError | None = None) -> None:
        """Tell whoever waits; a refusal goes before what the job itself came to."""
        error = refusal or self.error
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(self.result)


def commit_jobs(engine: Engine, jobs: list[Job], clock: Clock) -> Committed:
    """Run jobs in one transaction, each in a savepoint of its own, and settle them. Returns what was committed.

    A job that fails takes only itself back. When the database can no longer write, all jobs are refused: a full
    disk rolls the whole transaction back under our feet, and what ran after it would be committed on its own.
    """
    committed = Committed()
    refusal: StoreUnavailableError | None = None
    began_s = clock.monotonic_s()
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            for job in jobs:
                if not job.future.set_running_or_notify_cancel():
                    continue  # whoever asked has gone before it began
                _run(connection, job)
                if not is_in_transaction(connection):
                    refusal = _refusal(job.error)
                    break
            if refusal is not None:
                transaction.rollback()
    except SQLAlchemyError as error:
        refusal = _refusal(error)
    committed.took_s = clock.monotonic_s() - began_s
    for job in jobs:
        if refusal is None and job.error is None:
            committed.woken |= job.committed.woken
            committed.events += job.committed.events
            if job.request is not None:
                committed.requests |= dict.fromkeys((each["rev"] for each in job.committed.events), job.request)
        if not job.future.cancelled():
            committed.outcomes[_outcome(job, refusal)] += 1
            job.settle(refusal)
    return committed


def _run(connection: Connection, job: Job) -> None:
    tx = Tx(connection)
    connection.exec_driver_sql("SAVEPOINT job")  # as it is: a savepoint of SQLAlchemy's is compiled anew each time
    try:
        job.result = job.run(tx)
        tx.stamp()
        connection.exec_driver_sql("RELEASE SAVEPOINT job")
    except Exception as error:  # the writer's loop outlives whatever a job does; the job's caller is told
        job.error = _as_told(error)
        if is_in_transaction(connection):
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT job")
    job.committed = tx.committed


def _outcome(job: Job, refusal: StoreUnavailableError | None) -> str:
    error = refusal or job.error
    if error is None:
        return "committed"
    return "unavailable" if isinstance(error, StoreUnavailableError) else "refused"


def _as_told(error: Exception) -> Exception:
    if isinstance(error, SQLAlchemyError) and why_unavailable(error) is not None:
        return _refusal(error)
    return error


def _refusal(error: BaseException | None) -> StoreUnavailableError:
    if isinstance(error, StoreUnavailableError):
        return error
    why = why_unavailable(error) if isinstance(error, SQLAlchemyError) else None
    refusal = StoreUnavailableError(why or "the database ended the transaction")
    refusal.__cause__ = error
    return refusal


class Writer:
    """The one thread that writes. `on_commit` is called in it with what each commit brought about."""

    def __init__(self, engine: Engine, on_commit: Callable[[Committed], None], clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._on_commit = on_commit
        self._queue: queue.Queue[Job | None] = queue.Queue(WRITES_QUEUED_MAX)
        self._thread = threading.Thread(target=self._loop, name="store-writer", daemon=True)
        self._thread.start()

    def enqueue(self, job: Job) -> None:
        """Add a job to the queue; refused at once when it is full."""
        try:
            self._queue.put_nowait(job)
        except queue.Full:
            job.settle(StoreUnavailableError(f"{WRITES_QUEUED_MAX} writes are waiting already"))

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
                self._on_commit(commit_jobs(self._engine, jobs, self._clock))
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

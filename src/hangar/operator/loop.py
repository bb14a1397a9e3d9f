"""The operator's loop: keeps a session with the hub, and turns what it hears and sees into reports and steps.

Four tasks share one conductor in one thread: sync (hears the hub), turns (decides when something changed), reports
(sends until acknowledged), and the teller's (nodes and graphs). A step is a task of its own, so that a hung eviction
stalls nobody.
"""

import asyncio
from contextlib import suppress
from datetime import datetime
from functools import partial

import msgspec
import structlog

from hangar.clock import Clock
from hangar.domain.decision import Accepted, Answer, Apply, Create, Remove, Scale, Step, Unknown
from hangar.domain.ids import OperationId
from hangar.domain.limits import EVICTION_TIMEOUT_S, RETRY_FIRST_S, RETRY_MAX_S
from hangar.operator.channel import Channel, HubError
from hangar.operator.cluster.port import Cluster
from hangar.operator.conductor import Conductor
from hangar.operator.metrics import OperatorMetrics, Vitals
from hangar.operator.session import Session, SessionLostError, raise_if_lost
from hangar.operator.teller import Teller
from hangar.wire.operator import (
    ReleaseRequest,
    ReportRequest,
    SessionRequest,
    SyncRequest,
)

log = structlog.get_logger(__name__)


class Operator:
    """One cluster's operator."""

    def __init__(
        self,
        cluster: Cluster,
        channel: Channel,
        conductor: Conductor,
        request: SessionRequest,
        clock: Clock,
        metrics: OperatorMetrics | None = None,
    ) -> None:
        self._cluster = cluster
        self._channel = channel
        self._conductor = conductor
        self._request = request
        self._clock = clock
        self._metrics = metrics or OperatorMetrics()
        self._turned_at_s = clock.monotonic_s()
        self._session: Session | None = None
        self._turn_wanted = asyncio.Event()
        self._report_wanted = asyncio.Event()
        self._teller = Teller(cluster, channel, clock)
        self._steps: set[asyncio.Task[None]] = set()
        self._told: set[OperationId] = set()

    async def run(self) -> None:
        """Serve until cancelled; then let what is in flight be answered, and give the session back."""
        changed = asyncio.Event()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._cluster.run(changed))
                tasks.create_task(self._wake_on(changed))
                tasks.create_task(self._sessions())
        finally:
            await self._leave()

    def vitals(self) -> Vitals:
        """Return how this operator is now."""
        session, now_s = self._session, self._clock.monotonic_s()
        return Vitals(
            silent_s=None if session is None else now_s - session.confirmed_at_s,
            standing_s=now_s - self._turned_at_s if session is not None and self._turn_wanted.is_set() else 0.0,
            operations=len(self._conductor.operations),
            steps=len(self._steps),
        )

    async def _wake_on(self, changed: asyncio.Event) -> None:
        while True:
            await changed.wait()
            changed.clear()
            self._turn_wanted.set()
            self._teller.wake()

    # --- the session --------------------------------------------------------------------------------------------------

    async def _sessions(self) -> None:
        this = asyncio.current_task()
        assert this is not None
        while True:
            self._session = session = await self._open_session()
            self._turned_at_s = self._clock.monotonic_s()
            self._conductor.begin_session()
            self._teller.begin_session()
            # A task of its own, since in Python 3.11 a group that is about to end swallows a cancel of its task.
            why = await asyncio.create_task(self._serve(session))
            self._session = None
            if this.cancelling():
                raise asyncio.CancelledError
            log.warning("session lost", why=why)

    async def _serve(self, session: Session) -> str:
        """Serve until the session is lost; return why."""
        why = ""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._syncs(session))
                tasks.create_task(self._turns())
                tasks.create_task(self._reports(session))
                tasks.create_task(self._teller.run(session))
        except* SessionLostError as lost:
            why = str(lost.exceptions[0])
        return why

    async def _open_session(self) -> Session:
        pause_s = RETRY_FIRST_S
        told = ""
        while True:
            sent_at_s = self._clock.monotonic_s()
            try:
                held = list(self._conductor.operations)
                grant = await self._channel.open_session(msgspec.structs.replace(self._request, held=held))
            except HubError as error:
                if (error.code or str(error)) != told:  # a standby's message differs each time it asks
                    told = error.code or str(error)
                    event = "standby" if error.code == "standby" else "no session"
                    log.warning(event, why=str(error), request=error.request)
                await asyncio.sleep(error.retry_after_s or pause_s)
                pause_s = min(pause_s * 2, RETRY_MAX_S)
            else:
                log.info("session granted", epoch=grant.epoch)
                return Session(grant, sent_at_s)

    def _why_powerless(self) -> str | None:
        """Return why this operator may not act for the cluster now, or None: the part of the gate that is the lease."""
        session = self._session
        if session is None:
            return "the operator holds no session"
        silent_s = self._clock.monotonic_s() - session.confirmed_at_s
        if silent_s >= session.grant.stop_after_s:
            return f"no word from the hub for {silent_s:.0f} s"
        return None

    async def _leave(self) -> None:
        session, self._session = self._session, None
        if self._steps:
            await asyncio.wait(self._steps, timeout=EVICTION_TIMEOUT_S)
        if session is not None:
            with suppress(HubError):
                await self._channel.release(ReleaseRequest(session=session.grant.session, epoch=session.grant.epoch))

    # --- the four tasks -----------------------------------------------------------------------------------------------

    async def _syncs(self, session: Session) -> None:
        seen = 0
        pause_s = RETRY_FIRST_S
        grant = session.grant
        while True:
            sent_at_s, sent_at = self._clock.monotonic_s(), self._cluster.now()
            request = SyncRequest(session=grant.session, epoch=grant.epoch, seen=seen, wait_s=grant.sync_wait_s)
            try:
                answer = await self._channel.sync(request)
            except HubError as error:
                raise_if_lost(error)
                log.warning("sync failed", why=str(error), request=error.request)
                await asyncio.sleep(error.retry_after_s or pause_s)
                pause_s = min(pause_s * 2, RETRY_MAX_S)
                seen = 0
                continue
            pause_s = RETRY_FIRST_S
            session.confirmed_at_s = sent_at_s
            seen = answer.seen
            self._conductor.heard(answer, sent_at)
            self._turn_wanted.set()
            self._report_wanted.set()

    async def _turns(self) -> None:
        recheck_at: datetime | None = None
        while True:
            timeout_s = None if recheck_at is None else max(0.0, (recheck_at - self._cluster.now()).total_seconds())
            # Not wait_for: in Python 3.11 it can swallow a cancel that comes together with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._turn_wanted.wait()
            self._turn_wanted.clear()
            self._turned_at_s = began_s = self._clock.monotonic_s()
            snapshot = self._cluster.snapshot()
            if snapshot is None:
                self._conductor.questions.refuse("it has not read the cluster yet")
                self._report_wanted.set()
                continue
            try:
                turned = self._conductor.turn(snapshot, self._cluster.now())
                recheck_at = turned.recheck_at
                self._start(turned.steps)
                self._conductor.foresee(self._cluster.now())
            except Exception:
                # A fault in deciding one operation must not end the operator, and with it all others.
                log.exception("a turn failed", operations=self._conductor.operations)
                self._metrics.turn_failed()
                await asyncio.sleep(RETRY_MAX_S)
                self._turn_wanted.set()
                continue
            self._metrics.turned(self._clock.monotonic_s() - began_s)
            self._teller.hear(self._conductor.news)
            self._tell_ends()
            self._report_wanted.set()

    async def _reports(self, session: Session) -> None:
        pause_s = RETRY_FIRST_S
        grant = session.grant
        while True:
            await self._report_wanted.wait()
            self._report_wanted.clear()
            reports, answers = self._conductor.outbox(), self._conductor.questions.outbox()
            if not reports and not answers:
                continue
            if any(report.result is not None for report in reports):
                # Who is told `uncordoned` must find it so.
                await self._teller.tell_nodes_first()
            try:
                answer = await self._channel.report(
                    ReportRequest(session=grant.session, epoch=grant.epoch, reports=reports, answers=answers)
                )
            except HubError as error:
                raise_if_lost(error)
                named = [each.id for each in reports]
                log.warning("report failed", why=str(error), request=error.request, operations=named)
                await asyncio.sleep(error.retry_after_s or pause_s)
                pause_s = min(pause_s * 2, RETRY_MAX_S)
                self._report_wanted.set()
                continue
            pause_s = RETRY_FIRST_S
            self._conductor.questions.acked(answers)
            self._start(self._conductor.acked(answer.acks))
            self._turn_wanted.set()

    # --- steps --------------------------------------------------------------------------------------------------------

    def _start(self, steps: tuple[tuple[OperationId, Step], ...]) -> None:
        for operation, step in steps:
            task = asyncio.create_task(self._take(operation, step))
            self._steps.add(task)
            task.add_done_callback(partial(self._step_ended, operation))

    async def _take(self, operation: OperationId, step: Step) -> None:
        def gate() -> str | None:
            return self._why_powerless() or self._conductor.why_withheld(operation, step, self._cluster.now())

        began_s = self._clock.monotonic_s()
        try:
            answer = await self._cluster.perform(step, gate)
        except BaseException:
            # Whatever this was, the step may have been sent; unanswered, it would hold its operation open for ever.
            self._conductor.answered(operation, step, Unknown("the operator failed in this"), self._cluster.now())
            self._turn_wanted.set()
            raise
        self._conductor.answered(operation, step, answer, self._cluster.now())
        self._metrics.answered(step, answer, self._clock.monotonic_s() - began_s)
        _log_answer(operation, step, answer)
        self._turn_wanted.set()

    def _step_ended(self, operation: OperationId, task: asyncio.Task[None]) -> None:
        self._steps.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a step failed", operation=operation, exc_info=error)

    def _tell_ends(self) -> None:
        """Write the reason of each end to the log, once, even if the hub cannot be reached to hear it."""
        ending = {OperationId(report.id): report for report in self._conductor.outbox() if report.result is not None}
        for operation, report in ending.items():
            if operation not in self._told and report.result is not None:
                level = log.info if report.phase == "succeeded" else log.warning
                level(
                    "operation ended",
                    operation=operation,
                    phase=report.phase,
                    code=report.result.code,
                    message=report.result.message,
                )
        self._told = set(ending)


def _log_answer(operation: OperationId, step: Step, answer: Answer) -> None:
    match step, answer:
        # No operation of ours tells of these, so that the log is where to look for who wrote a graph, and when.
        case Apply(), Accepted():
            log.info("graph written", graph=str(step.graph), revision=step.rev, counts=dict(step.counts))
        case Scale(), Accepted():
            log.info("adapter written", graph=str(step.graph), adapter=step.adapter, replicas=step.replicas)
        case Create(), Accepted():
            log.info("graph created", graph=str(step.graph), revision=step.rev, counts=dict(step.counts))
        case Remove(), Accepted():
            log.info("graph removed", graph=str(step.graph), uid=step.uid)
        case _:
            level = log.debug if isinstance(answer, Accepted) else log.info
            level("step answered", operation=operation, step=repr(step), answer=repr(answer))

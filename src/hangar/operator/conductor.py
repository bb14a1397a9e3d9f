"""Conductor: the operator's open operations from first sight to last word, without any I/O.

It hears what the hub says, decides on each snapshot, and hands out reports to send and steps to take. Memory comes
before act: steps whose decision changed the memory are held until the hub has acknowledged the report that carries it.
Beside the operations it keeps what is desired of the cluster's graphs, and has that written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import msgspec

from hangar.domain.decision import Accepted, Answer, Answered, End, Evict, Go, Step, Unknown, Unmark
from hangar.domain.ids import NodeName, NodeUid, OperationId, PodUid
from hangar.domain.kind import Job, Kind, needed
from hangar.domain.limits import HELD_MAX_S, LANDING_MAX_S, PROGRESS_INTERVAL_S
from hangar.domain.operation import Phase
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import ClusterSettings, StepKey, StepName, View, key_of, retry_at
from hangar.operator.desired import OnGraph, WhatIsDesired
from hangar.operator.documents import result_doc
from hangar.operator.inventory import News, drains_of
from hangar.operator.pace import Pace
from hangar.operator.questions import Questions
from hangar.operator.turn import ENDING, OpenJob, turn, view_of
from hangar.wire.documents import progress_doc
from hangar.wire.operator import Ack, JobDoc, JsonObject, ProgressDoc, ReportDoc, ResultDoc, SyncAnswer


@dataclass(slots=True)
class _Open:
    """One open operation. While `outbox` is unacknowledged nothing new is decided for it."""

    open_job: OpenJob
    is_claimed: bool
    n: int
    outbox: ReportDoc | None = None
    held: tuple[Step, ...] = ()
    progress: ProgressDoc | None = None
    reported_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Turned:
    """What one turn asks for: steps to start now, and when to look again at the latest."""

    steps: tuple[tuple[OperationId, Step], ...]
    recheck_at: datetime | None


class Conductor:
    """Decides for one cluster. All methods are called from one thread."""

    def __init__(
        self, kinds: Mapping[str, Kind[object, object]], allowed: frozenset[str], settings: ClusterSettings
    ) -> None:
        self._kinds = kinds
        self._settings = settings
        self.allowed = allowed
        self._open: dict[OperationId, _Open] = {}
        self._refused: dict[OperationId, ReportDoc] = {}
        self._ended: dict[OperationId, None] = {}  # said over and acknowledged: a late sync must not revive them
        self._in_flight: dict[StepKey, datetime] = {}  # since when each is decided
        self._answers: dict[StepKey, Answered] = {}
        self.desired = WhatIsDesired(allowed)
        self._landing: dict[PodUid, datetime] = {}  # since when it is known that each may end
        self.questions = Questions(kinds)
        self._pace = Pace()
        self._view: View | None = None

    # --- what the hub says --------------------------------------------------------------------------------------------

    def begin_session(self) -> None:
        """Forget what an earlier session held: the hub's next sync brings the memory it has stored."""
        for each in self._open.values():
            self._drop_held(each)
        self._open.clear()
        self._refused.clear()
        self.desired.begin_session()
        self.questions.begin_session()

    def heard(self, answer: SyncAnswer, sent_at: datetime) -> None:
        """Take in all open operations and all that is desired, as of a sync that was sent at `sent_at`."""
        self.questions.heard(answer.questions)
        self.desired.heard(answer)
        listed = {OperationId(doc.id) for doc in answer.jobs}
        for operation in self._open.keys() - listed:
            self._forget(operation)
        for doc in answer.jobs:
            operation = OperationId(doc.id)
            if operation in self._ended:
                continue
            known = self._open.get(operation)
            if known is None:
                seen = self._why_refused(doc) or self._first_sight(doc, sent_at)
                if isinstance(seen, ResultDoc):
                    failed = ReportDoc(id=doc.id, n=doc.report_n + 1, phase=Phase.FAILED.value, result=seen)
                    self._refused[operation] = failed
                else:
                    self._open[operation] = seen
                continue
            job = known.open_job.job
            deadline_at = job.deadline_at if doc.remaining_s is None else sent_at + timedelta(seconds=doc.remaining_s)
            job = replace(job, is_cancelled=job.is_cancelled or doc.cancel, deadline_at=deadline_at)
            known.open_job = replace(known.open_job, job=job)

    def acked(self, acks: Iterable[Ack]) -> tuple[tuple[OperationId, Step], ...]:
        """Take in acknowledgements; return the steps that were held for them."""
        released: list[tuple[OperationId, Step]] = []
        for ack in acks:
            operation = OperationId(ack.id)
            if self._refused.pop(operation, None) is not None:
                self._ended[operation] = None
            each = self._open.get(operation)
            if each is None or each.outbox is None or each.outbox.n != ack.n:
                continue
            report, each.outbox = each.outbox, None
            if ack.outcome not in ("stored", "duplicate") or report.result is not None:
                self._forget(operation)
                self._ended[operation] = None
                continue
            each.is_claimed = True
            if ack.cancel:
                each.open_job = replace(each.open_job, job=replace(each.open_job.job, is_cancelled=True))
            released += [(operation, step) for step in each.held]
            each.held = ()
        return tuple(released)

    def outbox(self) -> list[ReportDoc]:
        """Return the reports that are not acknowledged yet; sending one twice does no harm."""
        reports = [each.outbox for each in self._open.values() if each.outbox is not None]
        return reports + list(self._refused.values())

    @property
    def operations(self) -> list[OperationId]:
        """Return the operations that are open here."""
        return list(self._open)

    # --- what the cluster says ----------------------------------------------------------------------------------------

    def answered(self, operation: OperationId, step: Step, answer: Answer, now: datetime) -> None:
        """Take in the answer to a step."""
        key = key_of(operation, step)
        self._in_flight.pop(key, None)
        self._pace.answered(key, now)
        before = self._answers.get(key)
        is_same = before is not None and type(before.answer) is type(answer)
        self._answers[key] = Answered(answer, now, before.tries + 1 if before is not None and is_same else 1)
        if key.step in ENDING and isinstance(answer, Accepted | Unknown):
            self._landing[PodUid(key.subject)] = now

    def why_withheld(self, operation: OperationId, step: Step, now: datetime) -> str | None:
        """Return why a step must not leave any more, or None: the part of the gate that is the operation's own."""
        each = self._open.get(operation)
        if isinstance(step, OnGraph):
            if (why := self.desired.why_withheld(operation, step)) is not None:
                return why
        elif each is None and not isinstance(step, Unmark):
            return "the operation is over"
        if each is not None and each.open_job.job.is_cancelled:
            return "the operation was cancelled"
        decided_at = self._in_flight.get(key_of(operation, step))
        if decided_at is None or now - decided_at > timedelta(seconds=HELD_MAX_S):
            return "it could not leave soon after it was decided, and is decided anew"
        return None

    # --- deciding -----------------------------------------------------------------------------------------------------

    def turn(self, snapshot: Snapshot, now: datetime) -> Turned:
        """Decide every open operation that awaits no acknowledgement, and what to write; return what to start now."""
        self._tidy(snapshot, now)
        jobs = [each.open_job for each in self._open.values()]
        in_flight = frozenset(self._in_flight)
        view = view_of(
            snapshot,
            jobs,
            in_flight,
            self._answers,
            self._landing,
            self._pace,
            self._settings,
            now,
            self.desired.workloads,
        )
        self._view = view
        ready = [each.open_job for each in self._open.values() if each.outbox is None]
        steps: list[tuple[OperationId, Step]] = []
        times: list[datetime] = []
        decided, left = turn(ready, view, now)
        for operation, decision in decided:
            each = self._open[operation]
            match decision:
                case End():
                    self._end(each, decision)
                    self._keep_what_may_land(each.open_job, view)
                case Go():
                    steps += [(operation, step) for step in self._go(each, decision, now, times)]
        steps += self._unmark(snapshot, now)
        steps += self._converge(left, now, times)
        return Turned(tuple(steps), min(times, default=None))

    @property
    def news(self) -> News:
        """Return what is to be told of graphs beside what is seen of them, as of the last turn."""
        drains = drains_of(self._view.claims, self._view.snapshot) if self._view is not None else {}
        return News(drains, self.desired.unwritten if self.desired.is_heard else None)

    def foresee(self, now: datetime) -> None:
        """Answer what users ask, on the view of the last turn."""
        if self._view is not None:
            self.questions.answer(self._view, now)

    def _go(self, each: _Open, decision: Go[object], now: datetime, times: list[datetime]) -> tuple[Step, ...]:
        """Report what changed; return the steps that need not wait for it."""
        job = each.open_job.job
        if decision.recheck_at is not None:
            times.append(decision.recheck_at)
        self._in_flight |= {key_of(job.id, step): now for step in decision.steps}
        self._pace.decided(key_of(job.id, step) for step in decision.steps if isinstance(step, Evict))
        progress = progress_doc(decision.progress)
        is_new_memory = decision.memory != job.memory
        if is_new_memory or not each.is_claimed:
            each.open_job = replace(each.open_job, job=replace(job, memory=decision.memory))
            each.held = decision.steps
            self._report(each, now, progress, _document(decision.memory))
            return ()
        if progress != each.progress:
            due_at = (each.reported_at or now) + timedelta(seconds=PROGRESS_INTERVAL_S)
            if now >= due_at or each.reported_at is None:
                self._report(each, now, progress, None)
            else:
                times.append(due_at)
        return decision.steps

    def _report(self, each: _Open, now: datetime, progress: ProgressDoc, memory: JsonObject | None) -> None:
        each.n += 1
        each.progress = progress
        each.reported_at = now
        each.outbox = ReportDoc(
            id=each.open_job.job.id, n=each.n, phase=Phase.RUNNING.value, memory=memory, progress=progress
        )

    def _end(self, each: _Open, decision: End[object]) -> None:
        each.n += 1
        each.outbox = ReportDoc(
            id=each.open_job.job.id,
            n=each.n,
            phase=decision.phase.value,
            memory=_document(decision.memory),
            progress=progress_doc(decision.progress),
            result=result_doc(decision),
        )

    def _keep_what_may_land(self, ended: OpenJob, view: View) -> None:
        """Let the evictions of an operation that is over count on: it may have sent them in another process."""
        for uid, sent_at in ended.kind.claims(ended.job).sent.items():
            if uid in view.leaving:
                self._landing.setdefault(uid, sent_at + timedelta(seconds=HELD_MAX_S))

    def _unmark(self, snapshot: Snapshot, now: datetime) -> list[tuple[OperationId, Step]]:
        """Remove annotations of cordons that somebody else has lifted, so that nobody takes them for ours later."""
        if "cordon" not in self.allowed or snapshot.unreadable:
            return []
        held = {each.open_job.job.target for each in self._open.values()}
        found: list[tuple[OperationId, Step]] = []
        for node in snapshot.nodes.values():
            if node.mark is None or node.unschedulable or node.name in held:
                continue
            step = Unmark(node.name, node.uid)
            key = key_of(node.mark.operation, step)
            answered = self._answers.get(key)
            if key not in self._in_flight and (answered is None or now >= retry_at(answered)):
                self._in_flight[key] = now
                found.append((node.mark.operation, step))
        return found

    def _converge(self, view: View, now: datetime, times: list[datetime]) -> tuple[tuple[OperationId, Step], ...]:
        """Have written what is desired of the graphs; nobody need acknowledge it first, since the hub wants it."""
        converging = self.desired.converge(view, now)
        self._in_flight |= {key_of(operation, step): now for operation, step in converging.steps}
        if converging.recheck_at is not None:
            times.append(converging.recheck_at)
        return converging.steps

    # --- keeping ------------------------------------------------------------------------------------------------------

    def _first_sight(self, doc: JobDoc, sent_at: datetime) -> _Open | ResultDoc:
        """Return an operation as it comes from the hub, or how it ends where that cannot be understood."""
        kind = self._kinds[doc.type]
        left_s = doc.deadline_s if doc.remaining_s is None else doc.remaining_s
        try:
            params = msgspec.convert(doc.params, kind.params)
            memory = msgspec.convert(doc.memory, kind.memory) if doc.memory is not None else kind.memory()
        except msgspec.ValidationError as error:
            # One operation that is not understood must not keep the operator from all the others.
            text = f"this operator does not understand what the hub has stored of this {doc.type}: {error}"
            return ResultDoc(code="unsupported_kind", message=text)
        job: Job[object, object] = Job(
            OperationId(doc.id),
            NodeName(doc.target),
            NodeUid(doc.target_uid),
            params,
            memory,
            doc.created_by,
            doc.reason,
            sent_at + timedelta(seconds=left_s),
            doc.cancel,
        )
        return _Open(OpenJob(kind, job), doc.phase == Phase.RUNNING, doc.report_n)

    def _why_refused(self, doc: JobDoc) -> ResultDoc | None:
        """Return why this operator does not carry out an operation, even if the hub sends it; None where it does."""
        kind = self._kinds.get(doc.type)
        if kind is None or kind.version != doc.kind_version:
            text = f"this operator does not know {doc.type} version {doc.kind_version}: it needs another release"
            return ResultDoc(code="unsupported_kind", message=text)
        if missing := [each for each in needed(kind.needs, kind.params, doc.params) if each not in self.allowed]:
            text = (
                f"this cluster does not allow {doc.type}: {missing[0]!r} is missing in cluster.allowedOperations "
                "of the operator's chart, or Kubernetes does not grant it"
            )
            return ResultDoc(code="operation_not_allowed", message=text)
        return None

    def _forget(self, operation: OperationId) -> None:
        each = self._open.pop(operation)
        self._drop_held(each)

    def _drop_held(self, each: _Open) -> None:
        for step in each.held:
            key = key_of(each.open_job.job.id, step)
            self._in_flight.pop(key, None)
            self._pace.dropped(key)
        each.held = ()

    def _tidy(self, snapshot: Snapshot, now: datetime) -> None:
        """Let go of answers and evictions that nothing can ask for any more."""
        landed = timedelta(seconds=LANDING_MAX_S)
        self._landing = {uid: at for uid, at in self._landing.items() if uid in snapshot.pods and now - at < landed}
        if self.desired.is_heard and len(self._answers) > len(self._open):  # until then all may still be asked for
            known = self._open.keys() | self.desired.errands
            self._answers = {
                key: answered
                for key, answered in self._answers.items()
                if key.operation in known or (key.step is StepName.UNMARK and now - answered.at < landed)
            }
        while len(self._ended) > ENDED_REMEMBERED_MAX:
            del self._ended[next(iter(self._ended))]


ENDED_REMEMBERED_MAX = 1000
"""Ended operations kept in mind; a sync that was under way when they ended is seconds old, not thousands of ends."""


def _document(memory: object) -> JsonObject:
    document: JsonObject = msgspec.to_builtins(memory)
    return document

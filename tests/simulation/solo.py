"""Solo: one conductor on one simulated world in virtual time, with a hub that acknowledges everything at once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import structs

from hangar.domain.decision import Answer, Evict, Step
from hangar.domain.ids import NodeName, OperationId
from hangar.domain.view import ClusterSettings
from hangar.kinds import KINDS
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.world import World
from hangar.operator.conductor import Conductor
from hangar.wire.operator import Ack, JobDoc, ProgressDoc, ReportDoc, ResultDoc, SyncAnswer

NOON = datetime(2026, 10, 27, 12, 0, 0, tzinfo=UTC)
ALL = frozenset({"cordon", "drain", "force"})


def stored(report: ReportDoc) -> Ack:
    """Acknowledge a report."""
    return Ack(id=report.id, n=report.n, outcome="stored")


@dataclass
class Solo:
    """Drives operations to their end and remembers what was done on the way."""

    world: World
    conductor: Conductor = field(default_factory=lambda: Conductor(KINDS, ALL, ClusterSettings()))
    results: dict[OperationId, tuple[str, ResultDoc]] = field(default_factory=dict)
    progress: dict[OperationId, ProgressDoc] = field(default_factory=dict)
    memory: dict[OperationId, dict[str, Any]] = field(default_factory=dict)
    taken: list[tuple[datetime, OperationId, Step, Answer]] = field(default_factory=list)
    answer: Callable[[World, Step], Answer] = api.take
    _docs: dict[OperationId, JobDoc] = field(default_factory=dict)
    _reported: dict[OperationId, datetime] = field(default_factory=dict)  # since when each runs
    _recheck_at: datetime | None = None

    def submit(
        self, kind: str, target: str, reason: str | None = None, actor: str = "admin", **params: Any
    ) -> OperationId:
        """Ask for an operation; it begins at the next step of `run`."""
        operation = OperationId(f"op_{len(self._docs):026d}")
        node = self.world.snapshot().nodes[NodeName(target)]
        settings = KINDS[kind].params(**params)
        self._docs[operation] = JobDoc(
            id=operation,
            type=kind,
            kind_version=KINDS[kind].version,
            target=target,
            target_uid=node.uid,
            phase="pending",
            params=params,
            memory=None,
            reason=reason,
            created_by=actor,
            created_us=0,
            started_us=None,
            deadline_s=settings.deadline_s,
            remaining_s=None,
            cancel=False,
            report_n=0,
        )
        self._sync()
        return operation

    def cancel(self, operation: OperationId) -> None:
        """Ask an operation to stop."""
        self._docs[operation] = structs.replace(self._docs[operation], cancel=True)
        self._sync()

    def restart(self) -> None:
        """Kill the operator, and start another one that knows what the hub has stored."""
        self.conductor = Conductor(KINDS, ALL, ClusterSettings())
        for operation, doc in self._docs.items():
            if operation in self._reported:
                left_s = doc.deadline_s - (self.world.now - self._reported[operation]).total_seconds()
                self._docs[operation] = structs.replace(
                    doc, phase="running", memory=self.memory[operation], remaining_s=left_s, report_n=10_000
                )
        self._sync()

    def _sync(self) -> None:
        jobs = [doc for operation, doc in self._docs.items() if operation not in self.results]
        self.conductor.heard(SyncAnswer(seen=0, jobs=jobs), self.world.now)

    def settle(self) -> None:
        """Decide, report and act until nothing changes at this instant."""
        for _ in range(1000):
            turned = self.conductor.turn(self.world.snapshot(), self.world.now)
            self._recheck_at = turned.recheck_at
            steps = list(turned.steps)
            reports = self.conductor.outbox()
            for report in reports:
                operation = OperationId(report.id)
                self._reported.setdefault(operation, self.world.now)
                if report.progress is not None:
                    self.progress[operation] = report.progress
                if report.memory is not None:
                    self.memory[operation] = report.memory
                if report.result is not None:
                    self.results[operation] = (report.phase, report.result)
            steps += self.conductor.acked([stored(report) for report in reports])
            for operation, step in steps:
                answer = self.answer(self.world, step)
                self.taken.append((self.world.now, operation, step, answer))
                self.conductor.answered(operation, step, answer, self.world.now)
            if not steps and not reports:
                return
        raise AssertionError(f"still busy at {self.world.now}: {reports} {steps}")

    def run(self, seconds: float) -> None:
        """Let time pass, deciding whenever something happens."""
        end = self.world.now + timedelta(seconds=seconds)
        self.settle()
        while True:
            next_at = self.world.next_at()
            nexts = [at for at in (next_at, self._recheck_at) if at is not None and at > self.world.now]
            if next_at is not None and next_at <= self.world.now:
                nexts.append(self.world.now)
            if not nexts or min(nexts) > end:
                self.world.advance(end)
                self.settle()
                return
            self.world.advance(min(nexts))
            self.settle()

    def finish(self, operation: OperationId, within_s: float = 7200) -> tuple[str, ResultDoc]:
        """Run until an operation is over; return its phase and result."""
        end = self.world.now + timedelta(seconds=within_s)
        self.settle()
        while operation not in self.results:
            if self.world.now >= end:
                raise AssertionError(f"not over after {within_s} s: {self.progress.get(operation)}")
            nexts = [at for at in (self.world.next_at(), self._recheck_at) if at is not None]
            self.world.advance(max(self.world.now, min([*nexts, end])))
            self.settle()
        return self.results[operation]

    def evictions(self) -> list[tuple[datetime, str, Answer]]:
        """Return all evictions that were sent: when, which pod's UID, the answer."""
        return [(at, step.pod.uid, answer) for at, _, step, answer in self.taken if isinstance(step, Evict)]

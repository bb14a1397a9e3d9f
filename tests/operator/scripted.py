"""A kind that decides what a test says, and a conductor that is driven by hand."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from hangar.domain.decision import Answer, End, Evict, Go, Progress, Step
from hangar.domain.ids import OperationId
from hangar.domain.kind import Job, Kind
from hangar.domain.operation import Phase
from hangar.domain.plan import Fits, Plan
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import NO_CLAIMS, Claims, ClusterSettings, View
from hangar.operator.conductor import Conductor, Turned
from hangar.wire.operator import Ack, JobDoc, ReportDoc, SyncAnswer
from tests.domain.building import NOON, OP, a_ref, a_snapshot, at


@dataclass(frozen=True, slots=True)
class Params:
    """What a caller may choose."""

    deadline_s: int = 60


@dataclass(frozen=True, slots=True)
class Memory:
    """What must not be forgotten: how far it is."""

    step: int = 0


Decision: TypeAlias = Go[Memory] | End[Memory]
Decide: TypeAlias = Callable[[Job[Params, Memory], View, datetime], Decision]
EVICT_A, EVICT_B = Evict(a_ref("a")), Evict(a_ref("b"))


def going(memory: int, *steps: Step, message: str = "going") -> Decide:
    """Return the decision to go on, remember a number, take steps, and look again in a minute."""
    progress = Progress(0, 1, "pods", message)
    return lambda job, view, now: Go(Memory(memory), progress, steps, recheck_at=now + timedelta(seconds=60))


def ending(phase: Phase = Phase.SUCCEEDED, code: str = "done") -> Decide:
    """Return the decision to end."""
    return lambda job, view, now: End(phase, code, "it is done", job.memory, Progress(1, 1, "pods", "it is done"))


@dataclass
class Script:
    """What the kind test.step decides: `says`, which a test replaces as it goes; it remembers what it was asked."""

    says: Decide = field(default_factory=lambda: going(0))
    holds: Claims = NO_CLAIMS
    asked: list[tuple[Job[Params, Memory], View]] = field(default_factory=list)

    def decide(self, job: Job[Params, Memory], view: View, now: datetime) -> Decision:
        """Decide as the test says."""
        self.asked.append((job, view))
        return self.says(job, view, now)

    def kind(self) -> Kind[Params, Memory]:
        """Return the kind that plays this script."""
        return Kind(
            name="test.step",
            version=1,
            title="Test",
            needs="drain",
            runs_in="operator",
            params=Params,
            memory=Memory,
            steps=(Evict,),
            decide=self.decide,
            foresee=lambda job, _view, _now: Plan(f"would empty {job.target}", Fits.YES),
            claims=lambda _: self.holds,
        )


def a_doc(operation: OperationId = OP, **fields: Any) -> JobDoc:
    """Return a pending operation of the kind test.step, as the hub tells of it."""
    given: dict[str, Any] = {
        "type": "test.step",
        "kind_version": 1,
        "target": "n1",
        "target_uid": "n1-uid",
        "phase": "pending",
        "params": {},
        "memory": None,
        "reason": None,
        "created_by": "alice",
        "created_us": 0,
        "started_us": None,
        "deadline_s": 60.0,
        "remaining_s": None,
        "cancel": False,
        "report_n": 0,
    }
    return JobDoc(id=operation, **(given | fields))


@dataclass
class Stage:
    """A conductor, its script, its cluster and its time."""

    script: Script = field(default_factory=Script)
    snapshot: Snapshot = field(default_factory=a_snapshot)
    allowed: frozenset[str] = frozenset({"cordon", "drain"})
    now: datetime = NOON
    conductor: Conductor = field(init=False)

    def __post_init__(self) -> None:
        kinds: dict[str, Kind[Any, Any]] = {"test.step": self.script.kind()}
        self.conductor = Conductor(kinds, self.allowed, ClusterSettings())

    def hear(self, *docs: JobDoc) -> None:
        """Let the hub tell of all open operations."""
        self.conductor.heard(SyncAnswer(seen=1, jobs=list(docs)), self.now)

    def turn(self, seconds: float | None = None) -> Turned:
        """Decide, so many seconds after noon."""
        self.now = self.now if seconds is None else at(seconds)
        return self.conductor.turn(self.snapshot, self.now)

    def report(self) -> ReportDoc:
        """Return the one report that is to be sent."""
        (report,) = self.conductor.outbox()
        return report

    def ack(self, outcome: str = "stored", *, cancel: bool = False) -> tuple[tuple[OperationId, Step], ...]:
        """Let the hub acknowledge all reports; return the steps that this lets go."""
        acks = [Ack(id=each.id, n=each.n, outcome=outcome, cancel=cancel) for each in self.conductor.outbox()]
        return self.conductor.acked(acks)

    def answer(self, step: Step, answer: Answer, operation: OperationId = OP) -> None:
        """Let the cluster answer a step."""
        self.conductor.answered(operation, step, answer, self.now)

    def withheld(self, step: Step, operation: OperationId = OP) -> str | None:
        """Ask the gate."""
        return self.conductor.why_withheld(operation, step, self.now)

"""node.uncordon: make a node schedulable again, whoever cordoned it, and say whose cordon that was."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from hangar.domain import cordon
from hangar.domain.cordon import Wait
from hangar.domain.decision import End, Fail, Go, Uncordon
from hangar.domain.kind import Job, Kind, param
from hangar.domain.limits import DEADLINE_MAX_S, DEADLINE_MIN_S, NODE_DEADLINE_DEFAULT_S
from hangar.domain.operation import Phase
from hangar.domain.plan import Fits, Plan
from hangar.domain.view import View


@dataclass(frozen=True, slots=True)
class UncordonParams:
    """What a caller may choose."""

    deadline_s: int = field(
        default=NODE_DEADLINE_DEFAULT_S,
        metadata=param("fail if it is not done this long after it started", least=DEADLINE_MIN_S, most=DEADLINE_MAX_S),
    )


@dataclass(frozen=True, slots=True)
class UncordonMemory:
    """What an uncordon must not forget in a crash: whose cordon it lifts, in words."""

    lifts: str | None = None


Decision: TypeAlias = Go[UncordonMemory] | End[UncordonMemory]


def decide(job: Job[UncordonParams, UncordonMemory], view: View, now: datetime) -> Decision:
    """Return the next move towards a node that is seen to be schedulable."""
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    is_readable = not view.snapshot.unreadable
    if is_readable and node is None:
        return cordon.fail(job.memory, cordon.missing(view.snapshot, job.target))
    if is_readable and node is not None and not node.unschedulable and node.mark is None:
        return _succeeded(job.memory)
    if job.is_cancelled:
        return cordon.end(job.memory, Phase.CANCELLED, "cancelled", "cancelled before the node was seen uncordoned")
    if now >= job.deadline_at:
        return cordon.fail(job.memory, Fail("deadline_exceeded", f"node {job.target} was not uncordoned in time"))
    if node is None or not is_readable:
        return cordon.go(job.memory, Wait(cordon.unreadable(view.snapshot), job.deadline_at), "uncordoning")
    move = cordon.take_off(node, job.id, view, now)
    if isinstance(move, Fail):
        return cordon.fail(job.memory, move)
    lifts = job.memory.lifts or (cordon.whose(node) if node.unschedulable else None)
    return cordon.go(UncordonMemory(lifts), move, "uncordoning")


def _succeeded(memory: UncordonMemory) -> End[UncordonMemory]:
    if memory.lifts is None:
        return cordon.end(memory, Phase.SUCCEEDED, "already_schedulable", "already schedulable")
    return cordon.end(memory, Phase.SUCCEEDED, "uncordoned", f"uncordoned; it was cordoned by {memory.lifts}")


def foresee(job: Job[UncordonParams, UncordonMemory], view: View, _now: datetime) -> Plan | Fail:
    """Return what an uncordon would do now."""
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    if node is None:
        return cordon.missing(view.snapshot, job.target)
    if not node.unschedulable:
        return Plan(f"nothing to do: {node.name} is already schedulable", Fits.YES)
    return Plan(f"{node.name} would be made schedulable; it is cordoned by {cordon.whose(node)}", Fits.YES)


KIND = Kind(
    name="node.uncordon",
    version=1,
    title="Uncordon a node",
    needs="cordon",
    runs_in="operator",
    params=UncordonParams,
    memory=UncordonMemory,
    steps=(Uncordon,),
    decide=decide,
    foresee=foresee,
)

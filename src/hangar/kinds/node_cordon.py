"""node.cordon: mark a node unschedulable; what runs there keeps running."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from hangar.domain import cordon
from hangar.domain.cordon import Wait
from hangar.domain.decision import Cordon, End, Fail, Go
from hangar.domain.kind import Job, Kind, param
from hangar.domain.limits import DEADLINE_MAX_S, DEADLINE_MIN_S, NODE_DEADLINE_DEFAULT_S
from hangar.domain.operation import Phase
from hangar.domain.plan import Fits, Plan
from hangar.domain.view import View


@dataclass(frozen=True, slots=True)
class CordonParams:
    """What a caller may choose."""

    deadline_s: int = field(
        default=NODE_DEADLINE_DEFAULT_S,
        metadata=param("fail if it is not done this long after it started", least=DEADLINE_MIN_S, most=DEADLINE_MAX_S),
    )


@dataclass(frozen=True, slots=True)
class CordonMemory:
    """What a cordon must not forget in a crash: that it has begun, so that the node's state is its own doing."""

    began: bool = False


Decision: TypeAlias = Go[CordonMemory] | End[CordonMemory]


def decide(job: Job[CordonParams, CordonMemory], view: View, now: datetime) -> Decision:
    """Return the next move towards a node that is seen to be unschedulable."""
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    is_readable = not view.snapshot.unreadable
    if is_readable and node is None:
        return cordon.fail(job.memory, cordon.missing(view.snapshot, job.target))
    if is_readable and node is not None and node.unschedulable:
        if cordon.is_held_by(node, job.id):
            return cordon.end(job.memory, Phase.SUCCEEDED, "cordoned", "cordoned")
        if not job.memory.began:
            message = f"already cordoned by {cordon.whose(node)}"
            return cordon.end(job.memory, Phase.SUCCEEDED, "already_cordoned", message)
    if job.is_cancelled:
        return cordon.end(job.memory, Phase.CANCELLED, "cancelled", "cancelled before the node was seen cordoned")
    if now >= job.deadline_at:
        return cordon.fail(job.memory, Fail("deadline_exceeded", f"node {job.target} was not cordoned in time"))
    if node is None or not is_readable:
        return cordon.go(job.memory, Wait(cordon.unreadable(view.snapshot), job.deadline_at), "cordoning")
    move = cordon.put_on(node, cordon.mark_of(node, job.id, job.actor, job.reason), view, now)
    if isinstance(move, Fail):
        return cordon.fail(job.memory, move)
    return cordon.go(CordonMemory(began=True), move, "cordoning")


def foresee(job: Job[CordonParams, CordonMemory], view: View, _now: datetime) -> Plan | Fail:
    """Return what a cordon would do now."""
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    if node is None:
        return cordon.missing(view.snapshot, job.target)
    if node.unschedulable:
        return Plan(f"nothing to do: {node.name} is already cordoned by {cordon.whose(node)}", Fits.YES)
    return Plan(f"{node.name} would be marked unschedulable; its pods keep running", Fits.YES)


KIND = Kind(
    name="node.cordon",
    version=1,
    title="Cordon a node",
    needs="cordon",
    runs_in="operator",
    params=CordonParams,
    memory=CordonMemory,
    steps=(Cordon,),
    decide=decide,
    foresee=foresee,
)

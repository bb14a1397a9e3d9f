"""workload.scale: another global number of replicas, placed on the workload's clusters."""

from dataclasses import dataclass, field
from datetime import datetime

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.kind import param
from hangar.domain.limits import REPLICAS_MAX
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams, begin, deadline_s, follow, refused
from hangar.domain.workloads.kind import Decided, SetReplicas, WorkloadJob, WorkloadKind, changed
from hangar.domain.workloads.placement import Misfit
from hangar.domain.workloads.rivals import opposed
from hangar.domain.workloads.rollout import misfit_text, reach
from hangar.domain.workloads.workload import Workload, placement


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleParams(RolloutParams):
    """What a caller may choose."""

    replicas: int = field(metadata=param("the global number of replicas", least=0, most=REPLICAS_MAX))


def refuse(params: ScaleParams, workload: Workload, _cluster: ClusterName | None) -> Fail | None:
    """Return why a workload must not be scaled to a number now."""
    if workload.is_paused:
        text = f"{workload.name} is paused: resume it first, with `hgr workload resume {workload.name}`"
        return Fail("workload_paused", text)
    if params.replicas and not workload.open_deployments:
        text = f"{params.replicas} replicas have nowhere to go: {workload.name} has no deployment that is not drained"
        return Fail("out_of_bounds", text)
    change = SetReplicas(params.replicas)
    placed = placement(changed(workload, change))
    if isinstance(placed, Misfit):
        return Fail("out_of_bounds", misfit_text(placed))
    return None if params.override else opposed(workload, change)


def decide(job: WorkloadJob[ScaleParams, RolloutMemory], workload: Workload, now: datetime) -> Decided[RolloutMemory]:
    """Return the next move towards a number that every connected cluster has written."""
    if not job.memory.is_made:
        fail = refuse(job.params, workload, None)
        return begin(job, workload, SetReplicas(job.params.replicas)) if fail is None else refused(job, fail)
    return follow(job, workload, now, what=f"scaled to {job.params.replicas}: {reach(workload)}")


def touches(workload: Workload, _cluster: ClusterName | None) -> tuple[ClusterName, ...]:
    """Return the clusters whose number may change: all that are not drained."""
    return tuple(each.cluster for each in workload.open_deployments)


KIND = WorkloadKind(
    name="workload.scale",
    version=1,
    title="Scale a workload",
    params=ScaleParams,
    memory=RolloutMemory,
    refuse=refuse,
    decide=decide,
    touches=touches,
    deadline_s=deadline_s,
    asks_for=lambda params, _cluster: SetReplicas(params.replicas),
)

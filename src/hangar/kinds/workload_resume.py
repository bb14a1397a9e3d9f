"""workload.resume: a paused workload runs again, with the number it had, placed by today's policy."""

from datetime import datetime

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams, begin, deadline_s, follow, refused
from hangar.domain.workloads.kind import Decided, SetPaused, WorkloadJob, WorkloadKind, changed
from hangar.domain.workloads.placement import Misfit
from hangar.domain.workloads.rivals import opposed
from hangar.domain.workloads.rollout import misfit_text, reach
from hangar.domain.workloads.workload import Workload, placement


def refuse(params: RolloutParams, workload: Workload, _cluster: ClusterName | None) -> Fail | None:
    """Return why a workload cannot be resumed now: its number has no place any more, or is somebody else's."""
    change = SetPaused(on=False)
    placed = placement(changed(workload, change))
    if isinstance(placed, Misfit):
        return Fail("out_of_bounds", misfit_text(placed))
    return None if params.override or not _rests(workload) else opposed(workload, change)


def decide(job: WorkloadJob[RolloutParams, RolloutMemory], workload: Workload, now: datetime) -> Decided[RolloutMemory]:
    """Return the next move towards a workload that every connected cluster runs again."""
    if not job.memory.is_made and _rests(workload):
        fail = refuse(job.params, workload, None)
        return begin(job, workload, SetPaused(on=False)) if fail is None else refused(job, fail)
    verb = "resumed" if job.memory.is_made else "was not paused"
    return follow(job, workload, now, what=f"{verb}: {reach(workload)}")


def touches(workload: Workload, _cluster: ClusterName | None) -> tuple[ClusterName, ...]:
    """Return the clusters whose number may change: all that are not drained."""
    return tuple(each.cluster for each in workload.open_deployments)


def _rests(workload: Workload) -> bool:
    """Tell whether there is anything to resume.

    A resume that was cancelled leaves it not paused, without replicas where nobody had written it.
    """
    return workload.is_paused or any(each.held == 0 for each in workload.open_deployments)


KIND = WorkloadKind(
    name="workload.resume",
    version=1,
    title="Resume a workload",
    params=RolloutParams,
    memory=RolloutMemory,
    refuse=refuse,
    decide=decide,
    touches=touches,
    deadline_s=deadline_s,
)

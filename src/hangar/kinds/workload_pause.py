"""workload.pause: no replicas on any cluster, and nothing deleted; the number it had is kept."""

from datetime import datetime

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams, begin, deadline_s, follow, refused
from hangar.domain.workloads.kind import Decided, SetPaused, WorkloadJob, WorkloadKind
from hangar.domain.workloads.rivals import opposed
from hangar.domain.workloads.workload import Workload


def refuse(params: RolloutParams, workload: Workload, _cluster: ClusterName | None) -> Fail | None:
    """Return why a workload must not be paused now; a paused one may be, which changes nothing and says so."""
    return None if params.override or not _runs(workload) else opposed(workload, SetPaused(on=True))


def decide(job: WorkloadJob[RolloutParams, RolloutMemory], workload: Workload, now: datetime) -> Decided[RolloutMemory]:
    """Return the next move towards a workload of which no connected cluster runs a replica."""
    if not job.memory.is_made and _runs(workload):
        fail = refuse(job.params, workload, None)
        return begin(job, workload, SetPaused(on=True)) if fail is None else refused(job, fail)
    already = "" if job.memory.is_made else "already "
    return follow(job, workload, now, what=f"{already}paused; `resume` places its {workload.replicas} replicas again")


def touches(workload: Workload, _cluster: ClusterName | None) -> tuple[ClusterName, ...]:
    """Return all clusters of the workload."""
    return tuple(each.cluster for each in workload.deployments)


def _runs(workload: Workload) -> bool:
    """Tell whether there is anything to pause.

    A pause that was cancelled leaves it paused, with replicas where nobody had written it.
    """
    return not workload.is_paused or any(each.desired for each in workload.deployments)


KIND = WorkloadKind(
    name="workload.pause",
    version=1,
    title="Pause a workload",
    params=RolloutParams,
    memory=RolloutMemory,
    refuse=refuse,
    decide=decide,
    touches=touches,
    deadline_s=deadline_s,
)

"""workload.pause: no replicas on any cluster, and nothing deleted; the number it had is kept."""

from datetime import datetime

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams, begin, deadline_s, follow
from hangar.domain.workloads.kind import Decided, SetPaused, WorkloadJob, WorkloadKind
from hangar.domain.workloads.workload import Workload


def refuse(_params: RolloutParams, _workload: Workload, _cluster: ClusterName | None) -> Fail | None:
    """Return None: a paused workload may be paused again, which changes nothing and says so."""
    return None


def decide(job: WorkloadJob[RolloutParams, RolloutMemory], workload: Workload, now: datetime) -> Decided[RolloutMemory]:
    """Return the next move towards a workload of which no connected cluster runs a replica."""
    # A pause that was cancelled leaves it paused, with replicas where nobody had written it.
    runs = not workload.is_paused or any(each.desired for each in workload.deployments)
    if not job.memory.is_made and runs:
        return begin(job, workload, SetPaused(on=True))
    already = "" if job.memory.is_made else "already "
    return follow(job, workload, now, what=f"{already}paused; `resume` places its {workload.replicas} replicas again")


def touches(workload: Workload, _cluster: ClusterName | None) -> tuple[ClusterName, ...]:
    """Return all clusters of the workload."""
    return tuple(each.cluster for each in workload.deployments)


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

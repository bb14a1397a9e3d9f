"""workload.undrain: a drained cluster counts in the workload's placement again."""

from datetime import datetime

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams, begin, deadline_s, follow, refused
from hangar.domain.workloads.kind import Decided, TakeIn, WorkloadJob, WorkloadKind
from hangar.domain.workloads.rivals import opposed
from hangar.domain.workloads.rollout import reach
from hangar.domain.workloads.workload import Workload


def refuse(params: RolloutParams, workload: Workload, cluster: ClusterName | None) -> Fail | None:
    """Return why a cluster must not be undrained: there is nothing there, or a number is somebody else's."""
    deployment = None if cluster is None else workload.deployment(cluster)
    if cluster is None or deployment is None:
        names = ", ".join(each.cluster for each in workload.deployments) or "none"
        return Fail("not_deployed", f"{workload.name} has no deployment on {cluster}; it has one on: {names}")
    if params.override or deployment.drained_by is None:
        return None
    return opposed(workload, TakeIn(cluster))


def decide(job: WorkloadJob[RolloutParams, RolloutMemory], workload: Workload, now: datetime) -> Decided[RolloutMemory]:
    """Return the next move towards a workload that is placed on the cluster again."""
    assert job.cluster is not None, "an undrain is about one cluster"
    deployment = workload.deployment(job.cluster)
    if not job.memory.is_made and deployment is not None and deployment.drained_by is not None:
        fail = refuse(job.params, workload, job.cluster)
        return begin(job, workload, TakeIn(job.cluster)) if fail is None else refused(job, fail)
    verb = "counts again" if job.memory.is_made else "was not drained"
    return follow(job, workload, now, what=f"{job.cluster} {verb}: {reach(workload)}")


def touches(workload: Workload, _cluster: ClusterName | None) -> tuple[ClusterName, ...]:
    """Return the clusters whose number may change: all of them."""
    return tuple(each.cluster for each in workload.deployments)


KIND = WorkloadKind(
    name="workload.undrain",
    version=1,
    title="Let a workload return to a cluster",
    params=RolloutParams,
    memory=RolloutMemory,
    refuse=refuse,
    decide=decide,
    touches=touches,
    deadline_s=deadline_s,
    asks_for=lambda _params, cluster: None if cluster is None else TakeIn(cluster),
    is_per_cluster=True,
)

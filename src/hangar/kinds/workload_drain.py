"""workload.drain: one cluster stops serving a workload, once the others serve its share."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from hangar.domain.blockers import blocker, listed, sentence
from hangar.domain.decision import Blocker, End, Fact, Fail, Go, Progress
from hangar.domain.ids import ClusterName, OperationId
from hangar.domain.kind import param
from hangar.domain.limits import DEADLINE_MAX_S, DEADLINE_MIN_S, DRAIN_DEADLINE_DEFAULT_S
from hangar.domain.operation import Phase
from hangar.domain.workloads.carrying import NOTHING_DONE, OVERRIDE
from hangar.domain.workloads.kind import Change, Decided, Hold, TakeIn, TakeOut, WorkloadJob, WorkloadKind, changed
from hangar.domain.workloads.placement import Division, Misfit
from hangar.domain.workloads.rivals import opposed, warnings
from hangar.domain.workloads.rollout import (
    changed_back,
    misfit_text,
    per_cluster,
    reverts,
    standing,
    waiting,
)
from hangar.domain.workloads.workload import Deployment, DeploymentState, Workload, placement

UNIT = "replicas"

NOBODY = OperationId("")
"""Who takes a cluster out where it is only asked what that would change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainParams:
    """What a caller may choose."""

    allow_outage: bool = field(
        default=False, metadata=param("drain the cluster even if no other one serves the workload then")
    )
    override: bool = field(default=False, metadata=OVERRIDE)
    deadline_s: int = field(
        default=DRAIN_DEADLINE_DEFAULT_S,
        metadata=param("fail if it is not done this long after it started", least=DEADLINE_MIN_S, most=DEADLINE_MAX_S),
    )


@dataclass(frozen=True, slots=True)
class DrainMemory:
    """What must not be forgotten: that the cluster is taken out, and what each was to have before, as of when.

    `stands_since` is when the cluster was empty for the first time, in spite of somebody who may put replicas back.
    """

    is_made: bool = False
    before: dict[str, int] = field(default_factory=dict)
    revs: dict[str, int] = field(default_factory=dict)
    stands_since: datetime | None = None


Job: TypeAlias = WorkloadJob[DrainParams, DrainMemory]


def refuse(params: DrainParams, workload: Workload, cluster: ClusterName | None) -> Fail | None:
    """Return why a cluster must not be drained of a workload."""
    deployment = None if cluster is None else workload.deployment(cluster)
    if deployment is None:
        names = ", ".join(each.cluster for each in workload.deployments) or "none"
        return Fail("not_deployed", f"{workload.name} has no deployment on {cluster}; it has one on: {names}")
    if deployment.drained_by is None and not params.allow_outage:
        others = [each for each in workload.open_deployments if each.cluster != cluster]
        if not others:
            text = f"{cluster} is the only cluster that serves {workload.name}: to stop it there, give allow_outage"
            return Fail("only_cluster", text)
    if params.override or _is_drained(deployment):
        return None
    return opposed(workload, TakeOut(deployment.cluster, NOBODY), Hold(deployment.cluster, None))


def decide(job: Job, workload: Workload, now: datetime) -> Decided[DrainMemory]:
    """Return the next move towards a cluster without a pod of the workload, the others serving its share."""
    assert job.cluster is not None, "a drain is about one cluster"
    deployment = workload.deployment(job.cluster)
    if deployment is None:
        return _failed(job, NOTHING_DONE, "deployment_gone", f"{job.target} is not deployed on {job.cluster} any more")
    if not job.memory.is_made:
        return _begin(job, workload, deployment)
    left = _left(workload, deployment, allow_outage=job.params.allow_outage)
    seen = _progress(job, workload, deployment, left)
    details: dict[str, Fact] = {"clusters": per_cluster(workload.deployments), "warnings": warnings(workload)}
    held = deployment.held or 0
    if left == 0 and held == 0 and deployment.is_written and deployment.is_empty:
        since = job.memory.stands_since or now
        stands = standing((deployment,), job.memory.revs, since, now, job.deadline_at)
        if stands is not None and not job.is_cancelled:
            memory, waits = replace(job.memory, stands_since=since), replace(seen, blockers=stands.blockers)
            return Decided(Go(memory, waits, blockers=stands.blockers, recheck_at=stands.until))
        message = f"drained: {job.memory.before[job.cluster]} replicas left {job.cluster}"
        end = End(Phase.SUCCEEDED, "drained", message, job.memory, seen, details)
        return Decided(end, (Hold(job.cluster, None),))
    if job.is_cancelled:
        return _cancelled(job, workload, seen, details)
    # While replicas are to be taken over the others are waited for; after that the drained cluster itself is.
    rows = _takers(workload) if left else (deployment,)
    if texts := reverts(rows, job.memory.revs, until_ready=left > 0):
        text = f"{seen.message}; {changed_back(texts)}; {job.cluster} stays out of the placement"
        return _failed(job, seen, "reverted", text)
    if now >= job.deadline_at:
        rest = listed([sentence(each) for each in seen.blockers])
        message = f"{seen.message}; not done in time: {rest}. {job.cluster} stays out of the placement"
        return _failed(job, seen, "deadline_exceeded", message)
    changes = (Hold(job.cluster, left),) if left < held else ()
    memory = replace(job.memory, stands_since=None)
    return Decided(Go(memory, seen, blockers=seen.blockers, recheck_at=job.deadline_at), changes)


def touches(workload: Workload, _cluster: ClusterName | None) -> tuple[ClusterName, ...]:
    """Return the clusters whose number may change: the drained one, and those that take over."""
    return tuple(each.cluster for each in workload.deployments)


def _begin(job: Job, workload: Workload, deployment: Deployment) -> Decided[DrainMemory]:
    if _is_drained(deployment):
        message = f"already drained by {deployment.drained_by}"
        return Decided(End(Phase.SUCCEEDED, "already_drained", message, job.memory, NOTHING_DONE))
    fail = refuse(job.params, workload, job.cluster) or _no_room(job, workload)
    if fail is not None:
        return _failed(job, NOTHING_DONE, fail.code, f"{fail.message}; nothing was changed")
    before = {str(each.cluster): each.desired for each in workload.deployments}
    revs = {str(each.cluster): each.desired_rev for each in workload.deployments}
    memory = DrainMemory(is_made=True, before=before, revs=revs)
    waits = Progress(0, deployment.desired, UNIT, "handing over")
    return Decided(Go(memory, waits, recheck_at=job.deadline_at), (TakeOut(deployment.cluster, job.id),))


def _is_drained(deployment: Deployment) -> bool:
    """Tell whether an earlier drain has come to its end; one that failed on its way still holds replicas there."""
    return deployment.drained_by is not None and deployment.held is None


def _no_room(job: Job, workload: Workload) -> Fail | None:
    """Return why the others cannot take over, as far as that can be told beforehand."""
    assert job.cluster is not None, "a drain is about one cluster"
    after = changed(workload, TakeOut(job.cluster, job.id))
    if not after.open_deployments:
        return None  # an outage was asked for
    placed = placement(after)
    if isinstance(placed, Misfit):
        return Fail("no_room", f"the other clusters cannot take over: {misfit_text(placed)}")
    short = [
        f"{each.cluster} would have to run {placed[each.cluster] - each.desired} more and has room for {each.room}"
        + ("" if each.silent_s is None else f" (as of {each.silent_s} s ago, when it was last heard)")
        for each in after.open_deployments
        if each.room is not None and placed[each.cluster] - each.desired > each.room
    ]
    return Fail("no_room", f"the other clusters cannot take over: {'; '.join(short)}") if short else None


def _left(workload: Workload, deployment: Deployment, *, allow_outage: bool) -> int:
    """Return how many replicas have to stay for now: those that the others do not serve yet."""
    held = deployment.held or 0
    is_alone = allow_outage and not workload.open_deployments
    if workload.is_paused or is_alone:
        return 0
    if workload.policy.division is Division.DUPLICATED:
        # Each cluster has its full number, so there is nothing to take over; but one of the others has to serve.
        return 0 if allow_outage or any(each.ready for each in _takers(workload)) else held
    return max(0, min(held, workload.replicas - _taken_over(workload)))


def _takers(workload: Workload) -> tuple[Deployment, ...]:
    """Return the deployments that take over: what runs on an offline cluster by now nobody knows."""
    return tuple(each for each in workload.open_deployments if each.is_online)


def _taken_over(workload: Workload) -> int:
    return sum(min(each.ready, each.desired) for each in _takers(workload))


def _progress(job: Job, workload: Workload, deployment: Deployment, left: int) -> Progress:
    assert job.cluster is not None, "a drain is about one cluster"
    total = job.memory.before.get(job.cluster, 0)
    waits: list[Blocker] = []
    if left:
        subject, ready = f"{job.cluster}/{deployment.ref}", _taken_over(workload)
        waits = [wait for each in _takers(workload) if (wait := waiting(each, until_ready=True)) is not None]
        absent = [str(each.cluster) for each in workload.open_deployments if not each.is_online and each.desired]
        away = f"; not counted, as offline: {', '.join(absent)}" if absent else ""
        waits.append(blocker("taking_over", subject, has=left, ready=ready, needs=workload.replicas, away=away))
    elif (wait := waiting(deployment, until_ready=False)) is not None:
        waits = [wait]
    elif not deployment.is_empty:
        waits = [blocker("leaving", f"{job.cluster}/{deployment.ref}", pods=_pods(deployment))]
    done = max(0, total - left) if not waits or left else total
    return Progress(done, total, UNIT, f"handed over {done} of {total} replicas", tuple(waits))


def _pods(deployment: Deployment) -> int:
    graph, shape = deployment.graph, deployment.shape or {}
    parts = [graph.component(name) for name in shape] if graph is not None else []
    return sum(part.pods for part in parts if part is not None)


def _cancelled(job: Job, workload: Workload, seen: Progress, details: dict[str, Fact]) -> Decided[DrainMemory]:
    """Leave everything where it is: the cluster counts again, and each is held at what it has by now."""
    assert job.cluster is not None, "a drain is about one cluster"
    stays = {
        each.cluster: each.desired
        if each.is_written or each.state is DeploymentState.DRIFTED
        else job.memory.before.get(each.cluster, each.desired)
        for each in workload.deployments
    }
    changes: list[Change] = [TakeIn(job.cluster), *(Hold(cluster, number) for cluster, number in stays.items())]
    text = ", ".join(f"{cluster} at {number}" for cluster, number in stays.items())
    message = f"cancelled: {seen.message}; held until the next scale: {text}"
    return Decided(End(Phase.CANCELLED, "cancelled", message, job.memory, seen, details), tuple(changes))


def _failed(job: Job, seen: Progress, code: str, message: str) -> Decided[DrainMemory]:
    return Decided(End(Phase.FAILED, code, message, job.memory, seen))


KIND = WorkloadKind(
    name="workload.drain",
    version=1,
    title="Drain a workload from a cluster",
    params=DrainParams,
    memory=DrainMemory,
    refuse=refuse,
    decide=decide,
    touches=touches,
    deadline_s=lambda params: params.deadline_s,
    is_per_cluster=True,
    needs_room=True,
)

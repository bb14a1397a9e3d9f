"""Carrying out a change of a workload's number: made once, then waited for on every connected cluster."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias, TypeVar

from hangar.domain.blockers import listed, sentence
from hangar.domain.decision import End, Fact, Fail, Go, Progress
from hangar.domain.kind import param
from hangar.domain.limits import DEADLINE_MAX_S, DEADLINE_MIN_S, NODE_DEADLINE_DEFAULT_S, READY_DEADLINE_DEFAULT_S
from hangar.domain.operation import Phase
from hangar.domain.workloads.kind import Change, Decided, Hold, WorkloadJob
from hangar.domain.workloads.rivals import warnings
from hangar.domain.workloads.rollout import (
    UNIT,
    away,
    changed_back,
    connected,
    followers,
    per_cluster,
    progress,
    reverts,
    standing,
)
from hangar.domain.workloads.workload import DeploymentState, Workload

OVERRIDE = param("go on although an autoscaler or a planner writes the same number; needs a reason")
"""Of a parameter `override`; the reason stands beside the parameters of a request."""

Until: TypeAlias = Literal["written", "ready"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutParams:
    """What a caller may choose of every change that is waited for."""

    override: bool = field(default=False, metadata=OVERRIDE)
    until: Until = field(
        default="written",
        metadata=param("succeed when the connected clusters have written it, or when its replicas are ready there too"),
    )
    deadline_s: int | None = field(
        default=None,
        metadata=param(
            f"fail if it is not done this long after it started; by default {NODE_DEADLINE_DEFAULT_S // 60}m, "
            f"{READY_DEADLINE_DEFAULT_S // 3600}h with until ready",
            least=DEADLINE_MIN_S,
            most=DEADLINE_MAX_S,
        ),
    )


@dataclass(frozen=True, slots=True)
class RolloutMemory:
    """What must not be forgotten: that the change is made, and what each cluster was to have before, as of when.

    `stands_since` is when all of it was there for the first time, in spite of somebody who may put it back.
    """

    is_made: bool = False
    before: dict[str, int] = field(default_factory=dict)
    revs: dict[str, int] = field(default_factory=dict)
    stands_since: datetime | None = None


def deadline_s(params: RolloutParams) -> int:
    """Return after how long an operation with these parameters fails."""
    if params.deadline_s is not None:
        return params.deadline_s
    return READY_DEADLINE_DEFAULT_S if params.until == "ready" else NODE_DEADLINE_DEFAULT_S


R = TypeVar("R", bound=RolloutParams)


def begin(job: WorkloadJob[R, RolloutMemory], workload: Workload, change: Change) -> Decided[RolloutMemory]:
    """Make the change, and remember what was wanted before."""
    before = {str(each.cluster): each.desired for each in workload.deployments}
    revs = {str(each.cluster): each.desired_rev for each in workload.deployments}
    memory = RolloutMemory(is_made=True, before=before, revs=revs)
    waits = Progress(0, len(workload.deployments), UNIT, "placing")
    return Decided(Go(memory, waits, recheck_at=job.deadline_at), (change,))


def follow(
    job: WorkloadJob[R, RolloutMemory], workload: Workload, now: datetime, *, what: str
) -> Decided[RolloutMemory]:
    """Wait until the connected clusters are done; `what` says in a few words what then has happened."""
    until_ready = job.params.until == "ready"
    seen = progress(workload, until_ready=until_ready)
    details: dict[str, Fact] = {
        "clusters": per_cluster(workload.deployments),
        "offline": [str(each) for each in away(workload)],
        "warnings": warnings(workload),
    }
    if not seen.blockers:
        since = job.memory.stands_since or now
        stands = standing(connected(workload), job.memory.revs, since, now, job.deadline_at)
        if stands is not None and job.memory.is_made and not job.is_cancelled:
            memory, waits = replace(job.memory, stands_since=since), replace(seen, blockers=stands.blockers)
            return Decided(Go(memory, waits, blockers=stands.blockers, recheck_at=stands.until))
        message = f"{what}{followers(away(workload))}"
        return Decided(End(Phase.SUCCEEDED, "applied", message, job.memory, seen, details))
    if job.is_cancelled:
        return _withdrawn(job, workload, seen, details)
    if job.memory.is_made and (texts := reverts(connected(workload), job.memory.revs, until_ready=until_ready)):
        message = f"{seen.message}; {changed_back(texts)}"
        return Decided(End(Phase.FAILED, "reverted", message, job.memory, seen, details))
    if now >= job.deadline_at:
        rest = listed([sentence(each) for each in seen.blockers])
        message = f"{seen.message}; not {job.params.until} in time: {rest}. What is wanted stays, and is written later"
        return Decided(End(Phase.FAILED, "deadline_exceeded", message, job.memory, seen, details))
    memory = replace(job.memory, stands_since=None)
    return Decided(Go(memory, seen, blockers=seen.blockers, recheck_at=job.deadline_at))


def refused(job: WorkloadJob[R, RolloutMemory], fail: Fail) -> Decided[RolloutMemory]:
    """End an operation that cannot be carried out after all; nothing was changed."""
    return Decided(End(Phase.FAILED, fail.code, f"{fail.message}; nothing was changed", job.memory, NOTHING_DONE))


NOTHING_DONE = Progress(0, 0, UNIT, "nothing was changed")


def _withdrawn(
    job: WorkloadJob[R, RolloutMemory], workload: Workload, seen: Progress, details: dict[str, Fact]
) -> Decided[RolloutMemory]:
    """Take back what no cluster has written yet, and say what stays as it was asked for."""
    back = [
        each
        for each in workload.deployments
        if not each.is_written
        and each.state is not DeploymentState.DRIFTED
        and each.desired != job.memory.before.get(each.cluster, each.desired)
    ]
    holds = tuple(Hold(each.cluster, job.memory.before[each.cluster]) for each in back)
    taken_back = {each.cluster for each in back}
    stays = [f"{each.cluster} at {each.desired}" for each in workload.deployments if each.cluster not in taken_back]
    withdrawn = [f"{each.cluster} stays at {each.replicas}" for each in holds]
    message = f"cancelled: withdrawn: {', '.join(withdrawn) or 'nothing'}; written: {', '.join(stays) or 'nothing'}"
    details = {**details, "withdrawn": sorted(taken_back)}
    return Decided(End(Phase.CANCELLED, "cancelled", message, job.memory, seen, details), holds)

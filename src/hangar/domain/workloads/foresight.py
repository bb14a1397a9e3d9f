"""Foresight: what an operation on a workload would do if it began now, decided without acting."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from hangar.domain.decision import End, Fail
from hangar.domain.operation import Phase
from hangar.domain.workloads.graph import Role
from hangar.domain.workloads.kind import AnyWorkloadKind, Hold, TakeOut, WorkloadJob, changed
from hangar.domain.workloads.placement import Misfit
from hangar.domain.workloads.rivals import rivals_of, warning
from hangar.domain.workloads.rollout import misfit_text, reach
from hangar.domain.workloads.workload import Deployment, Workload, placement


@dataclass(frozen=True, slots=True)
class Foresight:
    """What would become of a workload: its numbers at the end, what is in the way, and what may come of it."""

    message: str
    after: Workload
    obstructions: tuple[Fail, ...] = ()
    warnings: tuple[str, ...] = ()


def foresee(kind: AnyWorkloadKind, job: WorkloadJob[object, object], workload: Workload, now: datetime) -> Foresight:
    """Return what an operation would do. `workload` has the room of its clusters, where that can be told."""
    decided = kind.decide(job, workload, now)
    outcome = decided.outcome
    if isinstance(outcome, End) and outcome.phase is not Phase.SUCCEEDED:
        return Foresight("nothing would be changed", workload, (Fail(outcome.code, outcome.message),))
    after = workload
    for each in decided.changes:
        after = changed(after, each)
        if isinstance(each, TakeOut):  # at its end nothing is held there any more
            after = changed(after, Hold(each.cluster, None))
    placed = placement(after)
    if isinstance(placed, Misfit):
        return Foresight("nothing would be changed", workload, (Fail("out_of_bounds", misfit_text(placed)),))
    rows = (replace(each, desired=placed[each.cluster]) for each in after.deployments)
    after = replace(after, deployments=tuple(rows)) if decided.changes else workload
    same = "nothing would be changed: "
    message = f"{_numbers(workload)} becomes {_numbers(after)}" if decided.changes else f"{same}{_numbers(after)}"
    return Foresight(message, after, warnings=tuple(_warnings(workload, after)))


def _numbers(workload: Workload) -> str:
    return f"paused ({workload.replicas} when resumed)" if workload.is_paused else reach(workload)


def _warnings(before: Workload, after: Workload) -> Iterator[str]:
    if any(was.drained_by != each.drained_by for was, each in zip(before.deployments, after.deployments, strict=True)):
        yield from _absences(after)
    for was in before.deployments:
        becomes = after.deployment(was.cluster)
        if becomes is not None and (becomes.desired != was.desired or becomes.drained_by != was.drained_by):
            yield from _changes(was, becomes)
    yield from _left_over(before, after)


def _changes(was: Deployment, becomes: Deployment) -> Iterator[str]:
    """Yield what to know of a deployment whose number changes."""
    name = f"{was.ref} on {was.cluster}"
    more = becomes.desired - was.desired
    yield from (warning(was, rival) for rival in rivals_of(was))
    if was.described is None or was.shape is None:
        yield f"{name} is not there, or does not tell what a replica of it is: nothing can be written"
    if not was.is_online:
        yield f"{was.cluster} is offline, and follows when it is back"
    if was.room is not None and more > was.room:
        yield f"{was.cluster} has room for {was.room} of {more} more: pods may wait for GPUs"
    if more < 0:
        ends = "1 replica ends" if more == -1 else f"{-more} replicas end"
        yield f"on {was.cluster} {ends}: a request that outlasts the grace period of its pod is cut off"
    if was.desired and not becomes.desired:
        stays = _frontends(was)
        kept = f"{', '.join(stays)} {'stays' if len(stays) == 1 else 'stay'}, " if stays else ""
        yield f"{name} runs no replica then: {kept}its model leaves /v1/models there, and callers get 404"


def _absences(after: Workload) -> Iterator[str]:
    """Yield the clusters that cannot be seen to take over what a drained one gives away."""
    for each in after.open_deployments:
        if not each.is_online and each.desired:
            yield f"{each.cluster} is offline: what it serves does not count as taken over, and is waited for"


def _left_over(before: Workload, after: Workload) -> Iterator[str]:
    """Yield what to know of the few that serve on."""
    served = [each.cluster for each in before.deployments if each.desired]
    serve = [each for each in after.deployments if each.desired]
    if served and not serve:
        yield f"no cluster serves {after.name} then"
    elif len(serve) == 1 and len(after.deployments) > 1:
        yield f"no other cluster than {serve[0].cluster} serves {after.name} then"
    if sum(each.desired for each in serve) == 1:
        yield f"{after.name} has a single replica then: while it is moved or restarted nothing serves"


def _frontends(deployment: Deployment) -> list[str]:
    graph, shape = deployment.described, deployment.shape or {}
    parts = () if graph is None else graph.components
    return [part.name for part in parts if part.role is Role.FRONTEND and part.name not in shape and part.replicas]

"""foresee_workload: say what an operation on a workload would do; nobody is asked for it, and nothing is written."""

from datetime import timedelta

from sqlalchemy import Connection

from hangar.clock import from_us
from hangar.domain.decision import Fail
from hangar.domain.ids import OperationId
from hangar.domain.workloads.foresight import Foresight, foresee
from hangar.domain.workloads.kind import WorkloadJob
from hangar.domain.workloads.rivals import rivals_of
from hangar.domain.workloads.workload import Deployment
from hangar.hub.present import milliseconds, rival
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.records import find_cluster
from hangar.hub.store.workload_rows import workload_hold
from hangar.hub.usecases.quotas import check_quota
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.rooms import with_room
from hangar.hub.usecases.rules import Rules
from hangar.hub.usecases.submit import check_free, check_request
from hangar.hub.usecases.target_workload import Asked, asked_of
from hangar.wire import plans
from hangar.wire.problems import Problem


def foresee_workload(
    connection: Connection, who: Principal, request: OperationRequest, rules: Rules, now_us: int
) -> plans.WorkloadPlan:
    """Return the plan. What would be refused for the state that things are in is an obstruction of it.

    Raises Problem, as the operation itself: FORBIDDEN, INVALID_VALUE, NOT_FOUND, OPERATION_NOT_ALLOWED.
    """
    require(who, Role.MAINTAINER)
    _, params = check_request(request, rules)
    asked = asked_of(connection, request, params, rules, now_us)
    job: WorkloadJob[object, object] = WorkloadJob(
        id=OperationId("dry run"),
        target=asked.workload.name,
        cluster=asked.cluster,
        params=asked.params,
        memory=asked.kind.memory(),
        actor=who.name,
        reason=request.reason,
        deadline_at=from_us(now_us) + timedelta(seconds=asked.kind.deadline_s(asked.params)),
    )
    workload = with_room(connection, asked.workload, now_us)
    foresight = foresee(asked.kind, job, workload, from_us(now_us))
    obstructions = [*foresight.obstructions, *_refusals(connection, asked, foresight, now_us)]
    return plans.WorkloadPlan(
        type=asked.kind.name,
        target=workload.name,
        cluster=asked.cluster,
        params=params,
        message=foresight.message,
        deployments=[_planned(connection, each, foresight) for each in workload.deployments],
        obstructions=[plans.Obstruction(code=each.code, message=each.message) for each in obstructions],
        warnings=list(foresight.warnings),
        planned_at=milliseconds(now_us),
    )


def _refusals(connection: Connection, asked: Asked, foresight: Foresight, now_us: int) -> list[Fail]:
    """Return what would be refused at the creation of the operation, beside what its kind says."""
    found = []
    try:
        check_free(connection, workload_hold(asked.workload.name), now_us)
    except Problem as problem:
        found.append(Fail(problem.code.code, problem.detail))
    try:
        check_quota(connection, asked.workload, foresight.after)
    except Problem as problem:
        found.append(Fail(problem.code.code, problem.detail))
    return found


def _planned(connection: Connection, deployment: Deployment, foresight: Foresight) -> plans.PlannedDeployment:
    after = foresight.after.deployment(deployment.cluster)
    assert after is not None, "an operation takes no deployment away"
    cluster = find_cluster(connection, deployment.cluster)
    seen_us = None if cluster is None or cluster.online else cluster.seen_us
    return plans.PlannedDeployment(
        cluster=deployment.cluster,
        namespace=deployment.ref.namespace,
        graph=deployment.ref.name,
        before=deployment.desired,
        after=after.desired,
        ready=deployment.ready,
        room=deployment.room,
        online=deployment.is_online,
        last_seen_at=None if seen_us is None else milliseconds(seen_us),
        rivals=[rival(each) for each in rivals_of(deployment)],
    )

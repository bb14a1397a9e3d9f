"""Which workload a request is about, and why what it asks for must not begin."""

from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, select

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.kind import AnyWorkloadKind, changed
from hangar.domain.workloads.workload import Workload
from hangar.hub.store.records import find_cluster
from hangar.hub.store.tables import workloads
from hangar.hub.store.workload_rows import WorkloadRecord, find_workload, workload_hold
from hangar.hub.usecases.quotas import check_quota
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.rooms import weighed
from hangar.hub.usecases.rules import Rules
from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError, Problem, ProblemCode

NEAR_MAX = 5
"""Names of other workloads that an error offers."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an operation on a workload is asked to do, as far as it may begin whatever state things are in."""

    kind: AnyWorkloadKind
    params: object
    workload: Workload
    cluster: ClusterName | None


@dataclass(frozen=True, slots=True)
class WorkloadTarget:
    """What the record of an operation on a workload says of its target."""

    target: str
    cluster: str | None
    hold: str


def workload_target(
    connection: Connection, request: OperationRequest, params: JsonObject, rules: Rules, now_us: int
) -> WorkloadTarget:
    """Return what an operation is about, where it may begin.

    Names are looked up first, then what the clusters allow, then the state. Raises Problem: INVALID_VALUE, NOT_FOUND,
    OPERATION_NOT_ALLOWED, WORKLOAD_PAUSED, RIVAL_OWNER, QUOTA_EXCEEDED.
    """
    asked = asked_of(connection, request, params, rules, now_us)
    workload, cluster = asked.workload, asked.cluster
    if (fail := asked.kind.refuse(asked.params, workload, cluster)) is not None:
        raise problem_of(fail, "params.replicas" if fail.code == "out_of_bounds" else "cluster")
    if (change := asked.kind.asks_for(asked.params, cluster)) is not None:
        check_quota(connection, workload, changed(workload, change))
    return WorkloadTarget(workload.name, cluster, workload_hold(workload.name))


def asked_of(connection: Connection, request: OperationRequest, params: JsonObject, rules: Rules, now_us: int) -> Asked:
    """Return what an operation is asked to do. Raises Problem: INVALID_VALUE, NOT_FOUND, OPERATION_NOT_ALLOWED."""
    kind = rules.workload_kinds[request.type]
    cluster = _cluster_of(request, kind)
    if params.get("override") and not (request.reason or "").strip():
        text = "is missing: whoever overrides an autoscaler or a planner says why"
        raise Problem(ProblemCode.INVALID_VALUE, f"reason: {text}", (FieldError("reason", text),))
    workload = weighed(connection, resolve_workload(connection, request.target, path="target").workload, now_us)
    check_leave(connection, kind.touches(workload, cluster), f"{kind.name} of {workload.name}")
    return Asked(kind, msgspec.convert(params, kind.params), workload, cluster)


def resolve_workload(connection: Connection, name: str, path: str) -> WorkloadRecord:
    """Return a workload by its name. Raises NOT_FOUND, which offers the names there are."""
    found = find_workload(connection, name)
    if found is None:
        names = connection.execute(select(workloads.c.name).order_by(workloads.c.name).limit(NEAR_MAX)).scalars().all()
        there = f"there are {', '.join(names)}" if names else "there is none yet"
        detail = f"there is no workload {name}: {there}; `hgr workload ls` lists all"
        raise Problem(ProblemCode.NOT_FOUND, detail, (FieldError(path, f"there is no workload {name}"),))
    return found


def check_leave(connection: Connection, clusters: tuple[ClusterName, ...], what: str, need: str = "scale") -> None:
    """Raise OPERATION_NOT_ALLOWED, naming them, where clusters do not allow what is needed, `scale` or `deploy`."""
    refusing = []
    for name in clusters:
        cluster = find_cluster(connection, name)
        if cluster is None or need not in cluster.allowed:
            refusing.append(name)
    if refusing:
        values = "`manage`" if need == "deploy" else "`scale` or `manage`"
        detail = (
            f"{what} needs `{need}`, which {', '.join(refusing)} {'does' if len(refusing) == 1 else 'do'} not allow; "
            f"nothing was changed anywhere. It is `cluster.workloads` in the chart of the operator there: {values}. "
            "What Kubernetes does not grant the operator is not allowed either."
        )
        context = {"clusters": list(refusing), "needs": need}
        raise Problem(ProblemCode.OPERATION_NOT_ALLOWED, detail, context=context)


def problem_of(fail: Fail, path: str) -> Problem:
    """Return the refusal of a request by its kind; `path` is the field that would have to be another."""
    if fail.code == "workload_paused":
        return Problem(ProblemCode.WORKLOAD_PAUSED, fail.message)
    if fail.code == "rival_owner":
        return Problem(ProblemCode.RIVAL_OWNER, fail.message)
    return Problem(ProblemCode.INVALID_VALUE, f"{path}: {fail.message}", (FieldError(path, fail.message),))


def _cluster_of(request: OperationRequest, kind: AnyWorkloadKind) -> ClusterName | None:
    if "/" in request.target:
        text = f"{request.target!r} is no name of a workload; give the cluster beside it"
        raise Problem(ProblemCode.INVALID_VALUE, f"target: {text}", (FieldError("target", text),))
    if kind.is_per_cluster and request.cluster is None:
        text = f"is missing: {kind.name} is about one cluster"
        raise Problem(ProblemCode.INVALID_VALUE, f"cluster: {text}", (FieldError("cluster", text),))
    if not kind.is_per_cluster and request.cluster is not None:
        text = f"is not for {kind.name}, which is about all clusters of the workload"
        raise Problem(ProblemCode.INVALID_VALUE, f"cluster: {text}", (FieldError("cluster", text),))
    return None if request.cluster is None else ClusterName(request.cluster)

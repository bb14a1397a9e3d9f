"""workloads: say what is served where, change how many replicas at once, and stop saying so."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import delete, insert, select, update

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName, WorkloadName
from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.kind import SetReplicas, changed
from hangar.domain.workloads.placement import Misfit, Policy
from hangar.domain.workloads.rivals import opposed_numbers
from hangar.domain.workloads.rollout import misfit_text
from hangar.domain.workloads.shape import NoShape, asked_replicas, default_shape, shape_problems
from hangar.domain.workloads.workload import Deployment, Workload, derived
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.records import find_cluster
from hangar.hub.store.tables import deployments, projects, workloads
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.store.workload_rows import (
    find_graph,
    find_workload,
    policy_doc,
    save_workload,
    shape_for,
    workload_hold,
)
from hangar.hub.usecases.conduct import change_workload, tell_desired
from hangar.hub.usecases.quotas import check_quota
from hangar.hub.usecases.show_workloads import show_workload
from hangar.hub.usecases.submit import check_free
from hangar.hub.usecases.target_workload import check_leave, problem_of, resolve_workload
from hangar.kinds.workload_scale import ScaleParams, refuse
from hangar.wire import shown
from hangar.wire.problems import FieldError, Problem, ProblemCode


@dataclass(frozen=True, slots=True)
class Binding:
    """Which graph of a cluster serves a workload there."""

    cluster: str
    namespace: str
    graph: str


@dataclass(frozen=True, slots=True)
class WorkloadRequest:
    """What a workload is to be. `replicas` None leaves the number, or adopts what runs; other Nones change nothing."""

    project: str
    replicas: int | None = None
    policy: Policy | None = None
    shape: Mapping[str, int] | None = None
    bindings: tuple[Binding, ...] | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """A workload as it is now, and whether it is new."""

    workload: shown.Workload
    is_new: bool


def apply_workload(tx: Tx, who: Principal, name: str, request: WorkloadRequest, now_us: int) -> Applied:
    """Add a workload or change it; a graph that is bound is adopted, and written when its number is to be another.

    Raises Problem: FORBIDDEN, INVALID_VALUE with all that is wrong, NOT_FOUND, OPERATION_NOT_ALLOWED, CONFLICT,
    RIVAL_OWNER, QUOTA_EXCEEDED.
    """
    require(who, Role.ADMIN)
    known = find_workload(tx.connection, name)
    _check_project(tx, request.project)
    bindings = request.bindings if request.bindings is not None or known is not None else ()
    if bindings is not None:
        _check_bindings(tx, name, bindings)
    if known is None:
        before = Workload(WorkloadName(name), request.project, 0, request.policy or Policy())
        after = _bound(tx, before, bindings or (), request.shape)
        after = replace(after, replicas=_adopted(after) if request.replicas is None else request.replicas)
    else:
        check_free(tx.connection, workload_hold(name), now_us)
        before = known.workload
        shape = request.shape if request.shape is not None else known.shape
        after = before if bindings is None else _bound(tx, before, bindings, shape)
        after = replace(after, project=request.project, policy=request.policy or before.policy)
        after = after if request.replicas is None else changed(after, SetReplicas(request.replicas))
    _check_shape(after, request.shape)
    check_leave(tx.connection, tuple(each.cluster for each in after.deployments), f"workload {name}")
    placed = derived(after, now_us)
    if isinstance(placed, Misfit):
        raise problem_of(Fail("out_of_bounds", misfit_text(placed)), "replicas")
    if (fail := opposed_numbers(after, {each.cluster: each.desired for each in placed.deployments})) is not None:
        raise problem_of(fail, "replicas")
    check_quota(tx.connection, before, placed)
    _store(tx, who, before, placed, request, is_new=known is None, now_us=now_us)
    tx.stamp()
    return Applied(show_workload(tx.connection, name), known is None)


def set_replicas(tx: Tx, who: Principal, name: str, replicas: int, now_us: int) -> shown.Workload:
    """Change a workload's number at once, without an operation; the same is refused as of a scale.

    Raises Problem: FORBIDDEN, NOT_FOUND, OPERATION_NOT_ALLOWED, WORKLOAD_PAUSED, CONFLICT, RIVAL_OWNER,
    INVALID_VALUE, QUOTA_EXCEEDED.
    """
    require(who, Role.MAINTAINER)
    workload = resolve_workload(tx.connection, name, path="name").workload
    check_leave(tx.connection, tuple(each.cluster for each in workload.open_deployments), f"scaling {name}")
    check_free(tx.connection, workload_hold(name), now_us)
    if (fail := refuse(ScaleParams(replicas=replicas), workload, None)) is not None:
        raise problem_of(fail, "replicas")
    check_quota(tx.connection, workload, changed(workload, SetReplicas(replicas)))
    change_workload(tx, workload, (SetReplicas(replicas),), now_us)
    if replicas != workload.replicas:
        data = {"replicas": replicas, "before": workload.replicas}
        tx.event(EventType.WORKLOAD_SCALED, Subject("workload", name), now_us, actor=who.name, data=data)
    tx.stamp()
    return show_workload(tx.connection, name)


def delete_workload(tx: Tx, who: Principal, name: str, now_us: int) -> None:
    """Forget a workload with all its deployments; their graphs stay as they are, and run on.

    Raises Problem: FORBIDDEN, NOT_FOUND, CONFLICT.
    """
    require(who, Role.ADMIN)
    workload = resolve_workload(tx.connection, name, path="name").workload
    check_free(tx.connection, workload_hold(name), now_us)
    for each in workload.deployments:
        _forget(tx, who, workload, each, now_us)
    tx.connection.execute(delete(workloads).where(workloads.c.name == name))
    tx.event(EventType.WORKLOAD_REMOVED, Subject("workload", name), now_us, actor=who.name)


def delete_deployment(tx: Tx, who: Principal, name: str, cluster: str, now_us: int) -> None:
    """Forget a workload's deployment on one cluster; its graph stays as it is. The others take over its share.

    Raises Problem: FORBIDDEN, NOT_FOUND, CONFLICT, RIVAL_OWNER, INVALID_VALUE where the others cannot take over.
    """
    require(who, Role.ADMIN)
    workload = resolve_workload(tx.connection, name, path="name").workload
    deployment = workload.deployment(ClusterName(cluster))
    if deployment is None:
        names = ", ".join(each.cluster for each in workload.deployments) or "none"
        text = f"{name} has no deployment on {cluster}; it has one on: {names}"
        raise Problem(ProblemCode.NOT_FOUND, text, (FieldError("cluster", text),))
    check_free(tx.connection, workload_hold(name), now_us)
    rest = replace(workload, deployments=tuple(each for each in workload.deployments if each is not deployment))
    placed = derived(rest, now_us)
    if isinstance(placed, Misfit):
        raise problem_of(Fail("no_room", f"the other clusters cannot take over: {misfit_text(placed)}"), "cluster")
    if (fail := opposed_numbers(rest, {each.cluster: each.desired for each in placed.deployments})) is not None:
        raise problem_of(fail, "cluster")
    _forget(tx, who, workload, deployment, now_us)
    save_workload(tx, rest, placed, now_us)
    tell_desired(tx, rest, placed, now_us)


# --- what is asked for ------------------------------------------------------------------------------------------------


def _check_project(tx: Tx, name: str) -> None:
    if tx.connection.execute(select(projects.c.name).where(projects.c.name == name)).first() is None:
        text = f"there is no project {name}: add it with `hgr project apply {name}`"
        raise Problem(ProblemCode.NOT_FOUND, text, (FieldError("project", text),))


def _check_bindings(tx: Tx, name: str, bindings: tuple[Binding, ...]) -> None:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, each in enumerate(bindings):
        path = f"deployments[{index}]"
        if each.cluster in seen:
            errors.append(FieldError(f"{path}.cluster", f"{each.cluster} is given twice"))
        seen.add(each.cluster)
        if find_cluster(tx.connection, each.cluster) is None:
            errors.append(FieldError(f"{path}.cluster", f"there is no cluster {each.cluster}"))
        taken = select(deployments.c.workload).where(
            deployments.c.cluster == each.cluster,
            deployments.c.namespace == each.namespace,
            deployments.c.graph == each.graph,
            deployments.c.workload != name,
        )
        if (other := tx.connection.execute(taken).scalar_one_or_none()) is not None:
            text = f"{each.namespace}/{each.graph} of {each.cluster} is bound to workload {other} already"
            errors.append(FieldError(f"{path}.graph", text))
    if errors:
        detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
        raise Problem(ProblemCode.INVALID_VALUE, detail, tuple(errors))


def _bound(tx: Tx, before: Workload, bindings: tuple[Binding, ...], shape: Mapping[str, int] | None) -> Workload:
    """Return a workload with these deployments: those there were stay as they are, others are made."""
    rows = []
    for each in sorted(bindings, key=lambda binding: binding.cluster):
        ref = GraphRef(each.namespace, each.graph)
        known = before.deployment(ClusterName(each.cluster))
        if known is not None and known.ref == ref:
            rows.append(known)
            continue
        graph = find_graph(tx.connection, each.cluster, ref)
        own = shape_for(graph, shape)
        asked = 0 if graph is None or own is None else asked_replicas(graph, own) or 0
        rows.append(Deployment(ClusterName(each.cluster), ref, own, desired=asked, graph=graph))
    return replace(before, deployments=tuple(rows))


def _adopted(workload: Workload) -> int:
    """Return the number that leaves what runs as it is, as far as the policy lets it."""
    numbers = [each.desired for each in workload.deployments]
    return max(numbers, default=0) if workload.policy.division == "duplicated" else sum(numbers)


def _check_shape(workload: Workload, named: Mapping[str, int] | None) -> None:
    """Raise INVALID_VALUE where a graph that is known does not tell its shape, or the named one is not of it."""
    errors = []
    for each in workload.deployments:
        if each.graph is None:
            continue
        if named is not None:
            errors += [FieldError("shape", problem) for problem in shape_problems(named, each.graph)]
        elif each.shape is None and isinstance(own := default_shape(each.graph), NoShape):
            text = f"{each.ref} of {each.cluster} does not tell what a replica is: {own.why}; name a shape"
            errors.append(FieldError("shape", text))
    if errors:
        detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
        raise Problem(ProblemCode.INVALID_VALUE, detail, tuple(errors))


# --- storing ----------------------------------------------------------------------------------------------------------


def _store(
    tx: Tx, who: Principal, before: Workload, after: Workload, request: WorkloadRequest, *, is_new: bool, now_us: int
) -> None:
    shape = None if request.shape is None else dict(request.shape)
    values = {"project": after.project, "policy": policy_doc(after.policy), "replicas": after.replicas}
    if is_new:
        row = values | {"name": after.name, "shape": shape, "created_us": now_us}
        tx.connection.execute(insert(workloads), row)
    else:
        if shape is not None:
            values["shape"] = shape
        tx.connection.execute(update(workloads).where(workloads.c.name == after.name).values(values))
    tx.touch_workload(after.name)
    kept = {(each.cluster, each.ref) for each in after.deployments}
    known = {(each.cluster, each.ref) for each in before.deployments}
    for each in before.deployments:
        if (each.cluster, each.ref) not in kept:
            _forget(tx, who, before, each, now_us)
    for each in after.deployments:
        if (each.cluster, each.ref) not in known:
            _bind(tx, who, after, each, now_us)
    save_workload(tx, before, after, now_us)
    tell_desired(tx, before, after, now_us)
    type_ = EventType.WORKLOAD_ADDED if is_new else EventType.WORKLOAD_CHANGED
    tx.event(type_, Subject("workload", after.name), now_us, actor=who.name, data={"replicas": after.replicas})


def _bind(tx: Tx, who: Principal, workload: Workload, deployment: Deployment, now_us: int) -> None:
    row = {
        "workload": workload.name,
        "cluster": deployment.cluster,
        "namespace": deployment.ref.namespace,
        "graph": deployment.ref.name,
        "shape": None if deployment.shape is None else dict(deployment.shape),
        "desired": deployment.desired,
        "desired_rev": deployment.desired_rev,
    }
    tx.connection.execute(insert(deployments), row)
    tx.touch_deployment(workload.name, deployment.cluster)
    subject = Subject("deployment", workload.name, deployment.cluster)
    tx.event(EventType.DEPLOYMENT_ADDED, subject, now_us, actor=who.name, data={"graph": str(deployment.ref)})


def _forget(tx: Tx, who: Principal, workload: Workload, deployment: Deployment, now_us: int) -> None:
    here = (deployments.c.workload == workload.name, deployments.c.cluster == deployment.cluster)
    tx.connection.execute(delete(deployments).where(*here))
    tx.wake_cluster(deployment.cluster)
    subject = Subject("deployment", workload.name, deployment.cluster)
    data = {"graph": str(deployment.ref), "fate": "left as it is"}
    tx.event(EventType.DEPLOYMENT_REMOVED, subject, now_us, actor=who.name, data=data)

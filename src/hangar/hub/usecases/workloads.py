"""workloads: say what is served where, and change how many replicas at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import insert, select, update

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName, WorkloadName
from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.kind import SetReplicas, changed
from hangar.domain.workloads.placement import Misfit, Policy
from hangar.domain.workloads.rivals import opposed_numbers
from hangar.domain.workloads.rollout import misfit_text
from hangar.domain.workloads.shape import asked_replicas
from hangar.domain.workloads.template import template_graph
from hangar.domain.workloads.workload import Deployment, Workload, derived
from hangar.hub.principals import Principal, Role, require
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
from hangar.hub.usecases.check_workloads import Binding, check_asked, check_shape
from hangar.hub.usecases.conduct import change_workload, tell_desired
from hangar.hub.usecases.quotas import check_quota
from hangar.hub.usecases.removals import forget, release
from hangar.hub.usecases.rooms import weighed
from hangar.hub.usecases.show_workloads import show_workload
from hangar.hub.usecases.submit import check_free
from hangar.hub.usecases.target_workload import check_leave, problem_of, resolve_workload
from hangar.kinds.workload_scale import ScaleParams, refuse
from hangar.wire import shown
from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError, Problem, ProblemCode


@dataclass(frozen=True, slots=True)
class WorkloadRequest:
    """What a workload is to be. `replicas` None leaves the number, or adopts what runs; other Nones change nothing.

    Graphs that are bound and not there are created from `template`.
    """

    project: str
    replicas: int | None = None
    policy: Policy | None = None
    shape: Mapping[str, int] | None = None
    bindings: tuple[Binding, ...] | None = None
    template: JsonObject | None = None


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
    check_asked(tx.connection, name, None if known is None else known.workload, bindings, request.template)
    if known is None:
        before = Workload(WorkloadName(name), request.project, 0, request.policy or Policy())
        after = _bound(tx, before, bindings or (), request.shape, request.template)
        after = replace(after, replicas=_adopted(after) if request.replicas is None else request.replicas)
    else:
        check_free(tx.connection, workload_hold(name), now_us)
        before = known.workload
        shape, template = request.shape or known.shape, request.template or known.template
        after = before
        if bindings is not None or request.template is not None:
            bound = tuple(map(_binding, before.deployments)) if bindings is None else bindings
            after = _bound(tx, before, bound, shape, template)
        after = _reshaped(after, request.shape, now_us)
        after = replace(after, project=request.project, policy=request.policy or before.policy)
        after = after if request.replicas is None else changed(after, SetReplicas(request.replicas))
    check_shape(after, request.shape)
    check_leave(tx.connection, tuple(each.cluster for each in after.deployments), f"workload {name}")
    check_leave(tx.connection, _creating(before, after), f"creating the graphs of workload {name}", "deploy")
    placed = derived(weighed(tx.connection, after, now_us), now_us)
    if isinstance(placed, Misfit):
        raise problem_of(Fail("out_of_bounds", misfit_text(placed)), "replicas")
    if (fail := opposed_numbers(after, placed, reshaped=_reshaped_in(before, after))) is not None:
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
    workload = weighed(tx.connection, resolve_workload(tx.connection, name, path="name").workload, now_us)
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


# --- what is asked for ------------------------------------------------------------------------------------------------


def _check_project(tx: Tx, name: str) -> None:
    if tx.connection.execute(select(projects.c.name).where(projects.c.name == name)).first() is None:
        text = f"there is no project {name}: add it with `hgr project apply {name}`"
        raise Problem(ProblemCode.NOT_FOUND, text, (FieldError("project", text),))


def _bound(
    tx: Tx,
    before: Workload,
    bindings: tuple[Binding, ...],
    shape: Mapping[str, int] | None,
    template: JsonObject | None,
) -> Workload:
    """Return a workload with these deployments: those there were stay as they are, others are made.

    A graph that is not there is planned from the template; one that is there is never made anew.
    """
    rows = []
    for each in sorted(bindings, key=lambda binding: binding.cluster):
        ref = GraphRef(each.namespace, each.graph)
        known = before.deployment(ClusterName(each.cluster))
        if known is None or known.ref != ref:
            known = Deployment(ClusterName(each.cluster), ref, graph=find_graph(tx.connection, each.cluster, ref))
            own = shape_for(known.graph, shape)
            asked = 0 if known.graph is None or own is None else asked_replicas(known.graph, own) or 0
            known = replace(known, shape=own, desired=asked)
        if known.graph is None and template is not None:
            planned = template_graph(template, ref)
            known = replace(known, planned=planned, shape=shape_for(planned, shape))
        rows.append(known)
    return replace(before, deployments=tuple(rows))


def _binding(deployment: Deployment) -> Binding:
    return Binding(deployment.cluster, deployment.ref.namespace, deployment.ref.name)


def _reshaped(workload: Workload, named: Mapping[str, int] | None, now_us: int) -> Workload:
    """Return a workload of which a replica is another one now: its numbers mean other counts, to be written anew."""
    if named is None:
        return workload
    rows = []
    for each in workload.deployments:
        own = shape_for(each.described, named)
        is_other = own is not None and each.shape != own
        rev = max(now_us, each.desired_rev + 1)
        rows.append(replace(each, shape=own, desired_rev=rev) if is_other else each)
    return replace(workload, deployments=tuple(rows))


def _reshaped_in(before: Workload, after: Workload) -> set[ClusterName]:
    """Return the clusters on which a replica is another one now."""
    known = {(each.cluster, each.ref): each.shape for each in before.deployments}
    return {each.cluster for each in after.deployments if known.get((each.cluster, each.ref), each.shape) != each.shape}


def _creating(before: Workload, after: Workload) -> tuple[ClusterName, ...]:
    """Return the clusters on which graphs are to be created that were not to be before."""
    known = {(each.cluster, each.ref) for each in before.deployments if each.planned is not None}
    return tuple(
        each.cluster
        for each in after.deployments
        if each.graph is None and each.planned is not None and (each.cluster, each.ref) not in known
    )


def _adopted(workload: Workload) -> int:
    """Return the number that leaves what runs as it is, as far as the policy lets it."""
    numbers = [each.desired for each in workload.deployments]
    return max(numbers, default=0) if workload.policy.division == "duplicated" else sum(numbers)


# --- storing ----------------------------------------------------------------------------------------------------------


def _store(
    tx: Tx, who: Principal, before: Workload, after: Workload, request: WorkloadRequest, *, is_new: bool, now_us: int
) -> None:
    shape = None if request.shape is None else dict(request.shape)
    given = {"shape": shape, "template": request.template}
    values = {"project": after.project, "policy": policy_doc(after.policy), "replicas": after.replicas}
    if is_new:
        tx.connection.execute(insert(workloads), values | given | {"name": after.name, "created_us": now_us})
    else:
        values |= {name: value for name, value in given.items() if value is not None}
        tx.connection.execute(update(workloads).where(workloads.c.name == after.name).values(values))
    tx.touch_workload(after.name)
    kept = {(each.cluster, each.ref) for each in after.deployments}
    known = {(each.cluster, each.ref) for each in before.deployments}
    for each in before.deployments:
        if (each.cluster, each.ref) not in kept:
            forget(tx, who, before, each, now_us)
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
        "templated": deployment.planned is not None,
    }
    release(tx, deployment.cluster, deployment.ref)
    tx.connection.execute(insert(deployments), row)
    tx.touch_deployment(workload.name, deployment.cluster)
    subject = Subject("deployment", workload.name, deployment.cluster)
    tx.event(EventType.DEPLOYMENT_ADDED, subject, now_us, actor=who.name, data={"graph": str(deployment.ref)})

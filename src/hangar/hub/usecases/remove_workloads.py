"""remove_workloads: stop serving a workload, everywhere or on one cluster; graphs that are Wingsmith's go with it."""

from dataclasses import replace

from sqlalchemy import delete

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.placement import Misfit
from hangar.domain.workloads.rivals import opposed_numbers
from hangar.domain.workloads.rollout import misfit_text
from hangar.domain.workloads.workload import Deployment, Workload, derived
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.tables import workloads
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.store.workload_rows import save_workload, workload_hold
from hangar.hub.usecases.conduct import tell_desired
from hangar.hub.usecases.removals import REMOVING, fate_of, forget
from hangar.hub.usecases.rooms import weighed
from hangar.hub.usecases.submit import check_free
from hangar.hub.usecases.target_workload import check_leave, problem_of, resolve_workload
from hangar.wire import shown
from hangar.wire.problems import FieldError, Problem, ProblemCode


def delete_workload(tx: Tx, who: Principal, name: str, now_us: int, *, keep: bool = False) -> shown.Removal:
    """Forget a workload with all its deployments; graphs that Wingsmith created are removed, unless they are kept.

    Raises Problem: FORBIDDEN, NOT_FOUND, OPERATION_NOT_ALLOWED, CONFLICT.
    """
    require(who, Role.ADMIN)
    workload = resolve_workload(tx.connection, name, path="name").workload
    _check_removals(tx, workload, workload.deployments, keep=keep)
    check_free(tx.connection, workload_hold(name), now_us)
    graphs = [_forget(tx, who, workload, each, now_us, keep=keep) for each in workload.deployments]
    tx.connection.execute(delete(workloads).where(workloads.c.name == name))
    tx.event(EventType.WORKLOAD_REMOVED, Subject("workload", name), now_us, actor=who.name)
    return shown.Removal(workload=name, cluster=None, graphs=graphs)


def delete_deployment(
    tx: Tx, who: Principal, name: str, cluster: str, now_us: int, *, keep: bool = False, allow_outage: bool = False
) -> shown.Removal:
    """Forget a workload's deployment on one cluster; its graph goes as with `delete_workload`.

    The others take over its share, for which their clusters' leave is needed. Raises Problem: FORBIDDEN, NOT_FOUND,
    OPERATION_NOT_ALLOWED, CONFLICT, RIVAL_OWNER, INVALID_VALUE where the others cannot take over, or there is none
    and `allow_outage` is not given.
    """
    require(who, Role.ADMIN)
    workload = resolve_workload(tx.connection, name, path="name").workload
    deployment = workload.deployment(ClusterName(cluster))
    if deployment is None:
        names = ", ".join(each.cluster for each in workload.deployments) or "none"
        text = f"{name} has no deployment on {cluster}; it has one on: {names}"
        raise Problem(ProblemCode.NOT_FOUND, text, (FieldError("cluster", text),))
    _check_removals(tx, workload, (deployment,), keep=keep)
    rest = replace(workload, deployments=tuple(each for each in workload.deployments if each is not deployment))
    placed = derived(weighed(tx.connection, rest, now_us), now_us)
    if isinstance(placed, Misfit):
        raise problem_of(Fail("no_room", f"the other clusters cannot take over: {misfit_text(placed)}"), "cluster")
    check_leave(tx.connection, _changing(rest, placed), f"deleting {name} from {cluster}")
    check_free(tx.connection, workload_hold(name), now_us)
    if not allow_outage and (fail := _outage(workload, deployment)) is not None:
        raise problem_of(fail, "query.allow_outage")
    if (fail := opposed_numbers(rest, placed)) is not None:
        raise problem_of(fail, "cluster")
    graph = _forget(tx, who, workload, deployment, now_us, keep=keep)
    save_workload(tx, rest, placed, now_us)
    tell_desired(tx, rest, placed, now_us)
    return shown.Removal(workload=name, cluster=cluster, graphs=[graph])


def _check_removals(tx: Tx, workload: Workload, rows: tuple[Deployment, ...], *, keep: bool) -> None:
    removing = tuple(each.cluster for each in rows if fate_of(each, keep=keep) in REMOVING)
    check_leave(tx.connection, removing, f"removing the graphs of {workload.name} (keep leaves them)", "deploy")


def _changing(before: Workload, after: Workload) -> tuple[ClusterName, ...]:
    known = {each.cluster: each.desired for each in before.deployments}
    return tuple(each.cluster for each in after.deployments if each.desired != known[each.cluster])


def _outage(workload: Workload, deployment: Deployment) -> Fail | None:
    others = [each for each in workload.open_deployments if each is not deployment]
    if others or workload.is_paused or deployment.drained_by is not None or not deployment.desired:
        return None
    where = f"{deployment.cluster} is the only cluster that serves {workload.name}"
    return Fail("only_cluster", f"{where}: to delete it there, give allow_outage")


def _forget(
    tx: Tx, who: Principal, workload: Workload, deployment: Deployment, now_us: int, *, keep: bool
) -> shown.RemovedGraph:
    return forget(tx, who, workload, deployment, now_us, fate=fate_of(deployment, keep=keep))

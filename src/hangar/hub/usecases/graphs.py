"""graphs: what operators tell of the graphs on their clusters, and what follows for the workloads bound to them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec
from sqlalchemy import delete, select, update

from hangar.domain.workloads.graph import Unwritten
from hangar.domain.workloads.rollout import drifters
from hangar.domain.workloads.workload import Deployment, DeploymentState
from hangar.hub.store.dialects import insert_or_replace
from hangar.hub.store.tables import deployments, graphs, workloads
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.store.workload_rows import SELECT_WORKLOAD, WorkloadRecord, read_workloads, save_workload, shape_for
from hangar.hub.usecases.conduct import conduct_workloads
from hangar.hub.usecases.removals import Key, note_unremoved, settle_removals
from hangar.hub.usecases.rules import Rules
from hangar.wire.operator import GraphDoc, InventoryRequest


def take_graphs(tx: Tx, cluster: str, request: InventoryRequest, rules: Rules, now_us: int) -> None:
    """Take in the graphs that an inventory tells of; carry on what waits for them."""
    if request.graphs is None:
        return
    told = {(each.namespace, each.name): each for each in request.graphs}
    gone = {(each.namespace, each.name) for each in request.gone_graphs}
    known = _known(tx, cluster, None if request.complete else {name for _, name in (*told, *gone)})
    if request.complete:
        gone = known.keys() - told.keys()
    changed = {key: doc for key, doc in told.items() if known.get(key) != doc}
    settle_removals(tx, cluster, told, gone, now_us, is_complete=request.complete)
    gone &= known.keys()
    if not changed and not gone:
        return
    bound = _bound(tx, cluster, [*changed, *gone])
    before = _read(tx, bound)
    for (namespace, name), doc in changed.items():
        values = {"cluster": cluster, "namespace": namespace, "name": name}
        values |= {"doc": msgspec.to_builtins(doc), "updated_us": now_us}  # type: ignore[dict-item]
        tx.connection.execute(insert_or_replace(tx.dialect, graphs, tuple(values)), values)
        tx.touch_graph(cluster, namespace, name)
    for namespace, name in sorted(gone):
        here = (graphs.c.cluster == cluster, graphs.c.namespace == namespace, graphs.c.name == name)
        tx.connection.execute(delete(graphs).where(*here))
    _want_anew(tx, cluster, gone)
    after = _read(tx, bound)
    if _learn_shapes(tx, after.values(), now_us):
        after = _read(tx, bound)
    for name, record in before.items():
        _tell(tx, cluster, record, after[name], now_us)
    conduct_workloads(tx, bound, rules, now_us)


def take_unwritten(tx: Tx, cluster: str, request: InventoryRequest, rules: Rules, now_us: int) -> None:
    """Note why what is desired is not written, as an operator tells it; what waits for that then says so too."""
    if request.unwritten is None:
        return
    told = {(each.namespace, each.graph): Unwritten(each.rev, each.code, each.why) for each in request.unwritten}
    concerned = []
    for row in tx.connection.execute(select(deployments).where(deployments.c.cluster == cluster)).all():
        unwritten = told.get((row.namespace, row.graph))
        stored = None if unwritten is None else msgspec.to_builtins(unwritten)
        if stored != row.unwritten:
            here = (deployments.c.workload == row.workload, deployments.c.cluster == cluster)
            tx.connection.execute(update(deployments).where(*here).values(unwritten=stored))
            concerned.append(row.workload)
    note_unremoved(tx, cluster, [each for each in request.unwritten if each.rev == 0])
    conduct_workloads(tx, concerned, rules, now_us)


def _want_anew(tx: Tx, cluster: str, gone: Iterable[Key]) -> None:
    """Wake the operator for graphs that are gone and are made from templates: it is told to create them again."""
    lost = set(gone)
    templated = select(deployments).where(deployments.c.cluster == cluster, deployments.c.templated)
    for row in tx.connection.execute(templated).all():
        if (row.namespace, row.graph) in lost:
            tx.touch_deployment(row.workload, cluster)


def _known(tx: Tx, cluster: str, names: set[str] | None) -> Mapping[Key, GraphDoc]:
    """Return the graphs that the hub knows of; with `names` those alone, in whichever namespace."""
    statement = select(graphs).where(graphs.c.cluster == cluster)
    if names is not None:
        statement = statement.where(graphs.c.name.in_(names))
    rows = tx.connection.execute(statement)
    return {(row.namespace, row.name): msgspec.convert(row.doc, GraphDoc) for row in rows}


def _bound(tx: Tx, cluster: str, keys: Iterable[Key]) -> list[str]:
    wanted = set(keys)
    rows = tx.connection.execute(select(deployments).where(deployments.c.cluster == cluster))
    return sorted({row.workload for row in rows if (row.namespace, row.graph) in wanted})


def _read(tx: Tx, names: list[str]) -> Mapping[str, WorkloadRecord]:
    """Return workloads by their names, read together: an inventory may be about hundreds of them."""
    found = read_workloads(tx.connection, SELECT_WORKLOAD.where(workloads.c.name.in_(names)))
    return {each.workload.name: each for each in found}


def _learn_shapes(tx: Tx, records: Iterable[WorkloadRecord], now_us: int) -> bool:
    """Note what a replica is on graphs that are seen for the first time; it stays so, whatever is edited later.

    Tell whether there were any.
    """
    has_learnt = False
    for record in records:
        workload = record.workload
        learnt = tuple(_with_shape(each, record.shape, now_us) for each in workload.deployments)
        if learnt != workload.deployments:
            save_workload(tx, workload, replace(workload, deployments=learnt), now_us)
            has_learnt = True
    return has_learnt


def _with_shape(deployment: Deployment, named: Mapping[str, int] | None, now_us: int) -> Deployment:
    if deployment.shape is not None or (shape := shape_for(deployment.graph, named)) is None:
        return deployment
    return replace(deployment, shape=shape, desired_rev=max(now_us, deployment.desired_rev + 1))


def _tell(tx: Tx, cluster: str, before: WorkloadRecord, after: WorkloadRecord, now_us: int) -> None:
    """Say what became of a deployment: its desired state is written, or somebody else changed it."""
    for each in after.workload.deployments:
        was = before.workload.deployment(each.cluster)
        if each.cluster != cluster or was is None:
            continue
        subject = Subject("deployment", after.workload.name, cluster)
        if each.is_written and not was.is_written:
            data = {"graph": str(each.ref), "desired": each.desired}
            tx.event(EventType.DEPLOYMENT_WRITTEN, subject, now_us, data=data)
        if each.state is DeploymentState.DRIFTED and was.state is not DeploymentState.DRIFTED:
            data = {"graph": str(each.ref), "by": ", ".join(drifters(each))}
            tx.event(EventType.DEPLOYMENT_DRIFTED, subject, now_us, data=data)

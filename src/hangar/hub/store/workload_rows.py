"""Workloads as values: read with their deployments and graphs, and written back where they changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, and_, bindparam, select, update

from hangar.domain.ids import ClusterName, OperationId, WorkloadName
from hangar.domain.workloads.graph import Component, Counts, Graph, GraphRef, Rival, RivalKind, Role, Unwritten
from hangar.domain.workloads.placement import Bounds, Division, Policy, Weighing
from hangar.domain.workloads.shape import NoShape, default_shape, shape_problems
from hangar.domain.workloads.template import template_graph
from hangar.domain.workloads.workload import Deployment, Workload
from hangar.hub.store.records import Query, StoredRow
from hangar.hub.store.tables import (
    IS_GRAPH_OF_DEPLOYMENT,
    IS_OPEN,
    clusters,
    deployments,
    graphs,
    operations,
    workloads,
)
from hangar.hub.store.tx import Tx
from hangar.wire.operator import ComponentDoc, GraphDoc, JsonObject, RivalDoc
from hangar.wire.shown import ClusterBounds
from hangar.wire.shown import Policy as PolicyDoc


@dataclass(frozen=True, slots=True)
class WorkloadRecord:
    """A workload with what only the record knows of it; `operation` is the open one that holds it."""

    workload: Workload
    shape: dict[str, int] | None
    template: JsonObject | None
    paused_us: int | None
    created_us: int
    rev: int
    operation: str | None


def workload_hold(name: str) -> str:
    """Return what an operation on a workload has for itself."""
    return f"workload:{name}"


SELECT_WORKLOAD: Query = select(workloads, operations.c.id.label("operation")).outerjoin(
    operations, and_(operations.c.hold == "workload:" + workloads.c.name, IS_OPEN)
)
"""What `read_workloads` reads; use cases add their own conditions."""

SELECT_DEPLOYMENT: Query = (
    select(deployments, clusters.c.online, graphs.c.doc)
    .outerjoin(clusters, clusters.c.name == deployments.c.cluster)
    .outerjoin(graphs, IS_GRAPH_OF_DEPLOYMENT)
    .order_by(deployments.c.workload, deployments.c.cluster)
)
_UPDATE_WORKLOAD = update(workloads).where(workloads.c.name == bindparam("wanted"))
_UPDATE_DEPLOYMENT = update(deployments).where(
    deployments.c.workload == bindparam("of_workload"), deployments.c.cluster == bindparam("on_cluster")
)


def find_workload(connection: Connection, name: str) -> WorkloadRecord | None:
    """Return a workload by its name, or None."""
    return next(iter(read_workloads(connection, SELECT_WORKLOAD.where(workloads.c.name == name))), None)


def read_workloads(connection: Connection, query: Query) -> list[WorkloadRecord]:
    """Return the workloads of a query on SELECT_WORKLOAD, in its order, each with its deployments by cluster."""
    rows = connection.execute(query).all()
    names = [row.name for row in rows]
    found: dict[str, list[Deployment]] = {name: [] for name in names}
    templates = {row.name: row.template for row in rows}
    for row in connection.execute(SELECT_DEPLOYMENT.where(deployments.c.workload.in_(names))):
        found[row.workload].append(_deployment_of(row, templates[row.workload]))
    return [_record_of(row, found[row.name]) for row in rows]


def save_workload(tx: Tx, before: Workload, after: Workload, now_us: int) -> None:
    """Write what differs, and say whom it concerns: the operators of clusters where something else is desired."""
    if (before.replicas, before.is_paused) != (after.replicas, after.is_paused):
        values: dict[str, int | None] = {"replicas": after.replicas}
        if before.is_paused != after.is_paused:
            values["paused_us"] = now_us if after.is_paused else None
        tx.connection.execute(_UPDATE_WORKLOAD, values | {"wanted": after.name})
        tx.touch_workload(after.name)
    known = {each.cluster: each for each in before.deployments}
    for each in after.deployments:
        if known.get(each.cluster) == each:
            continue
        row = {"drained_by": each.drained_by, "held": each.held, "shape": _plain(each.shape)}
        row |= {"desired": each.desired, "desired_rev": each.desired_rev, "templated": each.planned is not None}
        keys = {"of_workload": after.name, "on_cluster": each.cluster}
        tx.connection.execute(_UPDATE_DEPLOYMENT, row | keys)
        tx.touch_deployment(after.name, each.cluster)


def find_graph(connection: Connection, cluster: str, ref: GraphRef) -> Graph | None:
    """Return a graph of a cluster as its operator told it, None where it told of none."""
    here = (graphs.c.cluster == cluster, graphs.c.namespace == ref.namespace, graphs.c.name == ref.name)
    doc = connection.execute(select(graphs.c.doc).where(*here)).scalar_one_or_none()
    return None if doc is None else graph_of(msgspec.convert(doc, GraphDoc))


def graph_of(doc: GraphDoc) -> Graph:
    """Return a graph as its operator told it; the version it was read at stays with the operator."""
    return Graph(
        ref=GraphRef(doc.namespace, doc.name),
        uid=doc.uid,
        version="",
        api_version=doc.api_version,
        components=tuple(_component_of(each) for each in doc.components),
        applied_rev=doc.applied_rev,
        is_observed=doc.is_observed,
        rollout=doc.rollout,
        unready=doc.unready,
        is_paused=doc.is_paused,
        is_ours=doc.is_ours,
        rivals=tuple(rival for each in doc.rivals if (rival := _rival_of(each)) is not None),
        drains=tuple(map(OperationId, doc.drains)),
    )


def shape_for(graph: Graph | None, named: Mapping[str, int] | None) -> dict[str, int] | None:
    """Return what a replica is on a graph: the named shape where it is one of this graph, or the graph's own."""
    if graph is None:
        return None
    if named is not None:
        return None if shape_problems(named, graph) else dict(named)
    shape = default_shape(graph)
    return None if isinstance(shape, NoShape) else dict(shape)


def policy_doc(policy: Policy) -> PolicyDoc:
    """Return a policy as it is stored and shown."""
    return PolicyDoc(
        division=policy.division.value,
        weighing=policy.weighing.value,
        weights={str(cluster): weight for cluster, weight in policy.weights.items()},
        min=policy.default_bounds.least,
        max=policy.default_bounds.most,
        bounds={str(cluster): ClusterBounds(min=each.least, max=each.most) for cluster, each in policy.bounds.items()},
    )


def policy_of(document: JsonObject) -> Policy:
    """Return a policy from its stored form."""
    doc = msgspec.convert(document, PolicyDoc)
    return Policy(
        division=Division(doc.division),
        weighing=Weighing(doc.weighing),
        weights={ClusterName(cluster): weight for cluster, weight in doc.weights.items()},
        bounds={ClusterName(cluster): Bounds(each.min, each.max) for cluster, each in doc.bounds.items()},
        default_bounds=Bounds(doc.min, doc.max),
    )


def _record_of(row: StoredRow, found: Iterable[Deployment]) -> WorkloadRecord:
    workload = Workload(
        name=WorkloadName(row.name),
        project=row.project,
        replicas=row.replicas,
        policy=policy_of(row.policy),
        is_paused=row.paused_us is not None,
        deployments=tuple(found),
    )
    return WorkloadRecord(workload, row.shape, row.template, row.paused_us, row.created_us, row.rev, row.operation)


def _deployment_of(row: StoredRow, template: JsonObject | None) -> Deployment:
    ref = GraphRef(row.namespace, row.graph)
    return Deployment(
        cluster=ClusterName(row.cluster),
        ref=ref,
        shape=row.shape,
        desired=row.desired,
        desired_rev=row.desired_rev,
        drained_by=None if row.drained_by is None else OperationId(row.drained_by),
        held=row.held,
        graph=None if row.doc is None else graph_of(msgspec.convert(row.doc, GraphDoc)),
        is_online=bool(row.online),
        told=None if row.unwritten is None else msgspec.convert(row.unwritten, Unwritten),
        planned=template_graph(template, ref) if row.templated and template is not None else None,
    )


def _component_of(doc: ComponentDoc) -> Component:
    has_counts = doc.counted is not None and doc.updated is not None and doc.ready is not None
    return Component(
        name=doc.name,
        role=Role(doc.role) if doc.role in set(Role) else Role.OTHER,
        replicas=doc.replicas,
        node_count=doc.node_count,
        gpus_per_pod=doc.gpus_per_pod,
        has_adapter=doc.has_adapter,
        counts=Counts(doc.counted or 0, doc.updated or 0, doc.ready or 0) if has_counts else None,
        pods=doc.pods,
        written_by=doc.written_by,
    )


def _rival_of(doc: RivalDoc) -> Rival | None:
    """Return a rival; of a kind that only a newer operator knows, None."""
    return Rival(RivalKind(doc.kind), doc.name, doc.component) if doc.kind in set(RivalKind) else None


def _plain(shape: Mapping[str, int] | None) -> dict[str, int] | None:
    return None if shape is None else dict(shape)

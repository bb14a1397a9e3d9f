"""Rows as values: what use cases read of operations, clusters and nodes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import Connection, Row, Select, and_, bindparam, select

from hangar.domain.operation import Phase
from hangar.hub.store.tables import IS_OPEN, clusters, feed, nodes, operations, runs
from hangar.wire.operator import JsonObject, NodeDoc

StoredRow: TypeAlias = Row[Any]
"""A row as it comes: its columns are known by name only, which is why records are made of it at once."""

Query: TypeAlias = Select[Any]
"""A select whose rows are StoredRows."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the feed: a revision, and the incarnation of the feed that it belongs to."""

    incarnation: str
    rev: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRecord:
    """An operation with its run, and how its cluster's operator is.

    `attempts`, `epoch` and `report_n` are 0 before it runs. `version` grows with every change of what users see.
    """

    id: str
    type: str
    kind_version: int
    phase: Phase
    cluster: str | None
    target: str
    target_uid: str | None
    hold: str
    params: JsonObject
    reason: str | None
    created_by: str
    created_us: int
    started_us: int | None = None
    finished_us: int | None = None
    deadline_us: int | None = None
    cancel_by: str | None = None
    cancel_us: int | None = None
    result: JsonObject | None = None
    progress: JsonObject | None = None
    memory: JsonObject | None = None
    epoch: int = 0
    attempts: int = 0
    report_n: int = 0
    is_operator_online: bool
    operator_seen_us: int | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRecord:
    """A cluster and the session of its operator; `session` is None when nobody holds it."""

    name: str
    uid: str | None
    created_us: int
    epoch: int
    session: str | None
    incarnation: str | None
    unclean_epoch: int
    standbys: list[str]
    online: bool
    seen_us: int | None
    protocol: int | None
    kinds: dict[str, int]
    allowed: list[str]
    kubernetes_version: str | None
    operator_version: str | None
    has_autoscaler: bool
    inventory_n: int
    rev: int


@dataclass(frozen=True, slots=True)
class Target:
    """Which node a name means, and its cluster."""

    cluster: ClusterRecord
    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A node as its operator told it; `operation` is the open operation that holds it."""

    cluster: str
    doc: NodeDoc
    updated_us: int
    rev: int
    operation: str | None


def node_hold(cluster: str, uid: str) -> str:
    """Return what an operation on a node has for itself."""
    return f"node:{cluster}:{uid}"


SELECT_OPERATION: Query = (
    select(
        operations,
        runs.c.epoch,
        runs.c.attempts,
        runs.c.report_n,
        runs.c.memory,
        runs.c.progress,
        runs.c.rev.label("run_rev"),
        clusters.c.online,
        clusters.c.seen_us,
    )
    .outerjoin(runs, runs.c.op_id == operations.c.id)
    .outerjoin(clusters, clusters.c.name == operations.c.cluster)
)
"""What `operation_of` reads; use cases add their own conditions."""

SELECT_CLUSTER: Query = select(clusters)
"""What `cluster_of` reads."""

SELECT_NODE: Query = select(
    nodes.c.cluster, nodes.c.doc, nodes.c.updated_us, nodes.c.rev, operations.c.id.label("operation")
).outerjoin(
    operations,
    and_(operations.c.hold == "node:" + nodes.c.cluster + ":" + nodes.c.uid, IS_OPEN),
)
"""What `node_of` reads."""


# Statements that run with every request are built once: building takes longer than running them.
_FIND_OPERATION = SELECT_OPERATION.where(operations.c.id == bindparam("wanted"))
_FIND_CLUSTER = SELECT_CLUSTER.where(clusters.c.name == bindparam("wanted"))
_FIND_NODES = SELECT_NODE.where(nodes.c.name == bindparam("wanted")).order_by(nodes.c.cluster)
_FIND_NODES_IN = _FIND_NODES.where(nodes.c.cluster == bindparam("wanted_cluster"))
_FIND_TARGETS = (
    select(nodes.c.name.label("node_name"), nodes.c.uid.label("node_uid"), clusters)
    .join(clusters, clusters.c.name == nodes.c.cluster)
    .where(nodes.c.name == bindparam("wanted"))
    .order_by(clusters.c.name)
)
_FIND_TARGETS_IN = _FIND_TARGETS.where(nodes.c.cluster == bindparam("wanted_cluster"))
_FEED_POSITION = select(feed.c.incarnation, feed.c.rev)


def operation_of(row: StoredRow) -> OperationRecord:
    """Return the record of a row of SELECT_OPERATION."""
    return OperationRecord(
        id=row.id,
        type=row.type,
        kind_version=row.kind_version,
        phase=Phase(row.phase),
        cluster=row.cluster,
        target=row.target,
        target_uid=row.target_uid,
        hold=row.hold,
        params=row.params,
        reason=row.reason,
        created_by=row.created_by,
        created_us=row.created_us,
        started_us=row.started_us,
        finished_us=row.finished_us,
        deadline_us=row.deadline_us,
        cancel_by=row.cancel_by,
        cancel_us=row.cancel_us,
        result=row.result,
        progress=row.final_progress if row.progress is None else row.progress,
        memory=row.memory,
        epoch=row.epoch or 0,
        attempts=row.attempts or 0,
        report_n=row.report_n or 0,
        is_operator_online=bool(row.online),
        operator_seen_us=row.seen_us,
        version=max(row.rev, row.run_rev or 0),
    )


def cluster_of(row: StoredRow) -> ClusterRecord:
    """Return the record of a row of SELECT_CLUSTER."""
    return ClusterRecord(**row._mapping)


def node_of(row: StoredRow) -> NodeRecord:
    """Return the record of a row of SELECT_NODE."""
    return NodeRecord(
        cluster=row.cluster,
        doc=msgspec.convert(row.doc, NodeDoc),
        updated_us=row.updated_us,
        rev=row.rev,
        operation=row.operation,
    )


def find_operation(connection: Connection, id_: str) -> OperationRecord | None:
    """Return an operation by its id, or None."""
    row = connection.execute(_FIND_OPERATION, {"wanted": id_}).first()
    return None if row is None else operation_of(row)


def find_cluster(connection: Connection, name: str) -> ClusterRecord | None:
    """Return a cluster by its name, or None."""
    row = connection.execute(_FIND_CLUSTER, {"wanted": name}).first()
    return None if row is None else cluster_of(row)


def find_nodes(connection: Connection, name: str, cluster: str | None) -> list[NodeRecord]:
    """Return the nodes of a name, in one cluster or in all, in the order of the clusters' names."""
    return [node_of(row) for row in _named(connection, _FIND_NODES, _FIND_NODES_IN, name, cluster)]


def find_targets(connection: Connection, name: str, cluster: str | None) -> list[Target]:
    """Return the nodes of a name with their clusters, in one cluster or in all, in the order of the clusters' names."""
    return [_target_of(row) for row in _named(connection, _FIND_TARGETS, _FIND_TARGETS_IN, name, cluster)]


def _named(
    connection: Connection, everywhere: Query, there: Query, name: str, cluster: str | None
) -> Iterable[StoredRow]:
    if cluster is None:
        return connection.execute(everywhere, {"wanted": name})
    return connection.execute(there, {"wanted": name, "wanted_cluster": cluster})


def _target_of(row: StoredRow) -> Target:
    columns = dict(row._mapping)
    name, uid = columns.pop("node_name"), columns.pop("node_uid")
    return Target(ClusterRecord(**columns), name, uid)


def feed_position(connection: Connection) -> Position:
    """Return where the feed is now."""
    row = connection.execute(_FEED_POSITION).one()
    return Position(row.incarnation, row.rev)


def feed_rev(connection: Connection) -> int:
    """Return the newest revision of the feed."""
    return feed_position(connection).rev

"""inventory: what a cluster looks like, as its operator tells it."""

from dataclasses import dataclass
from typing import TypeAlias

import msgspec
from sqlalchemy import delete, or_, select, update

from hangar.domain.limits import UNCORDON_ATTRIBUTED_S
from hangar.hub.store.dialects import insert_or_replace
from hangar.hub.store.records import SELECT_OPERATION, OperationRecord, operation_of
from hangar.hub.store.tables import clusters, nodes, operations
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.fence import held_cluster
from hangar.hub.usecases.graphs import take_graphs, take_unwritten
from hangar.hub.usecases.rules import Rules, us
from hangar.wire.operator import InventoryAnswer, InventoryRequest, NodeDoc

JsonValue: TypeAlias = str | bool | None


@dataclass(frozen=True, slots=True)
class _Told:
    """One inventory being taken in."""

    tx: Tx
    cluster: str
    now_us: int

    def event(
        self, type_: EventType, node: str, *, op: str | None = None, actor: str | None = None, **data: JsonValue
    ) -> None:
        self.tx.event(type_, Subject("node", node, self.cluster), self.now_us, op_id=op, actor=actor, data=data)


def inventory(tx: Tx, cluster_name: str, request: InventoryRequest, rules: Rules, now_us: int) -> InventoryAnswer:
    """Take in the nodes and graphs that changed, or all of them; tell of flips. Raises FENCED.

    A number that was seen changes nothing; one that skips, or a part of what was never told whole, asks for a resync.
    """
    cluster = held_cluster(tx.connection, cluster_name, request.session, request.epoch)
    if request.n <= cluster.inventory_n:
        return InventoryAnswer(resync=False)
    if not request.complete and (cluster.inventory_n == 0 or request.n != cluster.inventory_n + 1):
        return InventoryAnswer(resync=True)
    told = _Told(tx, cluster_name, now_us)
    known = _known(tx, cluster_name, None if request.complete else [each.name for each in request.nodes])
    for doc in request.nodes:
        _take(told, known.get(doc.name), doc)
    gone = set(known) - {each.name for each in request.nodes} if request.complete else set(request.gone)
    _drop(told, sorted(gone))
    take_unwritten(tx, cluster_name, request, rules, now_us)
    take_graphs(tx, cluster_name, request, rules, now_us)
    tx.connection.execute(update(clusters).where(clusters.c.name == cluster_name).values(inventory_n=request.n))
    return InventoryAnswer(resync=False)


def _known(tx: Tx, cluster: str, names: list[str] | None) -> dict[str, NodeDoc]:
    statement = select(nodes.c.name, nodes.c.doc).where(nodes.c.cluster == cluster)
    if names is not None:
        statement = statement.where(nodes.c.name.in_(names))
    return {name: msgspec.convert(doc, NodeDoc) for name, doc in tx.connection.execute(statement)}


def _take(told: _Told, before: NodeDoc | None, after: NodeDoc) -> None:
    if before == after:
        return
    values = {
        "cluster": told.cluster,
        "name": after.name,
        "uid": after.uid,
        "ready": after.ready,
        "cordoned": after.cordoned,
        "doc": msgspec.to_builtins(after),
        "updated_us": told.now_us,
    }
    told.tx.connection.execute(insert_or_replace(told.tx.dialect, nodes, tuple(values)), values)
    told.tx.touch_node(told.cluster, after.name)
    if before is None:
        told.event(EventType.NODE_ADDED, after.name, is_cordoned=after.cordoned)
    elif before.uid != after.uid:
        told.event(
            EventType.NODE_REPLACED,
            after.name,
            uid_before=before.uid,
            uid=after.uid,
            was_cordoned=before.cordoned,
            is_cordoned=after.cordoned,
        )
    _tell_flips(told, before, after)


def _tell_flips(told: _Told, before: NodeDoc | None, after: NodeDoc) -> None:
    if before is None or before.uid != after.uid:
        return
    cordon = after.cordon
    if after.cordoned and not before.cordoned:
        told.event(
            EventType.NODE_CORDONED,
            after.name,
            op=cordon.operation if cordon else None,
            actor=(cordon.actor or cordon.manager) if cordon else None,
            reason=cordon.reason if cordon else None,
        )
    if before.cordoned and not after.cordoned:
        uncordon = _uncordon_behind(told, after)
        told.event(
            EventType.NODE_UNCORDONED,
            after.name,
            op=uncordon.id if uncordon else None,
            actor=uncordon.created_by if uncordon else cordon.manager if cordon else None,
        )
    if before.ready != after.ready:
        told.event(EventType.NODE_READY if after.ready else EventType.NODE_NOT_READY, after.name)


def _uncordon_behind(told: _Told, node: NodeDoc) -> OperationRecord | None:
    """Return the uncordon of ours that made a node schedulable, if it was one."""
    newest = (
        SELECT_OPERATION.where(
            operations.c.target == node.name,
            operations.c.cluster == told.cluster,
            operations.c.target_uid == node.uid,
            or_(
                operations.c.finished_us.is_(None),
                operations.c.finished_us >= told.now_us - us(UNCORDON_ATTRIBUTED_S),
            ),
        )
        .order_by(operations.c.id.desc())
        .limit(1)
    )
    row = told.tx.connection.execute(newest).first()
    record = None if row is None else operation_of(row)
    return record if record is not None and record.type == "node.uncordon" else None


def _drop(told: _Told, names: list[str]) -> None:
    for name in names:
        gone = delete(nodes).where(nodes.c.cluster == told.cluster, nodes.c.name == name).returning(nodes.c.uid)
        if told.tx.connection.execute(gone).first() is not None:
            told.event(EventType.NODE_REMOVED, name)

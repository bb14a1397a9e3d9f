"""removals: let go of deployments, and have the graphs removed that Wingsmith created for them."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from sqlalchemy import ColumnElement, Connection, bindparam, delete, exists, func, select, update

from hangar.domain.limits import CREATION_UNSEEN_S
from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.workload import Deployment, Workload
from hangar.hub.principals import Principal
from hangar.hub.store.dialects import insert_or_replace
from hangar.hub.store.records import StoredRow
from hangar.hub.store.tables import deployments, removals
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.rules import us
from hangar.wire import shown
from hangar.wire.operator import GraphDoc, RemovalDoc, UnwrittenDoc

Key: TypeAlias = tuple[str, str]
"""A graph's namespace and name."""

_OF_CLUSTER = removals.c.cluster == bindparam("wanted")
_SENT = removals.c.uid.is_not(None)

HAS_REMOVALS = exists().where(_OF_CLUSTER, _SENT)
NEWEST_REMOVAL_REV = select(func.max(removals.c.rev)).where(_OF_CLUSTER)


class Fate(StrEnum):
    """What becomes of a graph whose deployment is deleted."""

    REMOVED = "removed"  # Wingsmith created it
    UNSEEN = "unseen"  # its operator may have created it, and has not told of it: removed if so
    ADOPTED = "adopted"  # it was there before
    KEPT = "kept"  # that was asked for
    MISSING = "missing"  # it is not there


SENTENCES: Mapping[Fate, str] = MappingProxyType(
    {
        Fate.REMOVED: "is removed",
        Fate.UNSEEN: "is removed, if it has been created",
        Fate.ADOPTED: "was adopted and stays as it is",
        Fate.KEPT: "is kept as it is",
        Fate.MISSING: "was not there",
    }
)
REMOVING = (Fate.REMOVED, Fate.UNSEEN)


def fate_of(deployment: Deployment, *, keep: bool) -> Fate:
    """Return what becomes of the graph of a deployment that is deleted."""
    if deployment.graph is None:
        if deployment.planned is None or not deployment.desired_rev:
            return Fate.MISSING
        return Fate.KEPT if keep else Fate.UNSEEN
    if not deployment.graph.is_ours:
        return Fate.ADOPTED
    return Fate.KEPT if keep else Fate.REMOVED


def forget(
    tx: Tx, who: Principal, workload: Workload, deployment: Deployment, now_us: int, *, fate: Fate = Fate.KEPT
) -> shown.RemovedGraph:
    """Delete a deployment, have its graph removed where that is its fate, and return what becomes of it."""
    here = (deployments.c.workload == workload.name, deployments.c.cluster == deployment.cluster)
    tx.connection.execute(delete(deployments).where(*here))
    tx.wake_cluster(deployment.cluster)
    ref = deployment.ref
    if fate in REMOVING:
        values = {"cluster": deployment.cluster, "namespace": ref.namespace, "name": ref.name}
        uid = None if deployment.graph is None else deployment.graph.uid
        row = values | {"uid": uid, "why": None, "workload": workload.name, "created_us": now_us}
        tx.connection.execute(insert_or_replace(tx.dialect, removals, tuple(row)), row)
        tx.touch_removal(deployment.cluster, ref.namespace, ref.name)
    subject = Subject("deployment", workload.name, deployment.cluster)
    left = "removed" if fate in REMOVING else "left as it is"
    tx.event(EventType.DEPLOYMENT_REMOVED, subject, now_us, actor=who.name, data={"graph": str(ref), "fate": left})
    later = "; its operator is offline, and does so when it is back"
    return shown.RemovedGraph(
        cluster=deployment.cluster,
        namespace=ref.namespace,
        graph=ref.name,
        fate=fate.value,
        message=f"graph {ref} on {deployment.cluster} {SENTENCES[fate]}"
        + (later if fate in REMOVING and not deployment.is_online else ""),
    )


def release(tx: Tx, cluster: str, ref: GraphRef) -> None:
    """Let a graph be that was to be removed if it turned up: it is bound again."""
    tx.connection.execute(delete(removals).where(*_here(cluster, (ref.namespace, ref.name))))


def removals_of(connection: Connection, cluster: str) -> list[RemovalDoc]:
    """Return the graphs that a cluster's operator is to remove."""
    rows = connection.execute(
        select(removals).where(_OF_CLUSTER, _SENT).order_by(removals.c.namespace, removals.c.name), {"wanted": cluster}
    )
    return [RemovalDoc(namespace=row.namespace, graph=row.name, uid=row.uid) for row in rows]


def settle_removals(
    tx: Tx, cluster: str, told: Mapping[Key, GraphDoc], gone: Collection[Key], now_us: int, *, is_complete: bool
) -> None:
    """Forget the removals of graphs that are gone, and learn which graph it is where that was not known."""
    for row in tx.connection.execute(select(removals).where(removals.c.cluster == cluster)).all():
        key = (row.namespace, row.name)
        here = _here(cluster, key)
        doc = told.get(key)
        if doc is None:
            if _is_over(row, now_us, is_gone=key in gone or is_complete):
                tx.connection.execute(delete(removals).where(*here))
        elif row.uid is None and doc.is_ours:
            tx.connection.execute(update(removals).where(*here).values(uid=doc.uid))
            tx.touch_removal(cluster, *key)
        elif row.uid != doc.uid:  # another one has taken the name
            tx.connection.execute(delete(removals).where(*here))


def note_unremoved(tx: Tx, cluster: str, unwritten: Collection[UnwrittenDoc]) -> None:
    """Note why graphs are not removed yet, as an operator tells it."""
    told = {(each.namespace, each.graph): f"{each.why} ({each.code})" for each in unwritten}
    for row in tx.connection.execute(select(removals).where(removals.c.cluster == cluster)).all():
        key = (row.namespace, row.name)
        if told.get(key) != row.why:
            tx.connection.execute(update(removals).where(*_here(cluster, key)).values(why=told.get(key)))


def _is_over(row: StoredRow, now_us: int, *, is_gone: bool) -> bool:
    if row.uid is not None:
        return is_gone
    return bool(now_us - row.created_us >= us(CREATION_UNSEEN_S))


def _here(cluster: str, key: Key) -> tuple[ColumnElement[bool], ...]:
    return (removals.c.cluster == cluster, removals.c.namespace == key[0], removals.c.name == key[1])

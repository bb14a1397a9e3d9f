"""Whether an operator is there: the one place that turns a cluster online or offline, and says so."""

from sqlalchemy import select, update

from hangar.hub.present import milliseconds
from hangar.hub.store.records import ClusterRecord
from hangar.hub.store.tables import IS_OPEN, clusters, operations
from hangar.hub.store.tx import EventType, Subject, Tx


def turn_online(tx: Tx, cluster: ClusterRecord, now_us: int) -> None:
    """Say that a cluster's operator is heard; nothing happens where that is known."""
    if cluster.online:
        return
    _turn(tx, cluster, is_online=True)
    tx.event(EventType.CLUSTER_ONLINE, Subject("cluster", cluster.name, cluster.name), now_us)


def turn_offline(tx: Tx, cluster: ClusterRecord, now_us: int, *, has_released: bool) -> None:
    """Say that a cluster's operator signed off or fell silent; nothing happens where that is known."""
    if not cluster.online:
        return
    _turn(tx, cluster, is_online=False)
    seen_at = None if cluster.seen_us is None else milliseconds(cluster.seen_us)
    data = {"released": has_released, "last_seen_at": seen_at}
    tx.event(EventType.CLUSTER_OFFLINE, Subject("cluster", cluster.name, cluster.name), now_us, data=data)


def _turn(tx: Tx, cluster: ClusterRecord, *, is_online: bool) -> None:
    tx.connection.execute(update(clusters).where(clusters.c.name == cluster.name).values(online=is_online))
    tx.touch_cluster(cluster.name)
    # Open operations tell how their operator is, so they change with it.
    opened = select(operations.c.id).where(operations.c.cluster == cluster.name, IS_OPEN)
    for (id_,) in tx.connection.execute(opened).all():
        tx.touch_operation(id_, cluster.name)

"""release_session: an operator ends cleanly, so that the next need not wait for the lease."""

from sqlalchemy import update

from hangar.hub.store.tables import clusters
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.fence import held_cluster
from hangar.hub.usecases.presence import turn_offline
from hangar.wire.operator import ReleaseRequest


def release_session(tx: Tx, cluster_name: str, request: ReleaseRequest, now_us: int) -> None:
    """End a session: its operator has nothing in flight and sends nothing more. Raises FENCED."""
    cluster = held_cluster(tx.connection, cluster_name, request.session, request.epoch)
    tx.connection.execute(update(clusters).where(clusters.c.name == cluster_name).values(session=None, seen_us=now_us))
    turn_offline(tx, cluster, now_us, has_released=True)

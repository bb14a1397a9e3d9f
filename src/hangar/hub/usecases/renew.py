"""renew: leases of operators that are well and have nothing to hear, written together.

A sync of its own transaction each would make a thousand idle operators the hub's main work.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, exists, func, select, tuple_, update

from hangar.hub.store.tables import IS_OPEN, clusters, operations
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.desired import HAS_DESIRED
from hangar.hub.usecases.foresee import HAS_QUESTIONS
from hangar.hub.usecases.removals import HAS_REMOVALS
from hangar.hub.usecases.sync import jobs_of
from hangar.wire.operator import SyncAnswer, SyncRequest

_HELD = (clusters.c.name, clusters.c.session, clusters.c.epoch)
_RENEW = (
    update(clusters)
    .where(tuple_(*_HELD).in_(bindparam("held", expanding=True)), clusters.c.online)
    .values(seen_us=bindparam("now_us"))
    .returning(*_HELD)
)
_IN_CLUSTER = operations.c.cluster == clusters.c.name
_LEASE = select(
    clusters.c.session,
    clusters.c.epoch,
    clusters.c.online,
    select(func.max(operations.c.rev)).where(_IN_CLUSTER).correlate(clusters).scalar_subquery().label("newest_rev"),
    exists().where(_IN_CLUSTER, IS_OPEN).correlate(clusters).label("has_open"),
    HAS_QUESTIONS.label("has_questions"),
    HAS_DESIRED.label("has_desired"),
    HAS_REMOVALS.label("has_removals"),
).where(clusters.c.name == bindparam("wanted"))


@dataclass(frozen=True, slots=True)
class Renewal:
    """That the operator with a session was heard."""

    cluster: str
    session: str
    epoch: int


def answer_if_online(connection: Connection, cluster: str, request: SyncRequest, now_us: int) -> SyncAnswer | None:
    """Return a sync's answer where nothing but its lease is to be written: its session holds a cluster that is online.

    None: the sync has to be a transaction. The answer counts once the renewal has been written.
    """
    lease = connection.execute(_LEASE, {"wanted": cluster}).first()
    if lease is None or (lease.session, lease.epoch) != (request.session, request.epoch) or not lease.online:
        return None
    if not lease.has_open and not lease.has_questions and not lease.has_desired and not lease.has_removals:
        return SyncAnswer(seen=lease.newest_rev or 0, jobs=[])
    return jobs_of(connection, cluster, now_us)


def renew_leases(tx: Tx, renewals: Collection[Renewal], now_us: int) -> set[Renewal]:
    """Write renewals down, as of now; return those whose sessions still hold clusters that are online."""
    held = [(each.cluster, each.session, each.epoch) for each in renewals]
    return {Renewal(*row) for row in tx.connection.execute(_RENEW, {"held": held, "now_us": now_us})}

"""renew: leases of operators that are well and have nothing to hear, written together once a second.

A sync of its own transaction each would make a thousand idle operators the hub's main work. What is safe about it:
only a lease that is fresh is renewed this way, so no hand-over can be under way, and whoever judges a lease writes
down first what is known of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, exists, func, select, update

from hangar.hub.store.tables import IS_OPEN, clusters, operations
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.foresee import HAS_QUESTIONS
from hangar.hub.usecases.rules import Rules, us
from hangar.hub.usecases.sync import jobs_of
from hangar.wire.operator import SyncAnswer, SyncRequest

_RENEW = (
    update(clusters)
    .where(
        clusters.c.name == bindparam("cluster"),
        clusters.c.session == bindparam("held_session"),
        clusters.c.epoch == bindparam("held_epoch"),
        clusters.c.seen_us < bindparam("now_us"),
    )
    .values(seen_us=bindparam("now_us"))
)
_IN_CLUSTER = operations.c.cluster == clusters.c.name
_LEASE = select(
    clusters.c.session,
    clusters.c.epoch,
    clusters.c.online,
    clusters.c.seen_us,
    select(func.max(operations.c.rev)).where(_IN_CLUSTER).correlate(clusters).scalar_subquery().label("newest_rev"),
    exists().where(_IN_CLUSTER, IS_OPEN).correlate(clusters).label("has_open"),
    HAS_QUESTIONS.label("has_questions"),
).where(clusters.c.name == bindparam("wanted"))


@dataclass(frozen=True, slots=True)
class Renewal:
    """That the operator with a session was heard."""

    cluster: str
    session: str
    epoch: int
    seen_us: int


def answer_if_fresh(
    connection: Connection, cluster: str, request: SyncRequest, known: Renewal | None, rules: Rules, now_us: int
) -> SyncAnswer | None:
    """Return a sync's answer where its lease is fresh and its cluster online; the caller then keeps the renewal.

    `known` is the renewal that is not yet written. None: the sync has to be a transaction.
    """
    lease = connection.execute(_LEASE, {"wanted": cluster}).first()
    if lease is None or (lease.session, lease.epoch) != (request.session, request.epoch) or not lease.online:
        return None
    is_known = known is not None and (known.session, known.epoch) == (request.session, request.epoch)
    seen_us = max(lease.seen_us, known.seen_us) if known is not None and is_known else lease.seen_us
    if now_us - seen_us >= us(rules.lease_s):
        return None
    if not lease.has_open and not lease.has_questions:
        return SyncAnswer(seen=lease.newest_rev or 0, jobs=[])
    return jobs_of(connection, cluster, now_us)


def renew_leases(tx: Tx, renewals: Iterable[Renewal]) -> None:
    """Write renewals down; those of sessions that are over change nothing."""
    parameters = [
        {"cluster": each.cluster, "held_session": each.session, "held_epoch": each.epoch, "now_us": each.seen_us}
        for each in renewals
    ]
    if parameters:
        tx.connection.execute(_RENEW, parameters)

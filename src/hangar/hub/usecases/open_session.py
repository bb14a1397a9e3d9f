"""open_session: grant an operator the right to act for its cluster, or tell it who has it."""

import math

from sqlalchemy import update

from hangar.domain.limits import STANDBY_RETRY_S, STANDBYS_REMEMBERED_MAX
from hangar.hub.present import milliseconds
from hangar.hub.store.records import SELECT_CLUSTER, ClusterRecord, cluster_of, find_cluster
from hangar.hub.store.tables import clusters
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.presence import turn_online
from hangar.hub.usecases.recover import UNKNOWN, end_unheld
from hangar.hub.usecases.rules import SECOND_US, Rules, us
from hangar.wire.operator import PROTOCOL_VERSION, SessionGrant, SessionRequest
from hangar.wire.problems import FieldError, Problem, ProblemCode


def open_session(
    tx: Tx, cluster_name: str, request: SessionRequest, rules: Rules, now_us: int
) -> SessionGrant | Problem:
    """Grant a session and raise the cluster's epoch, or return STANDBY: its event stays, so it is not raised.

    A cluster changes hands after a clean release, or when its holder has been silent for the lease and the margin: the
    epoch fences reports, not evictions, so the holder must have stopped by its own clock. The same incarnation may
    always open anew. After a restore nobody knows who it was, so everybody waits, and what the first one to come does
    not hold is ended. Raises Problem: INVALID_VALUE for another protocol, NOT_FOUND, WRONG_CLUSTER.
    """
    _check_protocol(request)
    cluster = find_cluster(tx.connection, cluster_name)
    if cluster is None:
        raise Problem(ProblemCode.NOT_FOUND, f"there is no cluster {cluster_name}: it was removed from the hub")
    if cluster.uid is not None and cluster.uid != request.cluster_uid:
        raise Problem(
            ProblemCode.WRONG_CLUSTER,
            f"{cluster_name} is the cluster whose kube-system namespace has the UID {cluster.uid}, and this operator "
            f"runs in {request.cluster_uid}: give it the token of its own cluster",
        )
    _check_other_names(tx, cluster, request, rules, now_us)
    waits_s = _must_wait_s(cluster, request, rules, now_us)
    if waits_s > 0:
        return _stand_by(tx, cluster, request, rules, waits_s, now_us)
    return _grant(tx, cluster, request, rules, now_us)


def _check_protocol(request: SessionRequest) -> None:
    if request.protocol != PROTOCOL_VERSION:
        error = FieldError("protocol", f"is {request.protocol}; this hub speaks {PROTOCOL_VERSION}")
        raise Problem(ProblemCode.INVALID_VALUE, f"protocol: {error.message}: upgrade the older of the two", (error,))


def _check_other_names(tx: Tx, cluster: ClusterRecord, request: SessionRequest, rules: Rules, now_us: int) -> None:
    # Two operators on one cluster would each spend its budgets as if alone, whatever names they go by.
    same_uid = SELECT_CLUSTER.where(clusters.c.uid == request.cluster_uid, clusters.c.name != cluster.name)
    for row in tx.connection.execute(same_uid).all():
        other = cluster_of(row)
        if _must_wait_s(other, request, rules, now_us) > 0:
            raise Problem(
                ProblemCode.WRONG_CLUSTER,
                f"the cluster {request.cluster_uid} is operated under the name {other.name} already: stop that "
                f"operator before you operate it as {cluster.name}",
            )


def _must_wait_s(cluster: ClusterRecord, request: SessionRequest, rules: Rules, now_us: int) -> float:
    if cluster.session is None or cluster.incarnation == request.incarnation:
        return 0.0
    assert cluster.seen_us is not None, "a session that was granted has been seen"
    free_us = max(cluster.seen_us + us(rules.hand_over_after_s), rules.listening_since_us())
    return (free_us - now_us) / SECOND_US


def _stand_by(
    tx: Tx, cluster: ClusterRecord, request: SessionRequest, rules: Rules, waits_s: float, now_us: int
) -> Problem:
    assert cluster.seen_us is not None, "a session that was granted has been seen"
    if request.incarnation not in cluster.standbys:
        standbys = [*cluster.standbys, request.incarnation][-STANDBYS_REMEMBERED_MAX:]
        tx.connection.execute(update(clusters).where(clusters.c.name == cluster.name).values(standbys=standbys))
        data = {"holder": cluster.incarnation, "standby": request.incarnation}
        tx.event(EventType.CLUSTER_STANDBY, Subject("cluster", cluster.name, cluster.name), now_us, data=data)
    seen_at = milliseconds(cluster.seen_us)
    return Problem(
        ProblemCode.STANDBY,
        f"{cluster.name} is held by the operator {cluster.incarnation} (epoch {cluster.epoch}), last heard at "
        f"{seen_at}; it is free when that one signs off, or has been silent for {rules.hand_over_after_s:g} s",
        context={
            "holder": {"incarnation": cluster.incarnation, "epoch": cluster.epoch, "last_seen_at": seen_at},
            "free_in_s": math.ceil(waits_s),
        },
        retry_after_s=math.ceil(min(waits_s, STANDBY_RETRY_S)),
    )


def _grant(tx: Tx, cluster: ClusterRecord, request: SessionRequest, rules: Rules, now_us: int) -> SessionGrant:
    epoch = cluster.epoch + 1
    session = f"ses_{cluster.name}_{epoch}"
    was_taken_over = cluster.session is not None and cluster.incarnation not in (request.incarnation, UNKNOWN)
    tx.connection.execute(
        update(clusters)
        .where(clusters.c.name == cluster.name)
        .values(
            uid=request.cluster_uid,
            epoch=epoch,
            session=session,
            incarnation=request.incarnation,
            unclean_epoch=cluster.epoch if was_taken_over else cluster.unclean_epoch,
            standbys=[],
            seen_us=now_us,
            protocol=request.protocol,
            kinds=request.kinds,
            allowed=sorted(set(request.allowed)),
            kubernetes_version=request.kubernetes_version or None,
            operator_version=request.operator_version or None,
            has_autoscaler=request.has_autoscaler,
            inventory_n=0,
        )
    )
    tx.touch_cluster(cluster.name)
    turn_online(tx, cluster, now_us)
    if cluster.incarnation == UNKNOWN:
        end_unheld(tx, cluster.name, request.held, now_us)
    return SessionGrant(
        session=session,
        epoch=epoch,
        lease_s=rules.lease_s,
        stop_after_s=rules.stop_after_s,
        sync_wait_s=rules.sync_wait_s,
    )

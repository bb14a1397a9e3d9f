"""sync: an operator says that it is there, and hears of all its open operations."""

from sqlalchemy import Connection, bindparam, func, select, update

from hangar.hub.store.records import SELECT_OPERATION, OperationRecord, operation_of
from hangar.hub.store.tables import IS_OPEN, IS_OPERATED, clusters, operations
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.desired import NEWEST_DESIRED_REV, desired_of
from hangar.hub.usecases.fence import held_cluster
from hangar.hub.usecases.foresee import NEWEST_QUESTION_REV, open_questions
from hangar.hub.usecases.presence import turn_online
from hangar.hub.usecases.removals import NEWEST_REMOVAL_REV, removals_of
from hangar.hub.usecases.rules import SECOND_US
from hangar.wire.operator import JobDoc, SyncAnswer, SyncRequest

_RENEW = update(clusters).where(clusters.c.name == bindparam("wanted")).values(seen_us=bindparam("now_us"))
_NEWEST_OPERATION_REV = select(func.max(operations.c.rev)).where(operations.c.cluster == bindparam("wanted"))
_NEWEST_REVS = select(
    _NEWEST_OPERATION_REV.scalar_subquery().label("of_operations"),
    NEWEST_QUESTION_REV.scalar_subquery().label("of_questions"),
    NEWEST_DESIRED_REV.scalar_subquery().label("of_desired"),
    NEWEST_REMOVAL_REV.scalar_subquery().label("of_removals"),
)
_OPEN_OF_CLUSTER = SELECT_OPERATION.where(operations.c.cluster == bindparam("wanted"), IS_OPEN, IS_OPERATED).order_by(
    operations.c.id
)


def sync(tx: Tx, cluster_name: str, request: SyncRequest, now_us: int) -> SyncAnswer:
    """Renew the lease and return the cluster's open operations. Raises FENCED."""
    cluster = held_cluster(tx.connection, cluster_name, request.session, request.epoch)
    tx.connection.execute(_RENEW, {"wanted": cluster_name, "now_us": now_us})
    turn_online(tx, cluster, now_us)
    tx.stamp()
    return jobs_of(tx.connection, cluster_name, now_us)


def read_jobs(connection: Connection, cluster_name: str, request: SyncRequest, now_us: int) -> SyncAnswer:
    """Return the open operations again, without renewing: for a sync that was parked. Raises FENCED."""
    held_cluster(connection, cluster_name, request.session, request.epoch)
    return jobs_of(connection, cluster_name, now_us)


def jobs_of(connection: Connection, cluster_name: str, now_us: int) -> SyncAnswer:
    """Return a cluster's open operations, oldest first, and what is desired there, with the revision of both."""
    # The revision is read first: a change in between is then told once more, never missed.
    newest = connection.execute(_NEWEST_REVS, {"wanted": cluster_name}).one()
    rows = connection.execute(_OPEN_OF_CLUSTER, {"wanted": cluster_name})
    return SyncAnswer(
        seen=max(each or 0 for each in newest),
        jobs=[_job(operation_of(row), now_us) for row in rows],
        questions=[] if newest.of_questions is None else open_questions(connection, cluster_name),
        desired=[] if newest.of_desired is None else desired_of(connection, cluster_name),
        removals=[] if newest.of_removals is None else removals_of(connection, cluster_name),
    )


def _job(record: OperationRecord, now_us: int) -> JobDoc:
    deadline_us = record.deadline_us
    return JobDoc(
        id=record.id,
        type=record.type,
        kind_version=record.kind_version,
        target=record.target,
        target_uid=record.target_uid or "",
        phase=record.phase.value,
        params=record.params,
        memory=record.memory,
        reason=record.reason,
        created_by=record.created_by,
        created_us=record.created_us,
        started_us=record.started_us,
        deadline_s=float(record.params["deadline_s"]),
        # Negative once it has passed: what is done at the deadline has to know how long ago that was.
        remaining_s=None if deadline_us is None else (deadline_us - now_us) / SECOND_US,
        cancel=record.cancel_us is not None,
        report_n=record.report_n,
    )

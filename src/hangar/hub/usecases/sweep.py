"""sweep: what time alone decides; called once a second."""

from sqlalchemy import ColumnElement, delete, exists, func, not_, or_, select, tuple_, update

from hangar.domain.limits import SWEEP_ROWS_MAX
from hangar.domain.operation import Phase
from hangar.hub.present import milliseconds
from hangar.hub.store.records import SELECT_CLUSTER, SELECT_OPERATION, OperationRecord, cluster_of, operation_of
from hangar.hub.store.tables import (
    IS_OPEN,
    IS_OPERATED,
    clusters,
    deployments,
    idempotency,
    operations,
    questions,
    runs,
)
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.conduct import conduct
from hangar.hub.usecases.ending import end_operation
from hangar.hub.usecases.presence import turn_offline
from hangar.hub.usecases.rules import SECOND_US, Rules, us


def sweep(tx: Tx, rules: Rules, now_us: int) -> None:
    """Tell of operators that fell silent, end what their silence has decided, forget keys that are over.

    Nothing is ended for silence in the first two leases after the hub's start: its own absence is not its operators'.
    """
    _forget_keys(tx, now_us)
    tx.connection.execute(delete(questions).where(questions.c.expires_us <= now_us))
    # A clock that was set back: nobody was heard in the future.
    tx.connection.execute(update(clusters).where(clusters.c.seen_us > now_us).values(seen_us=now_us))
    if now_us >= rules.listening_since_us():
        _turn_silent_offline(tx, rules, now_us)
        _end_pending(tx, rules, now_us)
        _end_running(tx, rules, now_us)
    _conduct_workloads(tx, rules, now_us)


def _conduct_workloads(tx: Tx, rules: Rules, now_us: int) -> None:
    """Carry on the operations on workloads whose time is over, or that need not wait for a cluster that is away."""
    away = clusters.alias("away")
    is_left = exists().where(
        deployments.c.workload == operations.c.target, away.c.name == deployments.c.cluster, not_(away.c.online)
    )
    recheck_us = func.coalesce(runs.c.recheck_us, operations.c.deadline_us)
    due = SELECT_OPERATION.where(IS_OPEN, not_(IS_OPERATED), or_(recheck_us <= now_us, is_left))
    for row in tx.connection.execute(due.order_by(operations.c.id).limit(SWEEP_ROWS_MAX)).all():
        conduct(tx, operation_of(row), rules, now_us)


def _forget_keys(tx: Tx, now_us: int) -> None:
    key = tuple_(idempotency.c.principal, idempotency.c.key)
    over = select(idempotency.c.principal, idempotency.c.key).where(idempotency.c.expires_us <= now_us)
    tx.connection.execute(delete(idempotency).where(key.in_(over.limit(SWEEP_ROWS_MAX))))


def _turn_silent_offline(tx: Tx, rules: Rules, now_us: int) -> None:
    silent = SELECT_CLUSTER.where(clusters.c.online, clusters.c.seen_us <= now_us - us(rules.lease_s))
    for row in tx.connection.execute(silent.limit(SWEEP_ROWS_MAX)).all():
        turn_offline(tx, cluster_of(row), now_us, has_released=False)


def _end_pending(tx: Tx, rules: Rules, now_us: int) -> None:
    """End what no operator has taken: neither since it was created nor since the operator was last heard."""
    before_us = now_us - us(rules.pending_timeout_s)
    conditions = [
        operations.c.phase == Phase.PENDING.value,
        operations.c.created_us <= before_us,
        func.coalesce(clusters.c.seen_us, 0) <= before_us,
    ]
    for record in _open_operations(tx, conditions):
        message = (
            f"not started: no operator of {record.cluster} took it within {rules.pending_timeout_s:.0f} s; "
            f"{_silence(record, now_us)}. Nothing was done."
        )
        end_operation(tx, record, Phase.FAILED, now_us, code="pending_timeout", message=message)


def _end_running(tx: Tx, rules: Rules, now_us: int) -> None:
    """End what is to stop and whose operator has, by its own clock, long stopped sending; the rest is taken over."""
    conditions = [
        operations.c.phase == Phase.RUNNING.value,
        clusters.c.seen_us <= now_us - us(rules.hand_over_after_s),
        or_(operations.c.cancel_us.is_not(None), operations.c.deadline_us <= now_us),
    ]
    for record in _open_operations(tx, conditions):
        so_far = f"; so far: {record.progress['message']}" if record.progress else ""
        rest = f"{_silence(record, now_us)}{so_far}. What it had begun goes on: look at {record.cluster} itself."
        if record.cancel_us is not None:
            message = f"cancelled by {record.cancel_by} while the operator was away: {rest}"
            phase = Phase.CANCELLED
        else:
            message = f"its deadline of {record.params['deadline_s']} s passed while the operator was away: {rest}"
            phase = Phase.FAILED
        end_operation(tx, record, phase, now_us, code="operator_lost", message=message)


def _open_operations(tx: Tx, conditions: list[ColumnElement[bool]]) -> list[OperationRecord]:
    statement = SELECT_OPERATION.where(*conditions, IS_OPERATED).order_by(operations.c.id).limit(SWEEP_ROWS_MAX)
    return [operation_of(row) for row in tx.connection.execute(statement).all()]


def _silence(record: OperationRecord, now_us: int) -> str:
    if record.operator_seen_us is None:
        return f"the operator of {record.cluster} has never been heard of"
    silent_s = (now_us - record.operator_seen_us) // SECOND_US
    return (
        f"the operator of {record.cluster} has been silent for {silent_s} s, "
        f"since {milliseconds(record.operator_seen_us)}"
    )

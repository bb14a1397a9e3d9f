"""How an operation ends: the one place that writes a terminal phase."""

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, update

from hangar.domain.operation import Phase, check_transition
from hangar.hub.store.records import OperationRecord
from hangar.hub.store.tables import operations, runs
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.rules import SECOND_US

ENDED: Mapping[Phase, EventType] = {
    Phase.SUCCEEDED: EventType.OPERATION_SUCCEEDED,
    Phase.FAILED: EventType.OPERATION_FAILED,
    Phase.CANCELLED: EventType.OPERATION_CANCELLED,
}

_END = update(operations).where(operations.c.id == bindparam("wanted"), operations.c.phase == bindparam("before"))
_DELETE_RUN = delete(runs).where(runs.c.op_id == bindparam("wanted"))


def end_operation(
    tx: Tx,
    record: OperationRecord,
    phase: Phase,
    now_us: int,
    *,
    code: str,
    message: str,
    details: Mapping[str, object] | None = None,
    progress: Mapping[str, object] | None = None,
    actor: str | None = None,
) -> None:
    """Move an operation to a terminal phase with its result; its run goes, its hold is free.

    `progress` None keeps the last one known. Raises IllegalTransitionError where the table has no such move.
    """
    check_transition(record.phase, phase)
    took_us = max(0, now_us - record.created_us)
    result = {
        "code": code,
        "message": message,
        "attempts": record.attempts,
        "duration": f"{took_us // SECOND_US}s",
        "details": dict(details or {}),
    }
    values = {
        "phase": phase.value,
        "finished_us": now_us,
        "result": result,
        "final_progress": record.progress if progress is None else dict(progress),
    }
    tx.connection.execute(_END, values | {"wanted": record.id, "before": record.phase.value})
    tx.connection.execute(_DELETE_RUN, {"wanted": record.id})
    tx.event(
        ENDED[phase],
        operation_subject(record),
        now_us,
        op_id=record.id,
        actor=actor,
        data={
            "type": record.type,
            "target": record.target,
            "code": code,
            "message": message,
            "duration_s": took_us / SECOND_US,
        },
    )
    tx.touch_operation(record.id, record.cluster)


def operation_subject(record: OperationRecord) -> Subject:
    """Return an operation as the subject of an event."""
    return Subject("operation", record.id, record.cluster)

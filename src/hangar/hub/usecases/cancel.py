"""cancel: end an operation that waits, or ask the operator to stop one that runs."""

from sqlalchemy import update

from hangar.domain.operation import Phase
from hangar.hub import present
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.records import OperationRecord
from hangar.hub.store.tables import operations
from hangar.hub.store.tx import EventType, Tx
from hangar.hub.usecases.conduct import conduct
from hangar.hub.usecases.ending import end_operation, operation_subject
from hangar.hub.usecases.queries import get_operation
from hangar.hub.usecases.rules import Rules
from hangar.wire import shown
from hangar.wire.problems import Problem, ProblemCode


def cancel(tx: Tx, who: Principal, id_: str, rules: Rules, now_us: int) -> shown.Operation:
    """Cancel an operation and return its record. Asking twice changes nothing.

    A pending one is over at once; a running one ends by its operator's report. Raises Problem: FORBIDDEN, NOT_FOUND,
    ALREADY_FINISHED with the record under `operation`.
    """
    require(who, Role.MAINTAINER)
    record = get_operation(tx.connection, id_)
    match record.phase:
        case Phase.PENDING:
            _record_cancel(tx, record, who, now_us)
            message = f"cancelled by {who.name} before it started"
            end_operation(tx, record, Phase.CANCELLED, now_us, code="cancelled", message=message, actor=who.name)
        case Phase.RUNNING:
            if record.cancel_us is None:
                _record_cancel(tx, record, who, now_us)
                tx.event(
                    EventType.OPERATION_CANCEL_REQUESTED,
                    operation_subject(record),
                    now_us,
                    op_id=id_,
                    actor=who.name,
                    data={"type": record.type, "target": record.target},
                )
                tx.touch_operation(id_, record.cluster)
                if record.type in rules.workload_kinds:
                    conduct(tx, get_operation(tx.connection, id_), rules, now_us)
        case Phase.CANCELLED:
            pass  # that is what was asked for
        case Phase.SUCCEEDED | Phase.FAILED:
            raise Problem(
                ProblemCode.ALREADY_FINISHED,
                f"{id_} has {record.phase} already; there is nothing left to cancel",
                context={"operation": present.operation(record)},
            )
    tx.stamp()
    return present.operation(get_operation(tx.connection, id_))


def _record_cancel(tx: Tx, record: OperationRecord, who: Principal, now_us: int) -> None:
    tx.connection.execute(
        update(operations).where(operations.c.id == record.id).values(cancel_by=who.name, cancel_us=now_us)
    )

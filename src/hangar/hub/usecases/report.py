"""report: what became of operations, as their cluster's operator tells it."""

from dataclasses import replace

import msgspec
from sqlalchemy import bindparam, insert, update

from hangar.domain.operation import OPEN, TERMINAL, Phase, check_transition
from hangar.hub.store.records import ClusterRecord, OperationRecord, find_operation
from hangar.hub.store.tables import operations, runs
from hangar.hub.store.tx import EventType, Tx
from hangar.hub.usecases.ending import end_operation, operation_subject
from hangar.hub.usecases.fence import held_cluster
from hangar.hub.usecases.foresee import take_answer
from hangar.hub.usecases.rules import us
from hangar.hub.usecases.waiting import dated
from hangar.wire.operator import Ack, ProgressDoc, ReportAnswer, ReportDoc, ReportRequest, ResultDoc
from hangar.wire.problems import FieldError, Problem, ProblemCode

REPORTED = frozenset({Phase.RUNNING}) | TERMINAL
"""The phases that an operator may report."""

_UPDATE_OPERATION = update(operations).where(operations.c.id == bindparam("wanted"))
_INSERT_RUN = insert(runs)
_UPDATE_RUN = update(runs).where(runs.c.op_id == bindparam("wanted"))


def report(tx: Tx, cluster_name: str, request: ReportRequest, now_us: int) -> ReportAnswer:
    """Store reports, in their order, and acknowledge each; store answers to questions.

    The first report of a pending operation claims it. Raises Problem: FENCED, INVALID_VALUE; then none is stored.
    """
    cluster = held_cluster(tx.connection, cluster_name, request.session, request.epoch)
    _check(request)
    for answer in request.answers:
        take_answer(tx, cluster.name, answer)
    return ReportAnswer(acks=[_take(tx, cluster, each, now_us) for each in request.reports])


def _check(request: ReportRequest) -> None:
    errors = []
    for index, each in enumerate(request.reports):
        path = f"reports[{index}]"
        if each.phase not in REPORTED:
            names = ", ".join(sorted(REPORTED))
            errors.append(FieldError(f"{path}.phase", f"is {each.phase!r}; it must be one of {names}"))
        elif Phase(each.phase) in TERMINAL and each.result is None:
            errors.append(FieldError(f"{path}.result", f"is missing, and the phase {each.phase} needs one"))
    if errors:
        detail = "; ".join(f"{each.path} {each.message}" for each in errors)
        raise Problem(ProblemCode.INVALID_VALUE, detail, tuple(errors))


def _take(tx: Tx, cluster: ClusterRecord, doc: ReportDoc, now_us: int) -> Ack:
    record = find_operation(tx.connection, doc.id)
    if record is None or record.cluster != cluster.name or record.target_uid is None:  # the hub's own has no UID
        return Ack(id=doc.id, n=doc.n, outcome="unknown")
    is_cancelled = record.cancel_us is not None
    if record.phase not in OPEN:
        return Ack(id=doc.id, n=doc.n, outcome="ended", cancel=is_cancelled)
    if record.epoch == cluster.epoch and doc.n <= record.report_n:
        return Ack(id=doc.id, n=doc.n, outcome="duplicate", cancel=is_cancelled)
    phase = Phase(doc.phase)
    if record.phase is Phase.PENDING and phase is not Phase.FAILED:
        record = _claim(tx, cluster, record, now_us)
    elif record.phase is Phase.RUNNING:
        record = _carry_on(tx, cluster, record, now_us)
    if phase is Phase.RUNNING:
        _store_progress(tx, cluster, record, doc, now_us)
    else:
        _end(tx, record, phase, doc, now_us)
    return Ack(id=doc.id, n=doc.n, outcome="stored", cancel=is_cancelled)


def _claim(tx: Tx, cluster: ClusterRecord, record: OperationRecord, now_us: int) -> OperationRecord:
    """Start a pending operation: its deadline counts from now."""
    check_transition(record.phase, Phase.RUNNING)
    deadline_us = now_us + us(record.params["deadline_s"])
    values = {"phase": Phase.RUNNING.value, "started_us": now_us, "deadline_us": deadline_us}
    tx.connection.execute(_UPDATE_OPERATION, values | {"wanted": record.id})
    tx.connection.execute(_INSERT_RUN, {"op_id": record.id, "epoch": cluster.epoch, "attempts": 1, "report_n": 0})
    tx.event(
        EventType.OPERATION_STARTED,
        operation_subject(record),
        now_us,
        op_id=record.id,
        data={"type": record.type, "target": record.target},
    )
    tx.touch_operation(record.id, cluster.name)
    return replace(record, phase=Phase.RUNNING, epoch=cluster.epoch, attempts=1)


def _carry_on(tx: Tx, cluster: ClusterRecord, record: OperationRecord, now_us: int) -> OperationRecord:
    """Count an attempt where a session since the run's last report ended without a release."""
    if record.epoch == cluster.epoch or cluster.unclean_epoch < record.epoch:
        return record
    attempts = record.attempts + 1
    tx.connection.execute(_UPDATE_RUN, {"wanted": record.id, "attempts": attempts})
    data = {"type": record.type, "target": record.target, "attempts": attempts}
    tx.event(EventType.OPERATION_TAKEN_OVER, operation_subject(record), now_us, op_id=record.id, data=data)
    return replace(record, attempts=attempts)


def _store_progress(tx: Tx, cluster: ClusterRecord, record: OperationRecord, doc: ReportDoc, now_us: int) -> None:
    values: dict[str, object] = {"epoch": cluster.epoch, "report_n": doc.n}
    if doc.memory is not None:
        values["memory"] = doc.memory
    if doc.progress is not None:
        progress = msgspec.to_builtins(doc.progress)
        values["progress"] = dated(record.progress, progress, now_us)
        if _is_news(record, doc.progress):
            data = {"type": record.type, "target": record.target, "progress": progress}
            tx.event(EventType.OPERATION_PROGRESSED, operation_subject(record), now_us, op_id=record.id, data=data)
    tx.connection.execute(_UPDATE_RUN, values | {"wanted": record.id})
    tx.touch_run(record.id)


def _is_news(record: OperationRecord, progress: ProgressDoc) -> bool:
    # The feed keeps what a reader of the timeline wants: counts, and what it waits for; not each wording of it.
    before = record.progress
    if before is None:
        return progress.done > 0 or bool(progress.blockers)
    blockers = {(each["code"], each["subject"]) for each in before["blockers"]}
    return (before["done"], before["total"]) != (progress.done, progress.total) or blockers != {
        (each.code, each.subject) for each in progress.blockers
    }


def _end(tx: Tx, record: OperationRecord, phase: Phase, doc: ReportDoc, now_us: int) -> None:
    result = doc.result or ResultDoc(code=phase.value, message="")
    end_operation(
        tx,
        record,
        phase,
        now_us,
        code=result.code,
        message=result.message,
        details=result.details,
        progress=None if doc.progress is None else msgspec.to_builtins(doc.progress),
        actor=record.cancel_by if phase is Phase.CANCELLED else None,
    )

"""conduct: carry operations on workloads on, as far as they go now: decided and stored in one transaction."""

from collections.abc import Iterable
from dataclasses import replace

import msgspec
from sqlalchemy import bindparam, insert, update

from hangar.clock import from_us, to_us
from hangar.domain.decision import End, Go
from hangar.domain.ids import ClusterName, OperationId, WorkloadName
from hangar.domain.operation import OPEN, Phase, check_transition
from hangar.domain.workloads.kind import AnyWorkloadKind, Change, Hold, WorkloadJob, changed
from hangar.domain.workloads.placement import Misfit
from hangar.domain.workloads.rollout import misfit_text
from hangar.domain.workloads.workload import Workload, derived
from hangar.hub.store.records import SELECT_OPERATION, OperationRecord, find_operation, operation_of
from hangar.hub.store.tables import IS_OPEN, operations, runs
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.store.workload_rows import find_workload, save_workload, workload_hold
from hangar.hub.usecases.ending import end_operation, operation_subject
from hangar.hub.usecases.rooms import weighed, with_room
from hangar.hub.usecases.rules import Rules, us
from hangar.hub.usecases.waiting import dated
from hangar.wire.documents import progress_doc

DECISIONS_MAX = 8
"""Decisions in a row: what one changes is decided on at once, and no kind changes something without an end."""

_START = update(operations).where(operations.c.id == bindparam("wanted"))
_INSERT_RUN = insert(runs)
_UPDATE_RUN = update(runs).where(runs.c.op_id == bindparam("wanted"))


def conduct_workloads(tx: Tx, names: Iterable[str], rules: Rules, now_us: int) -> None:
    """Carry on what is open on these workloads: something of theirs may have changed."""
    holds = [workload_hold(name) for name in sorted(set(names))]
    if not holds:
        return
    opened = SELECT_OPERATION.where(operations.c.hold.in_(holds), IS_OPEN).order_by(operations.c.id)
    for row in tx.connection.execute(opened).all():
        conduct(tx, operation_of(row), rules, now_us)


def conduct(tx: Tx, record: OperationRecord, rules: Rules, now_us: int) -> None:
    """Carry one operation on a workload on until it waits or is over."""
    kind = rules.workload_kinds[record.type]
    if record.phase is Phase.PENDING:
        record = _start(tx, kind, record, now_us)
    for _ in range(DECISIONS_MAX):
        if record.phase not in OPEN or not _decide(tx, kind, record, now_us):
            return
        found = find_operation(tx.connection, record.id)
        assert found is not None, "operations are never deleted"
        record = found
    raise AssertionError(f"{record.id} changes its workload again and again")


def change_workload(tx: Tx, workload: Workload, changes: Iterable[Change], now_us: int) -> Workload:
    """Store changes, and what follows of them for each deployment. Raises MisfitError, and then changes nothing.

    What somebody else changed is written over only by what is asked for; a hold is what an operation comes to itself.
    """
    changes = tuple(changes)
    after = workload
    for each in changes:
        after = changed(after, each)
    placed = derived(after, now_us, is_renewed=not any(isinstance(each, Hold) for each in changes))
    if isinstance(placed, Misfit):
        raise MisfitError(misfit_text(placed))
    save_workload(tx, workload, placed, now_us)
    tell_desired(tx, workload, placed, now_us)
    return placed


class MisfitError(Exception):
    """A number that cannot be placed; the message says which could."""


def tell_desired(tx: Tx, before: Workload, after: Workload, now_us: int) -> None:
    """Say for which deployments something else is wanted now."""
    known = {each.cluster: each.desired for each in before.deployments}
    for each in after.deployments:
        if known.get(each.cluster) != each.desired:
            tx.event(
                EventType.DEPLOYMENT_DESIRED,
                Subject("deployment", after.name, each.cluster),
                now_us,
                data={"graph": str(each.ref), "desired": each.desired, "before": known.get(each.cluster)},
            )


def _start(tx: Tx, kind: AnyWorkloadKind, record: OperationRecord, now_us: int) -> OperationRecord:
    check_transition(record.phase, Phase.RUNNING)
    deadline_us = now_us + us(kind.deadline_s(msgspec.convert(record.params, kind.params)))
    values = {"phase": Phase.RUNNING.value, "started_us": now_us, "deadline_us": deadline_us}
    tx.connection.execute(_START, values | {"wanted": record.id})
    tx.connection.execute(_INSERT_RUN, {"op_id": record.id, "epoch": 0, "attempts": 1, "report_n": 0})
    data = {"type": record.type, "target": record.target}
    tx.event(EventType.OPERATION_STARTED, operation_subject(record), now_us, op_id=record.id, data=data)
    tx.touch_operation(record.id, record.cluster)
    return replace(record, phase=Phase.RUNNING, started_us=now_us, deadline_us=deadline_us, attempts=1)


def _decide(tx: Tx, kind: AnyWorkloadKind, record: OperationRecord, now_us: int) -> bool:
    """Decide once and store that; tell whether there is more to decide at once."""
    found = find_workload(tx.connection, record.target)
    if found is None:
        text = f"workload {record.target} is gone"
        end_operation(tx, record, Phase.FAILED, now_us, code="workload_gone", message=text)
        return False
    workload = found.workload
    if record.memory is None:  # Only a beginning places anew by room: what runs by then is not to move again.
        looks = with_room if kind.needs_room else weighed
        workload = looks(tx.connection, workload, now_us)
    decided = kind.decide(_job(kind, record), workload, from_us(now_us))
    if decided.changes:
        try:
            change_workload(tx, workload, decided.changes, now_us)
        except MisfitError as error:
            text = f"{error}; nothing more was changed"
            end_operation(tx, record, Phase.FAILED, now_us, code="out_of_bounds", message=text)
            return False
    match decided.outcome:
        case End() as end:
            _end(tx, record, end, now_us)
            return False
        case Go() as go:
            _store(tx, record, go, now_us)
            return bool(decided.changes)


def _job(kind: AnyWorkloadKind, record: OperationRecord) -> WorkloadJob[object, object]:
    assert record.deadline_us is not None, "it has started"
    return WorkloadJob(
        id=OperationId(record.id),
        target=WorkloadName(record.target),
        cluster=None if record.cluster is None else ClusterName(record.cluster),
        params=msgspec.convert(record.params, kind.params),
        memory=kind.memory() if record.memory is None else msgspec.convert(record.memory, kind.memory),
        actor=record.created_by,
        reason=record.reason,
        deadline_at=from_us(record.deadline_us),
        is_cancelled=record.cancel_us is not None,
    )


def _store(tx: Tx, record: OperationRecord, go: Go[object], now_us: int) -> None:
    progress = msgspec.to_builtins(progress_doc(go.progress))
    memory = msgspec.to_builtins(go.memory)
    before = record.progress
    stored = dated(before, progress, now_us)
    if stored == before and memory == record.memory:
        return  # then the time to look again is the one that is stored, too
    values = {"memory": memory, "progress": stored}
    values["recheck_us"] = None if go.recheck_at is None else to_us(go.recheck_at)
    tx.connection.execute(_UPDATE_RUN, values | {"wanted": record.id})
    if before is None or (before["done"], before["message"]) != (progress["done"], progress["message"]):
        data = {"type": record.type, "target": record.target, "progress": progress}
        tx.event(EventType.OPERATION_PROGRESSED, operation_subject(record), now_us, op_id=record.id, data=data)
    tx.touch_run(record.id)


def _end(tx: Tx, record: OperationRecord, end: End[object], now_us: int) -> None:
    end_operation(
        tx,
        record,
        end.phase,
        now_us,
        code=end.code,
        message=end.message,
        details=dict(end.details),
        progress=msgspec.to_builtins(progress_doc(end.progress)),
        actor=record.cancel_by if end.phase is Phase.CANCELLED else None,
    )

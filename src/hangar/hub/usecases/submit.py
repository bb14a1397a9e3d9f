"""submit: take a request, and make it an operation or say why not."""

import hashlib
from dataclasses import asdict, dataclass, replace

import msgspec
from sqlalchemy import Connection, select

from hangar.domain.operation import Phase
from hangar.hub import present
from hangar.hub.catalogue import Entry
from hangar.hub.ids import operation_id
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.dialects import insert_or_replace, insert_unless_held, insert_unless_there
from hangar.hub.store.records import (
    SELECT_OPERATION,
    ClusterRecord,
    OperationRecord,
    Target,
    find_operation,
    node_hold,
    operation_of,
)
from hangar.hub.store.tables import IS_OPEN, idempotency, operations
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.conduct import conduct
from hangar.hub.usecases.naming import resolve_target
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.rules import SECOND_US, Rules, us
from hangar.hub.usecases.target_workload import workload_target
from hangar.wire import shown
from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError, Problem, ProblemCode

_NEWEST = select(operations.c.id, operations.c.created_us).order_by(operations.c.id.desc()).limit(1)

_STORED = (
    "id",
    "type",
    "kind_version",
    "cluster",
    "target",
    "target_uid",
    "hold",
    "params",
    "reason",
    "created_by",
    "created_us",
)
"""The columns of a new operation that are stored as the record has them."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """The operation, and whether it is an earlier one of the same key."""

    operation: shown.Operation
    is_replay: bool


def submit(tx: Tx, who: Principal, request: OperationRequest, key: str | None, rules: Rules, now_us: int) -> Submitted:
    """Create an operation, or return the one that the key stands for.

    The role is looked at first, then the key, then names, then what the cluster allows, and conflicts last. Raises
    Problem: FORBIDDEN, INVALID_VALUE, KEY_REUSED, NOT_FOUND, AMBIGUOUS_TARGET, OPERATION_NOT_ALLOWED,
    UNSUPPORTED_KIND, CONFLICT.
    """
    require(who, Role.MAINTAINER)
    entry, params = check_request(request, rules)
    newest = tx.connection.execute(_NEWEST).first()
    # Later operations are never older, whatever the clock does: ids, and pages over them, are in order of time.
    created_us = now_us if newest is None else max(now_us, newest.created_us)
    id_ = operation_id(created_us, None if newest is None else newest.id, rules.randbits)
    if key is not None:
        earlier = _claim_key(tx, who, key, request, id_, rules, now_us)
        if earlier is not None:
            return Submitted(present.operation(earlier), is_replay=True)
    made = replace(_asked(who, request, entry, params), id=id_, created_us=created_us)
    if entry.runs_in == "hub":
        record = replace(made, **asdict(workload_target(tx.connection, request, params, rules, now_us)))
    else:
        target = resolve_allowed(tx.connection, request, entry, params)
        record = replace(
            made,
            cluster=target.cluster.name,
            target=target.name,
            target_uid=target.uid,
            hold=node_hold(target.cluster.name, target.uid),
            is_operator_online=target.cluster.online,
            operator_seen_us=target.cluster.seen_us,
        )
    _insert(tx, record, now_us)
    if entry.runs_in == "hub":
        conduct(tx, record, rules, now_us)
        tx.stamp()
        return Submitted(present.operation(_found(tx, id_)), is_replay=False)
    tx.stamp()
    return Submitted(present.operation(replace(record, version=tx.committed.last_rev)), is_replay=False)


def _asked(who: Principal, request: OperationRequest, entry: Entry, params: JsonObject) -> OperationRecord:
    """Return the record of a request, before it is known what it is about."""
    return OperationRecord(
        id="",
        type=entry.name,
        kind_version=entry.version,
        phase=Phase.PENDING,
        cluster=None,
        target=request.target,
        target_uid=None,
        hold="",
        params=params,
        reason=request.reason,
        created_by=who.name,
        created_us=0,
        is_operator_online=False,
        operator_seen_us=None,
        version=0,
    )


def _insert(tx: Tx, record: OperationRecord, now_us: int) -> None:
    """Store a new operation, where nothing open has its hold. Raises CONFLICT."""
    values = {name: getattr(record, name) for name in _STORED} | {"phase": record.phase.value}
    while tx.connection.execute(insert_unless_held(tx.dialect, operations), values).first() is None:
        check_free(tx.connection, record.hold, now_us)  # raises, unless the holder has ended: then try again
    tx.event(
        EventType.OPERATION_CREATED,
        Subject("operation", record.id, record.cluster),
        now_us,
        op_id=record.id,
        actor=record.created_by,
        data={"type": record.type, "target": record.target, "reason": record.reason},
    )
    tx.touch_operation(record.id, record.cluster)


def check_request(request: OperationRequest, rules: Rules) -> tuple[Entry, JsonObject]:
    """Return the kind that is asked for, and its parameters with their defaults. Raises INVALID_VALUE."""
    entry = rules.catalogue.entries.get(request.type)
    if entry is None:
        names = ", ".join(rules.catalogue.names)
        error = FieldError("type", f"{request.type!r} is no type: there are {names}")
        raise Problem(ProblemCode.INVALID_VALUE, f"type: {error.message}", (error,))
    params, errors = entry.check(request.params)
    if errors:
        detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
        raise Problem(ProblemCode.INVALID_VALUE, detail, errors)
    return entry, params


def _claim_key(
    tx: Tx, who: Principal, key: str, request: OperationRequest, id_: str, rules: Rules, now_us: int
) -> OperationRecord | None:
    """Take the key for this request; return the operation that already has it, or None."""
    values = {
        "principal": who.name,
        "key": key,
        "fingerprint": _fingerprint(request),
        "op_id": id_,
        "expires_us": now_us + us(rules.idempotency_ttl_s),
    }
    if tx.connection.execute(insert_unless_there(tx.dialect, idempotency), values).first() is not None:
        return None
    known = tx.connection.execute(
        select(idempotency).where(idempotency.c.principal == who.name, idempotency.c.key == key)
    ).one()
    if known.expires_us <= now_us:
        tx.connection.execute(insert_or_replace(tx.dialect, idempotency, tuple(values)), values)
        return None
    if known.fingerprint != values["fingerprint"]:
        raise Problem(
            ProblemCode.KEY_REUSED,
            f"the idempotency key {key!r} stands for {known.op_id}, which was asked for with other values: "
            "send the same request again, or use a new key",
            (FieldError("header.Idempotency-Key", f"stands for {known.op_id}, which was asked for with other values"),),
            {"operation": present.operation(_found(tx, known.op_id))},
        )
    return _found(tx, known.op_id)


def _fingerprint(request: OperationRequest) -> str:
    # As sent, not as understood: a default that changes with a release must not turn a retry into another request.
    # The reason is left out, as rewording it asks for nothing else.
    asked = [request.type, request.target, request.cluster, request.params]
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()


def resolve_allowed(connection: Connection, request: OperationRequest, entry: Entry, params: JsonObject) -> Target:
    """Return the node that is meant, with its cluster, which allows what is asked for.

    Raises NOT_FOUND, AMBIGUOUS_TARGET, UNSUPPORTED_KIND, OPERATION_NOT_ALLOWED.
    """
    target = resolve_target(connection, request.target, request.cluster, path="target")
    _check_allowed(target.cluster, entry, params)
    return target


def _check_allowed(cluster: ClusterRecord, entry: Entry, params: JsonObject) -> None:
    if cluster.kinds.get(entry.name, 0) < entry.version:
        has = cluster.kinds.get(entry.name)
        raise Problem(
            ProblemCode.UNSUPPORTED_KIND,
            f"the operator of {cluster.name} (version {cluster.operator_version or 'unknown'}) cannot carry out "
            f"{entry.name} version {entry.version}; it has {'none' if has is None else f'version {has}'}: upgrade it",
            (FieldError("type", f"cannot carry out {entry.name} version {entry.version}"),),
        )
    needs = entry.needs(params)
    missing = [each for each in needs if each not in cluster.allowed]
    if missing:
        what = entry.name if entry.needs({})[0] in missing else f"{entry.name} with these parameters"
        lacks = " and ".join(f"`{each}`" for each in missing)
        allowed = ", ".join(cluster.allowed) or "nothing"
        remedy = (
            f"add {lacks} to `cluster.allowedOperations` in the chart of its operator"
            if cluster.allowed
            else f"its operator's chart has `cluster.readOnly: true`, or no {lacks} in "
            "`cluster.allowedOperations`; that is where to change it"
        )
        raise Problem(
            ProblemCode.OPERATION_NOT_ALLOWED,
            f"cluster {cluster.name} does not allow {what}, which needs {lacks}; it allows {allowed}: "
            f"{remedy}. What Kubernetes does not grant the operator is not allowed either.",
            context={"cluster": cluster.name, "needs": missing[0], "allowed": cluster.allowed},
        )


def check_free(connection: Connection, hold: str, now_us: int) -> None:
    """Raise CONFLICT where an open operation has a hold, with who, why and how far it is."""
    row = connection.execute(SELECT_OPERATION.where(operations.c.hold == hold, IS_OPEN)).first()
    if row is not None:
        raise _conflict(operation_of(row), now_us)


def _conflict(holder: OperationRecord, now_us: int) -> Problem:
    age_s = max(0, now_us - holder.created_us) // SECOND_US
    progress = present.progress(holder.progress)
    because = f" ({holder.reason})" if holder.reason else ""
    so_far = f", so far: {progress.message}" if progress is not None and progress.message else ""
    of = f"{holder.cluster}/" if holder.target_uid is not None else ""
    on = f" on {holder.cluster}" if holder.target_uid is None and holder.cluster is not None else ""
    return Problem(
        ProblemCode.CONFLICT,
        f"{of}{holder.target} is held by {holder.type} {holder.id}{on}, {holder.phase}, asked for {age_s} s "
        f"ago by {holder.created_by}{because}{so_far}: wait for it, or cancel it with "
        f"`hgr operation cancel {holder.id}`",
        context={
            "conflicting_operation": {
                "id": holder.id,
                "type": holder.type,
                "target": holder.target,
                "cluster": holder.cluster,
                "phase": holder.phase.value,
                "created_by": holder.created_by,
                "reason": holder.reason,
                "age_s": age_s,
                "progress": progress,
            }
        },
    )


def _found(tx: Tx, id_: str) -> OperationRecord:
    record = find_operation(tx.connection, id_)
    assert record is not None, "operations are never deleted"
    return record

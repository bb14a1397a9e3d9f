"""Records as users see them: the one place that turns the store's rows into `hangar.wire.shown`."""

from hangar.clock import from_us
from hangar.domain.devices import GPU_RESOURCES, PLUGIN_GPUS
from hangar.domain.operation import OPEN, Phase
from hangar.domain.workloads.graph import Rival
from hangar.hub.store.records import ClusterRecord, NodeRecord, OperationRecord
from hangar.wire import shown
from hangar.wire.operator import DeviceDoc, JsonObject, NodeDoc


def whole_seconds(us: int) -> str:
    """Return an instant as RFC 3339 with whole seconds."""
    return from_us(us).strftime("%Y-%m-%dT%H:%M:%SZ")


def milliseconds(us: int) -> str:
    """Return an instant as RFC 3339 with milliseconds."""
    return from_us(us).strftime("%Y-%m-%dT%H:%M:%S.") + f"{us // 1000 % 1000:03d}Z"


def operation(record: OperationRecord) -> shown.Operation:
    """Return an operation as users see it."""
    return shown.Operation(
        id=record.id,
        type=record.type,
        target=record.target,
        cluster=record.cluster,
        phase=record.phase.value,
        result=_result(record.result),
        reason=record.reason,
        created_by=record.created_by,
        created_at=whole_seconds(record.created_us),
        started_at=_optional(record.started_us),
        finished_at=_optional(record.finished_us),
        deadline_at=_optional(record.deadline_us),
        params=record.params,
        progress=progress(record.progress),
        status_reason=status_reason(record),
        cancel=_cancel(record),
        version=record.version,
    )


def progress(document: JsonObject | None) -> shown.Progress | None:
    """Return an operation's progress as users see it."""
    if document is None:
        return None
    return shown.Progress(
        done=document["done"],
        total=document["total"],
        unit=document["unit"],
        message=document["message"],
        blockers=[
            shown.Blocker(code=each["code"], subject=each["subject"], message=each["message"], facts=each["facts"])
            for each in document["blockers"]
        ],
    )


def status_reason(record: OperationRecord) -> shown.StatusReason | None:
    """Return why an operation is as it is, made of what the store knows of it and of its operator."""
    if record.phase not in OPEN:
        result = record.result or {}
        return shown.StatusReason(code=result["code"], message=result["message"])
    if record.cluster is not None and not record.is_operator_online:
        return shown.StatusReason(code="operator_silent", message=_silence(record))
    if record.cancel_us is not None:
        message = f"{record.cancel_by} asked for it to stop; its operator is winding up"
        return shown.StatusReason(code="cancel_requested", message=message)
    if record.phase is Phase.PENDING:
        message = f"waits for the operator of {record.cluster} to take it"
        return shown.StatusReason(code="waiting_for_operator", message=message)
    return None


def _silence(record: OperationRecord) -> str:
    if record.operator_seen_us is None:
        return f"the operator of {record.cluster} has never been heard of"
    since = f"the operator of {record.cluster} is not connected; last heard at {milliseconds(record.operator_seen_us)}"
    if record.phase is Phase.RUNNING:
        return f"{since}; it goes on with this when it returns"
    return f"{since}; it takes this when it returns"


def node(record: NodeRecord) -> shown.Node:
    """Return a node as users see it."""
    doc = record.doc
    cordon = doc.cordon
    return shown.Node(
        name=doc.name,
        cluster=record.cluster,
        uid=doc.uid,
        ready=doc.ready,
        cordoned=doc.cordoned,
        cordon=None
        if cordon is None
        else shown.Cordon(operation=cordon.operation, actor=cordon.actor, reason=cordon.reason, manager=cordon.manager),
        replicas=doc.replicas,
        labels=doc.labels,
        capacity=doc.capacity,
        allocatable=doc.allocatable,
        allocated=doc.allocated,
        operation=record.operation,
        updated_at=milliseconds(record.updated_us),
    )


def devices(cluster: str, doc: NodeDoc) -> list[shown.Device]:
    """Return the devices of a node, by name: its extended resources, which alone have a domain in their names.

    Beside them stand the devices that drivers publish; GPUs are counted by one of the two alone.
    """
    is_open = doc.ready and not doc.cordoned
    found = [_published(cluster, doc.name, each, is_open=is_open) for each in doc.devices or ()]
    has_gpus = any(each.resource in GPU_RESOURCES for each in found)
    for resource in (name for name in doc.capacity if "/" in name):
        if has_gpus and resource.startswith(PLUGIN_GPUS):
            continue
        allocatable = doc.allocatable.get(resource, 0)
        allocated = doc.allocated.get(resource, 0)
        found.append(
            shown.Device(
                cluster=cluster,
                node=doc.name,
                resource=resource,
                source="device plugin",
                capacity=doc.capacity[resource],
                allocatable=allocatable,
                allocated=allocated,
                free=max(0, allocatable - allocated) if is_open else 0,
            )
        )
    return sorted(found, key=lambda each: each.resource)


def _published(cluster: str, node: str, doc: DeviceDoc, *, is_open: bool) -> shown.Device:
    return shown.Device(
        cluster=cluster,
        node=node,
        resource=doc.resource,
        source="driver",
        capacity=doc.capacity,
        allocatable=doc.allocatable,
        allocated=doc.allocated,
        free=doc.free if is_open else 0,
    )


def cluster(record: ClusterRecord, nodes_count: int) -> shown.Cluster:
    """Return a cluster as users see it."""
    return shown.Cluster(
        name=record.name,
        uid=record.uid,
        online=record.online,
        last_seen_at=_optional(record.seen_us),
        allowed=record.allowed,
        nodes=nodes_count,
        kubernetes_version=record.kubernetes_version,
        operator_version=record.operator_version,
    )


def _optional(us: int | None) -> str | None:
    return None if us is None else milliseconds(us)


def _result(document: JsonObject | None) -> shown.Result | None:
    if document is None:
        return None
    return shown.Result(
        message=document["message"],
        attempts=document["attempts"],
        duration=document["duration"],
        details=document["details"],
    )


def _cancel(record: OperationRecord) -> shown.Cancel | None:
    if record.cancel_us is None or record.cancel_by is None:
        return None
    return shown.Cancel(requested_by=record.cancel_by, requested_at=milliseconds(record.cancel_us))


def rival(of: Rival) -> shown.Rival:
    """Return somebody else who writes numbers of a graph."""
    return shown.Rival(kind=of.kind.value, name=of.name, component=of.component)

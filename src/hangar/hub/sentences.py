"""What an event says, in a sentence: made where it is read, from the data that is stored."""

from typing import Literal, TypeAlias

from hangar.hub.store.tx import EventType
from hangar.wire.operator import JsonObject

WorkloadEvent: TypeAlias = Literal[
    EventType.PROJECT_ADDED,
    EventType.PROJECT_CHANGED,
    EventType.PROJECT_REMOVED,
    EventType.WORKLOAD_ADDED,
    EventType.WORKLOAD_CHANGED,
    EventType.WORKLOAD_REMOVED,
    EventType.WORKLOAD_SCALED,
    EventType.DEPLOYMENT_ADDED,
    EventType.DEPLOYMENT_REMOVED,
    EventType.DEPLOYMENT_DESIRED,
    EventType.DEPLOYMENT_WRITTEN,
    EventType.DEPLOYMENT_DRIFTED,
]
"""The events about workloads, and about what they are owned by and made of."""


def event_sentence(type_: EventType, name: str, actor: str | None, data: JsonObject, cluster: str | None = None) -> str:
    """Return the sentence of an event about the object `name`, which is of a cluster, or of none."""
    by = f" by {actor}" if actor else ""
    data = _located(data, cluster)
    match type_:
        case EventType.OPERATION_CREATED:
            return f"{data['type']} {data['target']} was asked for{by}{_because(data)}"
        case EventType.OPERATION_STARTED:
            return f"{data['type']} {data['target']} started"
        case EventType.OPERATION_TAKEN_OVER:
            return f"{data['type']} {data['target']} was taken over by a new operator, attempt {data['attempts']}"
        case EventType.OPERATION_PROGRESSED:
            return _progress(data["progress"])
        case EventType.OPERATION_CANCEL_REQUESTED:
            return f"{data['type']} {data['target']} was asked to stop{by}"
        case EventType.OPERATION_SUCCEEDED | EventType.OPERATION_FAILED | EventType.OPERATION_CANCELLED:
            phase = type_.value.partition(".")[2]
            return f"{data['type']} {data['target']} {phase}: {data['message'].removeprefix(f'{phase}: ')}"
        case EventType.CLUSTER_ADDED:
            return f"cluster {name} was added{by}"
        case EventType.CLUSTER_ONLINE:
            return f"the operator of {name} is connected"
        case EventType.CLUSTER_OFFLINE:
            return _offline(name, data)
        case EventType.CLUSTER_STANDBY:
            return f"a second operator of {name} stands by: {data['standby']}, while {data['holder']} holds the cluster"
        case EventType.NODE_ADDED:
            return f"node {name} was added"
        case EventType.NODE_REMOVED:
            return f"node {name} is gone"
        case EventType.NODE_REPLACED:
            cordon = "; the cordon went with the old one" if data["was_cordoned"] and not data["is_cordoned"] else ""
            return f"node {name} was replaced by another of the same name{cordon}"
        case EventType.NODE_CORDONED:
            return f"node {name} was cordoned{by}{_because(data)}"
        case EventType.NODE_UNCORDONED:
            return f"node {name} was uncordoned{by}"
        case EventType.NODE_READY:
            return f"node {name} is ready"
        case EventType.NODE_NOT_READY:
            return f"node {name} is not ready"
        case EventType.TOKEN_CREATED:
            return f"a token for {name} with the role {data['role']} was created{by}"
        case EventType.TOKEN_REVOKED:
            return f"the token {data['id']} of {name} was revoked{by}"
        case EventType.HUB_RESTORED:
            return _restored(data)
        case _:
            return _of_workloads(type_, name, by, data)


def _located(data: JsonObject, cluster: str | None) -> JsonObject:
    """Return the data of an event, the target with its cluster: a workload's name, unlike a node's, does not say it."""
    if cluster is None or not data.get("type", "").startswith("workload."):
        return data
    return data | {"target": f"{data['target']} on {cluster}"}


def _of_workloads(type_: WorkloadEvent, name: str, by: str, data: JsonObject) -> str:
    match type_:
        case EventType.PROJECT_ADDED | EventType.PROJECT_CHANGED | EventType.PROJECT_REMOVED:
            return f"project {name} was {type_.value.partition('.')[2]}{by}"
        case EventType.WORKLOAD_ADDED | EventType.WORKLOAD_CHANGED | EventType.WORKLOAD_REMOVED:
            return f"workload {name} was {type_.value.partition('.')[2]}{by}"
        case EventType.WORKLOAD_SCALED:
            return f"workload {name} was scaled from {data['before']} to {data['replicas']} replicas{by}"
        case EventType.DEPLOYMENT_ADDED:
            return f"workload {name} was bound to {data['graph']}{by}"
        case EventType.DEPLOYMENT_REMOVED:
            return f"workload {name} was removed from the cluster{by}; {data['graph']} is {data['fate']}"
        case EventType.DEPLOYMENT_DESIRED:
            return f"{data['graph']} is to run {data['desired']} replicas of {name}"
        case EventType.DEPLOYMENT_WRITTEN:
            return f"{data['graph']} has {data['desired']} replicas of {name} written"
        case EventType.DEPLOYMENT_DRIFTED:
            return f"{data['graph']} of {name} was changed by {data['by']} after it was written"


def _because(data: JsonObject) -> str:
    return f": {data['reason']}" if data.get("reason") else ""


def _progress(progress: JsonObject) -> str:
    return progress["message"] or f"{progress['done']} of {progress['total']} {progress['unit']}"


def _offline(name: str, data: JsonObject) -> str:
    if data["released"]:
        return f"the operator of {name} signed off"
    return f"the operator of {name} fell silent; last heard at {data['last_seen_at']}"


def _restored(data: JsonObject) -> str:
    return (
        f"the hub's record was restored from a backup, or lost its newest part: it goes on after revision "
        f"{data['kept_rev']}; operators are asked for what they are doing"
    )

"""Sentences of events."""

import pytest

from hangar.hub.sentences import event_sentence
from hangar.hub.store.tx import EventType
from hangar.wire.operator import JsonObject

DRAIN = {"type": "node.drain", "target": "n01"}


CASES: list[tuple[EventType, str | None, JsonObject, str]] = [
    (EventType.OPERATION_CREATED, "max", DRAIN | {"reason": "fan"}, "node.drain n01 was asked for by max: fan"),
    (EventType.OPERATION_CREATED, "max", DRAIN | {"reason": None}, "node.drain n01 was asked for by max"),
    (EventType.OPERATION_STARTED, None, DRAIN, "node.drain n01 started"),
    (
        EventType.OPERATION_TAKEN_OVER,
        None,
        DRAIN | {"attempts": 2},
        "node.drain n01 was taken over by a new operator, attempt 2",
    ),
    (EventType.OPERATION_CANCEL_REQUESTED, "max", DRAIN, "node.drain n01 was asked to stop by max"),
    (EventType.OPERATION_FAILED, None, DRAIN | {"message": "no room"}, "node.drain n01 failed: no room"),
    (
        EventType.OPERATION_CANCELLED,
        "max",
        DRAIN | {"message": "cancelled: 1 moved"},
        "node.drain n01 cancelled: 1 moved",
    ),
    (EventType.CLUSTER_ADDED, "max", {}, "cluster x was added by max"),
    (EventType.CLUSTER_ONLINE, None, {}, "the operator of x is connected"),
    (EventType.CLUSTER_OFFLINE, None, {"released": True}, "the operator of x signed off"),
    (
        EventType.CLUSTER_OFFLINE,
        None,
        {"released": False, "last_seen_at": "noon"},
        "the operator of x fell silent; last heard at noon",
    ),
    (
        EventType.CLUSTER_STANDBY,
        None,
        {"holder": "a", "standby": "b"},
        "a second operator of x stands by: b, while a holds the cluster",
    ),
    (EventType.NODE_ADDED, None, {}, "node x was added"),
    (EventType.NODE_REMOVED, None, {}, "node x is gone"),
    (
        EventType.NODE_REPLACED,
        None,
        {"was_cordoned": False, "is_cordoned": False},
        "node x was replaced by another of the same name",
    ),
    (EventType.NODE_CORDONED, "max", {"reason": "fan"}, "node x was cordoned by max: fan"),
    (EventType.NODE_UNCORDONED, None, {}, "node x was uncordoned"),
    (EventType.NODE_READY, None, {}, "node x is ready"),
    (EventType.NODE_NOT_READY, None, {}, "node x is not ready"),
    (EventType.PROJECT_ADDED, "max", {}, "project x was added by max"),
    (EventType.WORKLOAD_CHANGED, "max", {"replicas": 3}, "workload x was changed by max"),
    (EventType.WORKLOAD_REMOVED, "max", {}, "workload x was removed by max"),
    (
        EventType.WORKLOAD_SCALED,
        "max",
        {"before": 3, "replicas": 6},
        "workload x was scaled from 3 to 6 replicas by max",
    ),
    (EventType.DEPLOYMENT_ADDED, "max", {"graph": "a/b"}, "workload x was bound to a/b by max"),
    (
        EventType.DEPLOYMENT_REMOVED,
        "max",
        {"graph": "a/b", "fate": "left as it is"},
        "workload x was removed from the cluster by max; a/b is left as it is",
    ),
    (EventType.DEPLOYMENT_DESIRED, None, {"graph": "a/b", "desired": 3}, "a/b is to run 3 replicas of x"),
    (EventType.DEPLOYMENT_WRITTEN, None, {"graph": "a/b", "desired": 3}, "a/b has 3 replicas of x written"),
    (
        EventType.DEPLOYMENT_DRIFTED,
        None,
        {"graph": "a/b", "by": "kubectl-edit"},
        "a/b of x was changed by kubectl-edit after it was written",
    ),
    (EventType.TOKEN_CREATED, "max", {"role": "viewer"}, "a token for x with the role viewer was created by max"),
    (EventType.TOKEN_REVOKED, "max", {"id": "tok_1"}, "the token tok_1 of x was revoked by max"),
]


@pytest.mark.parametrize(("type_", "actor", "data", "sentence"), CASES)
def test_an_event_is_told_in_a_sentence(type_: EventType, actor: str | None, data: JsonObject, sentence: str) -> None:
    assert event_sentence(type_, "x", actor, data) == sentence


def test_an_operation_on_a_workload_is_told_with_its_cluster_where_it_has_one() -> None:
    data = {"type": "workload.drain", "target": "llama", "reason": None}
    assert event_sentence(EventType.OPERATION_STARTED, "op_1", None, data, "fra-1") == (
        "workload.drain llama on fra-1 started"
    )
    assert event_sentence(EventType.OPERATION_STARTED, "op_1", None, data) == "workload.drain llama started"
    assert event_sentence(EventType.OPERATION_STARTED, "op_1", None, DRAIN, "fra-1") == "node.drain n01 started"


@pytest.mark.parametrize(("message", "sentence"), [("evicted 1/3", "evicted 1/3"), ("", "1 of 3 pods")])
def test_progress_is_told_in_its_own_words_where_it_has_some(message: str, sentence: str) -> None:
    data = {"progress": {"done": 1, "total": 3, "unit": "pods", "message": message, "blockers": []}}
    assert event_sentence(EventType.OPERATION_PROGRESSED, "op_1", None, data) == sentence

"""Nodes, budgets and owners as the values that decisions read."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from hangar.domain.ids import OperationId, OwnerUid, PodUid
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import (
    Budget,
    CordonMark,
    Node,
    Owner,
    OwnerRef,
    Pod,
    PodPhase,
    PodRef,
    Taint,
)
from hangar.operator.cluster.kubernetes.translate import read_mark, write_mark
from hangar.operator.cluster.kubernetes.watched import BUDGETS, NODES, OWNERS
from tests.operator.cluster.kubernetes.documents import EPOCH, Document, a_budget, a_node, an_owner

READERS = {watched.plural: watched for watched in OWNERS}
LATER = datetime(2026, 11, 30, 12, tzinfo=UTC)


def node(document: Document) -> Node:
    return NODES.read(json.dumps(document).encode()).value


def budget(document: Document) -> Budget:
    return BUDGETS.read(json.dumps(document).encode()).value


def owner(plural: str, document: Document) -> Owner:
    return READERS[plural].read(json.dumps(document).encode()).value


def owned_by(*managers: str) -> list[dict[str, Any]]:
    fields: dict[str, Any] = {"f:spec": {"f:unschedulable": {}, "f:taints": {}}}
    return [{"manager": each, "operation": "Update", "fieldsV1": fields} for each in managers] + [
        {"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": {"f:conditions": {}}}}
    ]


# --- nodes ------------------------------------------------------------------------------------------------------------


def test_a_node_is_read_with_its_amounts_taints_and_labels() -> None:
    document = a_node("n1", taints=[{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}])
    document["metadata"]["labels"] = {"zone": "a"}
    document["status"] = {
        "capacity": {"cpu": "192", "memory": "2Ti", "nvidia.com/gpu": "8"},
        "allocatable": {"cpu": "191500m", "memory": "2Ti", "nvidia.com/gpu": "7"},
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "False"}],
    }
    seen = node(document)
    assert (seen.name, seen.uid, seen.ready, seen.unschedulable) == ("n1", "uid-n1", True, False)
    assert seen.taints == (Taint("dedicated", "gpu", "NoSchedule"),)
    assert seen.labels == {"zone": "a"}
    assert seen.capacity == {"cpu": 192_000, "memory": 2 * 2**40, "nvidia.com/gpu": 8}
    assert seen.allocatable["cpu"] == 191_500


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_that_does_not_say_it_is_ready_is_not(status: str) -> None:
    document = a_node()
    assert not node(document).ready
    document["status"]["conditions"] = [{"type": "Ready", "status": status}]
    assert not node(document).ready


def test_a_node_whose_kubelet_is_silent_is_not_heard_and_one_that_says_it_is_ill_is() -> None:
    def heard(status: str, *taints: str) -> bool:
        document = a_node(taints=[{"key": each, "effect": "NoExecute"} for each in taints])
        document["status"]["conditions"] = [{"type": "Ready", "status": status}]
        return node(document).is_heard

    assert (heard("True"), heard("False"), heard("Unknown")) == (True, True, False)
    assert heard("False", "node.kubernetes.io/not-ready")
    assert not heard("True", "node.kubernetes.io/unreachable")
    assert node(a_node()).is_heard


def test_a_cordon_of_ours_is_known_by_the_annotation_and_the_fields_owner() -> None:
    mark = CordonMark(OperationId("op_1"), "kim", "firmware", prior_unschedulable=False)
    document = a_node(unschedulable=True)
    document["metadata"] |= {
        "annotations": {"wingsmith.dev/cordon": write_mark(mark), "other": "x"},
        "managedFields": owned_by("hangar-operator"),
    }
    seen = node(document)
    assert (seen.mark, seen.cordon_manager, seen.cordon_is_ours) == (mark, "hangar-operator", True)


def test_a_cordon_under_our_annotation_by_somebody_else_is_not_ours() -> None:
    document = a_node(unschedulable=True)
    document["metadata"]["managedFields"] = owned_by("kubectl-cordon")
    seen = node(document)
    assert (seen.cordon_manager, seen.cordon_is_ours) == ("kubectl-cordon", False)


def test_a_cordon_that_somebody_else_wants_too_is_not_ours_to_undo() -> None:
    document = a_node(unschedulable=True)
    document["metadata"]["managedFields"] = owned_by("hangar-operator", "gitops")
    seen = node(document)
    assert (seen.cordon_manager, seen.cordon_is_ours) == ("gitops", False)


def test_nobody_cordoned_a_schedulable_node() -> None:
    document = a_node()
    document["metadata"]["managedFields"] = owned_by("hangar-operator")
    assert node(document).cordon_manager is None


def test_who_holds_a_node_to_being_schedulable_is_named() -> None:
    document = a_node()
    document["metadata"]["managedFields"] = owned_by("gitops")
    seen = node(document)
    assert (seen.cordon_manager, seen.cordon_is_ours) == ("gitops", False)


@pytest.mark.parametrize("annotation", [None, "", "nonsense", "[]", "{}", '{"operation": 7}'])
def test_an_annotation_that_we_cannot_have_written_is_no_mark(annotation: str | None) -> None:
    assert read_mark(annotation) is None


def test_a_mark_of_a_later_release_is_read_as_far_as_it_is_known() -> None:
    assert read_mark('{"operation": "op_1", "actor": "kim", "flavour": 3}') == CordonMark(
        OperationId("op_1"), "kim", None, prior_unschedulable=False
    )


# --- budgets ----------------------------------------------------------------------------------------------------------


def test_a_budget_is_read_with_its_figures() -> None:
    document = a_budget(version=7, generation=2, selector={"matchLabels": {"app": "web"}}, maxUnavailable=1)
    document["status"] = {
        "observedGeneration": 2,
        "expectedPods": 5,
        "currentHealthy": 4,
        "desiredHealthy": 3,
        "disruptionsAllowed": 1,
        "disruptedPods": {"web-1": EPOCH},
        "conditions": [{"type": "DisruptionAllowed", "status": "True", "reason": "SufficientPods"}],
    }
    seen = budget(document)
    assert (seen.expected, seen.healthy, seen.desired_healthy, seen.allowed) == (5, 4, 3, 1)
    assert (seen.version, seen.is_current, seen.has_disrupted, seen.sync_failure) == ("7", True, True, None)
    assert not seen.always_allow_unready


def test_a_budget_whose_status_is_behind_its_spec_says_so() -> None:
    document = a_budget(generation=3)
    document["status"] = {"observedGeneration": 2}
    assert not budget(document).is_current


def test_a_budget_that_its_controller_cannot_compute_says_why() -> None:
    document = a_budget(unhealthyPodEvictionPolicy="AlwaysAllow")
    document["status"]["conditions"] = [
        {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "no scale subresource"}
    ]
    seen = budget(document)
    assert (seen.sync_failure, seen.always_allow_unready) == ("no scale subresource", True)


def test_selectors_by_label_and_by_expression_become_requirements() -> None:
    expressions = [
        {"key": "tier", "operator": "In", "values": ["a", "b"]},
        {"key": "tier", "operator": "NotIn", "values": ["c"]},
        {"key": "app", "operator": "Exists"},
        {"key": "old", "operator": "DoesNotExist"},
    ]
    seen = budget(a_budget(selector={"matchLabels": {"app": "web"}, "matchExpressions": expressions}))
    assert seen.selector == (
        Requirement("app", SelectorOp.IN, frozenset({"web"})),
        Requirement("tier", SelectorOp.IN, frozenset({"a", "b"})),
        Requirement("tier", SelectorOp.NOT_IN, frozenset({"c"})),
        Requirement("app", SelectorOp.EXISTS),
        Requirement("old", SelectorOp.DOES_NOT_EXIST),
    )


def test_an_empty_selector_guards_the_namespace_and_none_at_all_guards_nothing() -> None:
    pod = Pod(PodRef("default", "p", PodUid("u")), None, PodPhase.RUNNING, ready=True, created_at=LATER)
    assert budget(a_budget(selector={})).guards(pod)
    assert not budget(a_budget()).guards(pod)


# --- owners -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plural", "kind"),
    [("deployments", "Deployment"), ("replicasets", "ReplicaSet"), ("statefulsets", "StatefulSet")],
)
def test_controllers_with_replicas_want_as_many_as_they_say(plural: str, kind: str) -> None:
    seen = owner(plural, an_owner(kind, replicas=4))
    assert (seen.ref, seen.namespace, seen.desired) == (OwnerRef(kind, "web", OwnerUid("uid-web")), "default", 4)
    assert owner(plural, an_owner(kind)).desired == 1
    assert owner(plural, an_owner(kind, replicas=0)).desired == 0


def test_a_controller_that_is_being_deleted_wants_nothing_any_more() -> None:
    document = an_owner("Deployment", replicas=4)
    document["metadata"]["deletionTimestamp"] = EPOCH
    assert owner("deployments", document).desired == 0


def test_a_replica_set_names_its_deployment_and_why_it_cannot_create_pods() -> None:
    document = an_owner("ReplicaSet", replicas=2)
    document["metadata"]["ownerReferences"] = [
        {"kind": "Thing", "name": "x", "uid": "ux"},
        {"kind": "Deployment", "name": "web", "uid": "ud", "controller": True},
    ]
    document["status"]["conditions"] = [
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: gpu"}
    ]
    seen = owner("replicasets", document)
    assert seen.parent == OwnerRef("Deployment", "web", OwnerUid("ud"))
    assert seen.failure == "exceeded quota: gpu"


def test_a_daemon_set_wants_a_pod_on_each_node_it_has_chosen() -> None:
    document = an_owner("DaemonSet")
    document["status"] = {"desiredNumberScheduled": 3}
    assert owner("daemonsets", document).desired == 3


@pytest.mark.parametrize(
    ("spec", "status", "wanted"),
    [
        ({"parallelism": 3, "completions": 10}, {"succeeded": 2}, 3),
        ({"parallelism": 3, "completions": 10}, {"succeeded": 9}, 1),
        ({"parallelism": 3, "completions": 3}, {"succeeded": 4}, 0),
        ({}, {}, 1),
        ({"parallelism": 4}, {}, 4),
        ({"parallelism": 4}, {"succeeded": 1}, 0),
        ({"parallelism": 3, "completions": 10, "suspend": True}, {}, 0),
        ({"parallelism": 3, "completions": 10}, {"conditions": [{"type": "Failed", "status": "True"}]}, 0),
        ({"parallelism": 3, "completions": 10}, {"conditions": [{"type": "Complete", "status": "True"}]}, 0),
    ],
)
def test_a_job_wants_what_is_left_to_succeed_but_no_more_than_may_run_at_once(
    spec: dict[str, Any], status: dict[str, Any], wanted: int
) -> None:
    assert owner("jobs", {**an_owner("Job"), "spec": spec, "status": status}).desired == wanted

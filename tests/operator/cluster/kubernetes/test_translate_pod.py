"""Pods as the values that decisions read."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from hangar.domain.ids import OwnerUid
from hangar.domain.snapshot import OwnerRef, Pod, PodPhase, Toleration
from hangar.operator.cluster.kubernetes.watched import PODS
from tests.operator.cluster.kubernetes.documents import EPOCH, Document, a_pod

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def pod(document: Document) -> Pod:
    return PODS.read(json.dumps(document).encode()).value


def container(restart_policy: str | None = None, **requests: str) -> dict[str, Any]:
    each: dict[str, Any] = {"name": "c", "image": "x", "resources": {"requests": requests}}
    return each | ({"restartPolicy": restart_policy} if restart_policy else {})


def waiting(phase: str = "Pending", **status: Any) -> str | None:
    return pod(a_pod() | {"status": {"phase": phase, **status}}).waiting


def test_a_running_pod_is_read_whole() -> None:
    document = a_pod(
        nodeName="n1",
        nodeSelector={"zone": "a"},
        priority=1000,
        terminationGracePeriodSeconds=120,
        tolerations=[{"operator": "Exists"}, {"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    )
    document["metadata"] |= {
        "labels": {"app": "web"},
        "ownerReferences": [{"kind": "ReplicaSet", "name": "web-1", "uid": "ur", "controller": True}],
    }
    document["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    seen = pod(document)
    assert str(seen.ref) == "default/p1"
    assert (seen.node, seen.phase, seen.ready, seen.serves) == ("n1", PodPhase.RUNNING, True, True)
    assert (seen.created_at, seen.deletion_at, seen.grace_s, seen.priority) == (NOON, None, 120, 1000)
    assert seen.labels == {"app": "web"}
    assert seen.node_selector == {"zone": "a"}
    assert seen.controller == OwnerRef("ReplicaSet", "web-1", OwnerUid("ur"))
    assert seen.tolerations == (Toleration("", "Exists", "", ""), Toleration("gpu", "Equal", "yes", "NoSchedule"))
    assert seen.waiting is None


def test_a_pod_without_a_node_is_not_placed() -> None:
    assert pod(a_pod()).node is None


def test_an_owner_that_does_not_control_is_no_controller() -> None:
    document = a_pod()
    document["metadata"]["ownerReferences"] = [{"kind": "Widget", "name": "w", "uid": "u"}]
    assert pod(document).controller is None


def test_a_terminating_pod_knows_when_its_grace_is_over() -> None:
    document = a_pod()
    document["metadata"]["deletionTimestamp"] = EPOCH
    assert pod(document).deletion_at == NOON


def test_a_phase_that_we_do_not_know_is_unknown() -> None:
    assert pod(a_pod() | {"status": {"phase": "Dreaming"}}).phase is PodPhase.UNKNOWN


def test_mirror_pods_are_known_by_their_annotation_or_their_owner() -> None:
    annotated, owned = a_pod(), a_pod()
    annotated["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    owned["metadata"]["ownerReferences"] = [{"kind": "Node", "name": "n1", "uid": "un", "controller": True}]
    assert pod(annotated).is_mirror
    assert pod(owned).is_mirror
    assert not pod(a_pod()).is_mirror


@pytest.mark.parametrize(
    ("volume", "is_on_disk"),
    [
        ({"emptyDir": {}}, True),
        ({"emptyDir": {"sizeLimit": "1Gi"}}, True),
        ({"emptyDir": {"medium": "Memory"}}, False),
        ({"emptyDir": {"medium": "HugePages"}}, False),
        ({"configMap": {"name": "c"}}, False),
    ],
)
def test_only_an_empty_dir_on_disk_counts_as_one(volume: dict[str, Any], is_on_disk: bool) -> None:
    assert pod(a_pod(volumes=[{"name": "v", **volume}])).has_disk_empty_dir is is_on_disk


# --- requests ---------------------------------------------------------------------------------------------------------


def test_requests_are_the_sum_of_the_containers() -> None:
    document = a_pod(containers=[container(cpu="1", memory="1Gi"), container(cpu="500m"), container()])
    assert pod(document).requests == {"cpu": 1500, "memory": 2**30}


def test_an_init_container_that_asks_for_more_than_all_others_together_is_held() -> None:
    document = a_pod(containers=[container(cpu="1", memory="4Gi")], initContainers=[container(cpu="3", memory="1Gi")])
    assert pod(document).requests == {"cpu": 3000, "memory": 4 * 2**30}


def test_restartable_init_containers_run_beside_all_that_comes_after_them() -> None:
    document = a_pod(
        containers=[container(cpu="1")],
        initContainers=[
            container(cpu="2"),  # alone: 2
            container("Always", cpu="1"),
            container(cpu="4"),  # with the one before: 5, the peak
        ],
    )
    assert pod(document).requests == {"cpu": 5000}
    document["spec"]["initContainers"][2] = container(cpu="500m")
    assert pod(document).requests == {"cpu": 2000}


def test_what_a_pod_asks_for_as_a_whole_replaces_its_parts_and_overhead_is_added() -> None:
    document = a_pod(
        containers=[container(cpu="1", **{"nvidia.com/gpu": "8"})],
        resources={"requests": {"cpu": "6"}},
        overhead={"cpu": "250m"},
    )
    assert pod(document).requests == {"cpu": 6250, "nvidia.com/gpu": 8}


# --- why it waits -----------------------------------------------------------------------------------------------------

UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
    "lastTransitionTime": EPOCH,
}


def test_a_pod_that_the_scheduler_cannot_place_says_since_when_and_why() -> None:
    seen = pod(a_pod() | {"status": {"phase": "Pending", "conditions": [UNSCHEDULABLE]}})
    assert seen.unschedulable_since == NOON
    assert seen.waiting == "Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu."


def test_a_gated_pod_waits_but_does_not_lack_room() -> None:
    gated = UNSCHEDULABLE | {"reason": "SchedulingGated", "message": "Scheduling is blocked due to non-empty gates"}
    seen = pod(a_pod() | {"status": {"phase": "Pending", "conditions": [gated]}})
    assert seen.unschedulable_since is None
    assert seen.waiting == "SchedulingGated: Scheduling is blocked due to non-empty gates"


def test_a_container_that_does_not_start_is_named_with_its_reason() -> None:
    state = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    assert waiting(containerStatuses=[{"name": "main", "ready": False, "state": state}]) == (
        "main: ImagePullBackOff: no such image"
    )


def test_an_init_container_comes_before_those_that_wait_for_it() -> None:
    crashed = {"terminated": {"exitCode": 3, "reason": "Error"}}
    later = {"waiting": {"reason": "PodInitializing"}}
    assert (
        waiting(
            initContainerStatuses=[{"name": "load", "ready": False, "state": crashed}],
            containerStatuses=[{"name": "main", "ready": False, "state": later}],
        )
        == "load: Error: exit code 3"
    )


def test_a_running_pod_that_is_not_ready_says_which_containers_are_not() -> None:
    running = [{"name": "main", "ready": False, "state": {"running": {"startedAt": EPOCH}}}]
    unready = {
        "type": "Ready",
        "status": "False",
        "reason": "ContainersNotReady",
        "message": "containers with unready status: [main]",
    }
    assert waiting("Running", containerStatuses=running, conditions=[unready]) == (
        "ContainersNotReady: containers with unready status: [main]"
    )


def test_a_pod_of_which_nothing_is_known_yet_waits_for_nothing_that_could_be_named() -> None:
    assert waiting() is None
    assert waiting("Succeeded", conditions=[UNSCHEDULABLE]) is None


def test_finalizers_are_named_once_nothing_runs_any_more() -> None:
    document = a_pod()
    document["metadata"] |= {"deletionTimestamp": EPOCH, "finalizers": ["example.com/hold"]}
    document["status"]["containerStatuses"] = [{"name": "main", "state": {"running": {"startedAt": EPOCH}}}]
    assert pod(document).waiting is None
    document["status"]["containerStatuses"] = [{"name": "main", "state": {"terminated": {"exitCode": 0}}}]
    assert pod(document).waiting == "held by finalizers: example.com/hold"


def test_a_ready_pod_knows_since_when_and_one_that_is_not_ready_does_not() -> None:
    def seen(status: str) -> datetime | None:
        condition = {"type": "Ready", "status": status, "lastTransitionTime": EPOCH}
        return pod(a_pod() | {"status": {"phase": "Running", "conditions": [condition]}}).ready_at

    assert (seen("True"), seen("False")) == (NOON, None)


def test_a_runtime_class_is_named() -> None:
    assert pod(a_pod(runtimeClassName="nvidia")).runtime_class == "nvidia"
    assert pod(a_pod()).runtime_class is None


def test_what_pods_of_one_template_have_in_common_is_kept_once() -> None:
    def one(name: str) -> Pod:
        document = a_pod(
            name,
            nodeSelector={"zone": "a"},
            tolerations=[{"key": "gpu", "operator": "Exists"}],
            containers=[container(cpu="1", memory="1Gi")],
        )
        document["metadata"] |= {
            "labels": {"app": "web"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web-1", "uid": "ur", "controller": True}],
        }
        return pod(document)

    first, second = one("p1"), one("p2")
    assert first.ref != second.ref
    for name in ("labels", "node_selector", "tolerations", "requests", "controller", "demands"):
        assert getattr(first, name) is getattr(second, name), name

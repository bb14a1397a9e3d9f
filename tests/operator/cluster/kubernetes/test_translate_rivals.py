"""What scales an adapter by itself, and by which name it goes."""

import json
from typing import Any

import pytest

from hangar.domain.workloads.graph import RivalKind
from hangar.domain.workloads.joining import Autoscaler
from hangar.operator.cluster.kubernetes.watched import AUTOSCALERS, SCALED_OBJECTS
from tests.operator.cluster.kubernetes.documents import Document

ADAPTER = {
    "apiVersion": "nvidia.com/v1beta1",
    "kind": "DynamoGraphDeploymentScalingAdapter",
    "name": "chat-decode",
}


def an_autoscaler(name: str = "busy", target: Document | None = None, **metadata: Any) -> bytes:
    common = {"namespace": "serving", "name": name, "uid": f"uid-{name}", "resourceVersion": "5"}
    spec = {"scaleTargetRef": ADAPTER if target is None else target, "maxReplicas": 4}
    return json.dumps({"metadata": common | metadata, "spec": spec}).encode()


def test_an_autoscaler_of_an_adapter_goes_by_its_own_name() -> None:
    expected = Autoscaler("uid-busy", "serving", "chat-decode", RivalKind.HPA, "busy")
    assert AUTOSCALERS.read(an_autoscaler()).value == expected


def test_one_that_keda_made_goes_by_the_name_of_its_scaled_object() -> None:
    owner = {"kind": "ScaledObject", "name": "queue", "uid": "s", "controller": True}
    seen = AUTOSCALERS.read(an_autoscaler("keda-hpa-queue", ownerReferences=[owner])).value
    assert (seen.kind, seen.name) == (RivalKind.KEDA, "queue")
    helm = {"kind": "HelmRelease", "name": "chat", "uid": "r", "controller": True}
    assert AUTOSCALERS.read(an_autoscaler(ownerReferences=[helm])).value.kind is RivalKind.HPA


@pytest.mark.parametrize(
    "target",
    [
        {**ADAPTER, "kind": "Deployment"},
        {**ADAPTER, "apiVersion": "example.com/v1beta1"},
        {"kind": "DynamoGraphDeploymentScalingAdapter", "name": "chat-decode"},
        {"name": "chat-decode"},
    ],
)
def test_one_that_scales_something_else_is_of_no_adapter(target: Document) -> None:
    for watched in (AUTOSCALERS, SCALED_OBJECTS):
        assert watched.read(an_autoscaler(target=target)).value.adapter == ""


@pytest.mark.parametrize(
    ("annotations", "adapter"),
    [
        ({}, "chat-decode"),
        ({"autoscaling.keda.sh/paused": "false"}, "chat-decode"),
        ({"autoscaling.keda.sh/paused": "true"}, ""),
        ({"autoscaling.keda.sh/paused-replicas": "0"}, "chat-decode"),
        ({"autoscaling.keda.sh/paused": "true", "autoscaling.keda.sh/paused-replicas": "0"}, "chat-decode"),
    ],
)
def test_a_scaled_object_writes_a_number_unless_it_is_paused_where_it_is(
    annotations: dict[str, str], adapter: str
) -> None:
    seen = SCALED_OBJECTS.read(an_autoscaler("queue", annotations=annotations)).value
    assert seen == Autoscaler("uid-queue", "serving", adapter, RivalKind.KEDA, "queue")


def test_where_they_are_read() -> None:
    assert AUTOSCALERS.path == "/apis/autoscaling/v2/horizontalpodautoscalers"
    assert SCALED_OBJECTS.path == "/apis/keda.sh/v1alpha1/scaledobjects"

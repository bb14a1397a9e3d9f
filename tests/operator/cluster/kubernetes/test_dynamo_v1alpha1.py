"""Graphs as Dynamo 1.0 and 1.1 serve them: read from documents, and written as one merge patch."""

import json
from typing import Any

import pytest

from hangar.domain.decision import Apply
from hangar.domain.workloads.graph import Component, Counts, GraphRef, Role
from hangar.operator.cluster.kubernetes import dynamo_v1alpha1
from hangar.operator.cluster.kubernetes.translate_graph import SeenGraph
from hangar.operator.cluster.kubernetes.watched import GRAPHS
from tests.operator.cluster.kubernetes.documents import Document, a_graph

CHAT = GraphRef("serving", "chat")


def read(document: Document) -> SeenGraph:
    return GRAPHS[1].read(json.dumps(document).encode()).value


def test_services_are_read_as_components() -> None:
    metadata = {
        "managedFields": [
            {"manager": "kim", "fieldsV1": {"f:spec": {"f:services": {"f:VllmDecodeWorker": {"f:replicas": {}}}}}}
        ]
    }
    counted = {"componentKind": "PodClique", "componentName": "x", "replicas": 2, "updatedReplicas": 2}
    services = {
        "Frontend": {"componentType": "frontend", "extraPodSpec": {"mainContainer": {"image": "x"}}},
        "VllmDecodeWorker": {
            "componentType": "worker",
            "subComponentType": "decode",
            "replicas": 2,
            "multinode": {"nodeCount": 4},
            "resources": {"limits": {"gpu": "8", "memory": "1Ti"}},
            "scalingAdapter": {"enabled": False},
        },
        "prefill": {"componentType": "worker", "subComponentType": "prefill", "scalingAdapter": {"enabled": True}},
    }
    status = {"services": {"VllmDecodeWorker": {**counted, "readyReplicas": 1}}}
    seen = read(a_graph("v1alpha1", components=services, metadata=metadata, status=status))
    assert seen.graph.api_version == "nvidia.com/v1alpha1"
    assert seen.graph.components == (
        Component("Frontend", Role.FRONTEND, 1),
        Component(
            "VllmDecodeWorker", Role.DECODE, 2, node_count=4, gpus_per_pod=8, counts=Counts(2, 2, 1), written_by="kim"
        ),
        Component("prefill", Role.PREFILL, 1, has_adapter=True),
    )


@pytest.mark.parametrize(
    ("service", "count"),
    [
        ({"resources": {"limits": {"gpu": "2"}}}, 2),
        ({"resources": {"requests": {"gpu": "2"}}}, 2),
        ({"resources": {"limits": {"gpu": "2"}, "requests": {"gpu": "1"}}}, 2),
        ({"resources": {"limits": {"custom": {"nvidia.com/gpu": "4"}}}}, 4),
        ({"extraPodSpec": {"mainContainer": {"resources": {"limits": {"nvidia.com/gpu": 1}}}}}, 1),
        ({"resources": {"limits": {"cpu": "2"}}}, 0),
        ({"resources": {"limits": {"gpu": "2", "gpuType": "gpu.intel.com/xe"}}}, None),
        ({"resources": {"limits": {"gpu": "2", "gpuType": "nvidia.com/gpu"}}}, 2),
        ({"resources": {"claims": [{"name": "gpus"}]}}, None),
        ({"extraPodSpec": {"resourceClaims": [{"name": "gpus"}]}}, None),
    ],
)
def test_gpus_of_a_pod_are_found_wherever_they_are_asked_for(service: dict[str, Any], count: int | None) -> None:
    seen = read(a_graph("v1alpha1", components={"worker": {"componentType": "worker", **service}}))
    assert seen.graph.components[0].gpus_per_pod == count


def test_a_patch_merges_numbers_and_revision_at_the_version_that_was_seen() -> None:
    seen = read(a_graph("v1alpha1", at=7, components={"decode": {}, "prefill": {}}))
    step = Apply(CHAT, "uid-chat", "7", 42, {"decode": 4, "prefill": 0})
    assert dynamo_v1alpha1.patch(seen, step) == {
        "metadata": {"resourceVersion": "7", "annotations": {"wingsmith.dev/applied-rev": "42"}},
        "spec": {"services": {"decode": {"replicas": 4}, "prefill": {"replicas": 0}}},
    }

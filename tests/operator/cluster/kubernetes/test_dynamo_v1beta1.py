"""Graphs as Dynamo 1.2 and later serve them: read from documents, and written as one JSON patch."""

import json
from typing import Any

from hangar.domain.decision import Apply
from hangar.domain.workloads.graph import Component, Counts, GraphRef, Role
from hangar.operator.cluster.kubernetes import dynamo_v1beta1
from hangar.operator.cluster.kubernetes.translate_graph import SeenGraph
from hangar.operator.cluster.kubernetes.watched import GRAPHS
from tests.operator.cluster.kubernetes.documents import Document, a_graph

CHAT = GraphRef("serving", "chat")


def read(document: Document) -> SeenGraph:
    return GRAPHS[0].read(json.dumps(document).encode()).value


def a_container(limits: dict[str, Any], *, name: str = "main", **parts: Any) -> Document:
    return {"name": name, "image": "x", "resources": {"limits": limits, **parts}}


def pods(*containers: Document, **spec: Any) -> Document:
    return {"metadata": {"creationTimestamp": None}, "spec": {"containers": list(containers), **spec}}


def test_components_are_read_with_all_that_is_said_of_them() -> None:
    metadata = {
        "managedFields": [
            {"manager": "kim", "fieldsV1": {"f:spec": {"f:components": {'k:{"name":"decode"}': {"f:replicas": {}}}}}}
        ]
    }
    status = {
        "observedGeneration": 3,
        "state": "pending",
        "components": {
            "decode": {
                "componentKind": "Deployment",
                "replicas": 3,
                "updatedReplicas": 2,
                "readyReplicas": 2,
                "availableReplicas": 1,
            }
        },
    }
    components = [
        {"name": "Frontend", "type": "frontend"},
        {
            "name": "decode",
            "type": "decode",
            "replicas": 3,
            "minAvailable": 1,
            "multinode": {"nodeCount": 2},
            "podTemplate": pods(a_container({"nvidia.com/gpu": "1"}, name="side"), a_container({"nvidia.com/gpu": 8})),
        },
        {"name": "prefill", "type": "prefill", "replicas": 0, "scalingAdapter": {}, "multinode": {}},
    ]
    seen = read(a_graph("v1beta1", components=components, metadata=metadata, status=status))
    assert seen.graph.api_version == "nvidia.com/v1beta1"
    assert seen.graph.components == (
        Component("Frontend", Role.FRONTEND, 1),
        Component("decode", Role.DECODE, 3, node_count=2, gpus_per_pod=8, counts=Counts(3, 2, 1), written_by="kim"),
        Component("prefill", Role.PREFILL, 0, node_count=2, has_adapter=True),
    )


def test_gpus_that_a_claim_states_cannot_be_counted() -> None:
    by_container = pods(a_container({"nvidia.com/gpu": "1"}, claims=[{"name": "gpus"}]))
    by_pod = pods(a_container({}), resourceClaims=[{"name": "gpus", "resourceClaimTemplateName": "t"}])
    for template in (by_container, by_pod):
        seen = read(a_graph("v1beta1", components=[{"name": "w", "type": "worker", "podTemplate": template}]))
        assert seen.graph.components[0].gpus_per_pod is None


def test_a_graph_of_nothing_but_a_name_is_one() -> None:
    document = a_graph("v1beta1")
    del document["spec"]
    assert read(document).graph.components == ()


COMPONENTS = [{"name": "Frontend"}, {"name": "prefill", "replicas": 2}, {"name": "decode"}]


def test_a_patch_tests_version_and_names_and_writes_numbers_and_revision() -> None:
    seen = read(a_graph("v1beta1", at=7, components=COMPONENTS, metadata={"annotations": {"a": "b"}}))
    step = Apply(CHAT, "uid-chat", "7", 42, {"decode": 4, "prefill": 0})
    assert dynamo_v1beta1.patch(seen, step) == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "test", "path": "/spec/components/2/name", "value": "decode"},
        {"op": "test", "path": "/spec/components/1/name", "value": "prefill"},
        {"op": "add", "path": "/spec/components/2/replicas", "value": 4},
        {"op": "add", "path": "/spec/components/1/replicas", "value": 0},
        {"op": "add", "path": "/metadata/annotations/wingsmith.dev~1applied-rev", "value": "42"},
    ]


def test_a_graph_without_annotations_gets_a_place_for_them_first() -> None:
    seen = read(a_graph("v1beta1", at=7, components=COMPONENTS))
    patch = dynamo_v1beta1.patch(seen, Apply(CHAT, "uid-chat", "7", 42, {}))
    assert patch == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "add", "path": "/metadata/annotations/wingsmith.dev~1applied-rev", "value": "42"},
    ]

"""Templates: what keeps a document from being a graph, and what the replicas of the graph will be."""

from typing import Any

import pytest

from hangar.domain.workloads.graph import Component, GraphRef, Role
from hangar.domain.workloads.template import Fault, template_faults, template_graph

REF = GraphRef("serving", "new")
BETA: dict[str, Any] = {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment"}
ALPHA = BETA | {"apiVersion": "nvidia.com/v1alpha1"}
LIMITS = {"resources": {"limits": {"nvidia.com/gpu": "2"}}}


def beta(*components: object, **fields: Any) -> dict[str, Any]:
    return BETA | {"spec": {"components": list(components)}} | fields


def alpha(**services: object) -> dict[str, Any]:
    return ALPHA | {"spec": {"services": services}}


def pods(**container: Any) -> dict[str, Any]:
    return {"podTemplate": {"spec": {"containers": [{"name": "other"}, {"name": "main"} | container]}}}


def one(template: dict[str, Any]) -> Component:
    assert template_faults(template) == []
    [component] = template_graph(template, REF).components
    return component


# --- reading ----------------------------------------------------------------------------------------------------------


def test_the_newer_version_lists_its_components() -> None:
    template = beta(
        {"name": "Frontend", "type": "frontend"},
        {"name": "decode", "type": "decode", "replicas": 3, "multinode": {"nodeCount": 4}} | pods(**LIMITS),
        {"name": "planner", "type": "planner", "replicas": 0, "scalingAdapter": {}},
        metadata={"name": "passed-over", "namespace": "too", "labels": {"a": "b"}},
    )
    assert template_faults(template) == []
    graph = template_graph(template, REF)
    assert (graph.ref, graph.api_version, graph.uid) == (REF, "nvidia.com/v1beta1", "")
    assert graph.components == (
        Component("Frontend", Role.FRONTEND, 1),
        Component("decode", Role.DECODE, 3, node_count=4, gpus_per_pod=2),
        Component("planner", Role.PLANNER, 0, has_adapter=True),
    )


def test_the_older_version_has_a_map_of_services() -> None:
    template = alpha(
        Frontend={"componentType": "frontend"},
        Decode={
            "componentType": "worker",
            "subComponentType": "decode",
            "replicas": 2,
            "multinode": {},
            "resources": {"limits": {"gpu": "8"}},
            "scalingAdapter": {"enabled": False},
        },
        Prefill={"componentType": "worker", "subComponentType": "prefill", "extraPodSpec": {"mainContainer": LIMITS}},
        Odd={"componentType": "oracle"},
    )
    assert template_faults(template) == []
    assert template_graph(template, REF).components == (
        Component("Frontend", Role.FRONTEND, 1),
        Component("Decode", Role.DECODE, 2, node_count=2, gpus_per_pod=8),
        Component("Prefill", Role.PREFILL, 1, gpus_per_pod=2),
        Component("Odd", Role.OTHER, 1),
    )


@pytest.mark.parametrize(
    ("template", "gpus"),
    [
        (beta({"name": "w"} | pods()), 0),
        (beta({"name": "w"} | pods(resources={"limits": {"nvidia.com/gpu": 4}})), 4),
        (beta({"name": "w"} | pods(resources={"limits": {"nvidia.com/gpu": "1e1"}})), None),
        (beta({"name": "w"} | pods(resources={"limits": {"nvidia.com/mig-1g.10gb": "1"}})), None),
        (beta({"name": "w"} | pods(resources={"claims": [{"name": "gpu"}]})), None),
        (beta({"name": "w", "podTemplate": {"spec": {"resourceClaims": [{}]}}}), None),
        (alpha(w={"resources": {"requests": {"gpu": "1"}, "limits": {"gpu": "2"}}}), 2),
        (alpha(w={"resources": {"limits": {"gpu": "2", "gpuType": "nvidia.com/gpu"}}}), 2),
        (alpha(w={"resources": {"limits": {"gpu": "2", "gpuType": "nvidia.com/mig-1g.10gb"}}}), None),
        (alpha(w={"resources": {"limits": {"custom": {"nvidia.com/gpu": "3"}}}}), 3),
        (alpha(w={"resources": {"claims": [{}]}}), None),
        (alpha(w={"extraPodSpec": {"resourceClaims": [{}]}}), None),
    ],
)
def test_gpus_are_counted_where_they_can_be(template: dict[str, Any], gpus: int | None) -> None:
    assert one(template).gpus_per_pod == gpus


# --- refusing ---------------------------------------------------------------------------------------------------------


def test_what_is_no_graph_is_told_in_all_that_is_wrong_with_it() -> None:
    template = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"uid": "u", "resourceVersion": "1", "annotations": {"wingsmith.dev/applied-rev": "7", "a": "b"}},
        "status": {},
        "data": {},
    }
    assert [each.path for each in template_faults(template)] == [
        *("status", "data", "kind", "metadata.uid", "metadata.resourceVersion"),
        *("metadata.annotations.wingsmith.dev/applied-rev", "apiVersion"),
    ]
    assert Fault("kind", "is 'Deployment': DynamoGraphDeployment is wanted") in template_faults(template)


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        (BETA, Fault("spec.components", "has no component: at least one is wanted")),
        (ALPHA | {"spec": {"services": []}}, Fault("spec.services", "has no component: at least one is wanted")),
        (beta("w"), Fault("spec.components[0]", "is no object")),
        (beta({"type": "worker"}), Fault("spec.components[0].name", "is missing")),
        (beta({"name": "w"}, {"name": "W"}), Fault("spec.components[1].name", "W is given twice")),
        (
            beta({"name": "w", "replicas": -1}),
            Fault("spec.components[0].replicas", "is -1: a whole number from 0 on is wanted"),
        ),
        (
            alpha(w={"replicas": "2"}),
            Fault("spec.services.w.replicas", "is '2': a whole number from 0 on is wanted"),
        ),
        (
            beta({"name": "w", "multinode": {"nodeCount": 1}}),
            Fault("spec.components[0].multinode.nodeCount", "is 1: a whole number from 2 on is wanted"),
        ),
        (alpha(w=None), Fault("spec.services.w", "is no object")),
        (beta({"name": "w"}, metadata=[]), Fault("metadata", "is no object")),
    ],
)
def test_a_component_that_is_none_is_told_by_its_place(template: dict[str, Any], fault: Fault) -> None:
    assert template_faults(template) == [fault]

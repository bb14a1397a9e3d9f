"""What a replica of a graph is, and how many it is asked for and has ready."""

import pytest

from hangar.domain.workloads.graph import Component, Counts, Graph, GraphRef, Role
from hangar.domain.workloads.shape import (
    NoShape,
    Shape,
    asked_replicas,
    counts_of,
    default_shape,
    gpus_per_replica,
    ready_replicas,
    shape_problems,
)

REF = GraphRef("serving", "llama")
FRONTEND = Component("Frontend", Role.FRONTEND, 1)
PLANNER = Component("planner", Role.PLANNER, 1)


def graph(*components: Component) -> Graph:
    return Graph(REF, "u1", "1", "nvidia.com/v1beta1", components)


def component(name: str, role: Role, replicas: int, ready: int | None = None) -> Component:
    counts = None if ready is None else Counts(replicas, replicas, ready)
    return Component(name, role, replicas, gpus_per_pod=1, counts=counts)


def disaggregated(prefill: int, decode: int) -> Graph:
    parts = component("prefill", Role.PREFILL, prefill), component("decode", Role.DECODE, decode)
    return graph(FRONTEND, *parts, PLANNER)


@pytest.mark.parametrize(
    ("of", "shape"),
    [
        (graph(FRONTEND, component("worker", Role.WORKER, 4)), {"worker": 1}),
        (graph(FRONTEND, component("decode", Role.DECODE, 3)), {"decode": 1}),
        (disaggregated(4, 8), {"prefill": 1, "decode": 2}),
        (disaggregated(6, 4), {"prefill": 3, "decode": 2}),
        (disaggregated(0, 0), {"prefill": 1, "decode": 1}),
    ],
)
def test_a_graph_tells_its_shape(of: Graph, shape: Shape) -> None:
    assert default_shape(of) == shape


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (disaggregated(0, 2), "prefill is at 0 and the other is not, so there is no ratio to keep"),
        (graph(FRONTEND, PLANNER), "it has no component that could be scaled"),
        (
            graph(component("a", Role.WORKER, 1), component("b", Role.WORKER, 1)),
            "it has several components that could be scaled: a (worker), b (worker)",
        ),
    ],
)
def test_a_graph_that_does_not_tell_its_shape_says_why(of: Graph, why: str) -> None:
    assert default_shape(of) == NoShape(why)


def test_a_named_shape_must_name_components_that_can_be_scaled() -> None:
    assert shape_problems({"decode": 2, "encode": 1, "planner": 1}, disaggregated(1, 2)) == [
        "serving/llama has no component 'encode'; it has Frontend, prefill, decode, planner",
        "planner is a planner, which is never scaled",
    ]


def test_asked_replicas_are_whole_ones_or_nobody_knows() -> None:
    shape = {"prefill": 1, "decode": 2}
    assert asked_replicas(disaggregated(3, 6), shape) == 3
    assert asked_replicas(disaggregated(0, 0), shape) == 0
    assert asked_replicas(disaggregated(3, 5), shape) is None
    assert asked_replicas(disaggregated(3, 6), {"encode": 1}) is None
    assert counts_of(shape, 3) == {"prefill": 3, "decode": 6}


def test_ready_replicas_are_as_many_as_the_scarcest_component_allows() -> None:
    parts = component("prefill", Role.PREFILL, 3, ready=3), component("decode", Role.DECODE, 6, ready=5)
    assert ready_replicas(graph(*parts), {"prefill": 1, "decode": 2}) == 2
    assert ready_replicas(disaggregated(3, 6), {"prefill": 1, "decode": 2}) == 0


def test_gpus_of_a_replica_count_every_pod_of_its_gangs_or_are_unknown() -> None:
    prefill = Component("prefill", Role.PREFILL, 1, node_count=2, gpus_per_pod=8)
    assert gpus_per_replica(graph(prefill, component("decode", Role.DECODE, 1)), {"prefill": 1, "decode": 2}) == 18
    unknown = Component("worker", Role.WORKER, 1, gpus_per_pod=None)
    assert gpus_per_replica(graph(unknown), {"worker": 1}) is None

"""Graphs behind scaling adapters, those that others hold, and those that are created and removed."""

from dataclasses import replace
from typing import Any

import pytest

from hangar.domain.decision import Accepted, Answer, Apply, Busy, Create, Denied, Gone, Namesake, Remove, Scale, Trouble
from hangar.domain.devices import GPU
from hangar.domain.workloads.graph import Component, Counts, Document, Graph, GraphRef, Rival, RivalKind, Role
from hangar.operator.cluster.simulated.api import take
from hangar.operator.cluster.simulated.scaling_adapters import FOLLOWED_AFTER_S, FOLLOWER
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, PodTemplate, RivalSpec
from hangar.operator.cluster.simulated.world import World
from tests.domain.building import CHAT
from tests.operator.cluster.simulated.worlds import a_world, pass_s

REF = GraphRef("serving", "llama")
WORKER = PodTemplate({GPU: 1}, ready_after_s=5.0, terminate_after_s=3.0)


def a_spec(*rivals: RivalSpec) -> GraphSpec:
    parts = (
        ComponentSpec("prefill", Role.PREFILL, 2, WORKER),
        ComponentSpec("Decode", Role.DECODE, 2, WORKER, has_adapter=True),
    )
    return GraphSpec("llama", parts, "serving", rivals)


def a_world_with(*rivals: RivalSpec) -> World:
    world = a_world()
    world.add_graph(a_spec(*rivals))
    return world


def shown(world: World, name: str = "Decode") -> tuple[Graph, Component]:
    graph = world.snapshot().graphs[REF]
    component = graph.component(name)
    assert component is not None
    return graph, component


def scale(world: World, replicas: int, **changes: Any) -> Answer:
    adapter = shown(world)[1].adapter
    assert adapter is not None
    step = Scale(REF, "Decode", adapter.name, adapter.uid, adapter.version, replicas)
    return take(world, replace(step, **changes))


def write(world: World, rev: int | None = 7, **counts: int) -> Answer:
    graph, _ = shown(world)
    return take(world, Apply(REF, graph.uid, graph.version, rev, counts))


# --- adapters ---------------------------------------------------------------------------------------------------------


def test_an_adapter_has_the_number_of_its_component_and_an_identity_of_its_own() -> None:
    _, decode = shown(a_world_with())
    assert decode.adapter is not None
    assert (decode.adapter.name, decode.adapter.replicas, decode.adapter.written_by) == ("llama-decode", 2, None)
    _, prefill = shown(a_world_with(), "prefill")
    assert (prefill.has_adapter, prefill.adapter) == (False, None)


def test_the_graph_follows_its_adapter_a_moment_later() -> None:
    world = a_world_with()
    before, _ = shown(world)
    assert scale(world, 3) == Accepted()
    graph, decode = shown(world)
    assert decode.adapter is not None
    assert (decode.adapter.replicas, decode.adapter.written_by, decode.replicas) == (3, "hangar-operator", 2)
    assert graph.version == before.version, "the adapter is another object"
    pass_s(world, FOLLOWED_AFTER_S)
    graph, decode = shown(world)
    assert (decode.replicas, decode.written_by, graph.is_observed) == (3, FOLLOWER, False)
    pass_s(world, 20.0)
    assert shown(world)[1].counts == Counts(3, 3, 3)


def test_a_number_behind_an_adapter_is_not_written_past_it() -> None:
    world = a_world_with()
    refused = write(world, prefill=1, Decode=3)
    assert isinstance(refused, Denied)
    assert "cannot be modified directly when scaling adapter is enabled" in refused.message
    graph, decode = shown(world)
    assert (graph.applied_rev, decode.replicas) == (None, 2)
    assert write(world, prefill=1) == Accepted()
    assert write(world, None, prefill=3) == Accepted()
    graph, prefill = shown(world, "prefill")
    assert (graph.applied_rev, prefill.replicas) == (7, 3), "without a revision the old one stays"


def test_an_adapter_that_is_not_the_one_that_was_seen_is_not_written() -> None:
    world = a_world_with()
    assert scale(world, 3, uid="another") == Namesake()
    assert scale(world, 3, adapter="another") == Gone()
    assert scale(world, 3, version="0") == Busy(
        "409: adapter llama-decode was changed since it was read", trouble=Trouble.CONFLICT
    )
    world.remove_adapter(REF, "Decode")
    _, decode = shown(world)
    assert (decode.has_adapter, decode.adapter) == (True, None)
    assert take(world, Scale(REF, "Decode", "llama-decode", "u", "1", 3)) == Gone()


def test_whoever_scales_by_hand_does_so_by_the_adapter() -> None:
    world = a_world_with()
    world.scale_graph_by_hand(REF, "Decode", 4, "kubectl-scale")
    adapter = shown(world)[1].adapter
    assert adapter is not None
    assert (adapter.replicas, adapter.written_by) == (4, "kubectl-scale")


def test_writes_can_be_refused_so_many_times() -> None:
    world = a_world_with()
    away = Busy("failed calling webhook: connection refused", trouble=Trouble.WEBHOOK)
    world.dynamo.refusals.extend([away] * 2)
    assert [write(world, prefill=1) for _ in range(3)] == [away, away, Accepted()]


# --- rivals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("component", ["prefill", "Decode"])
def test_an_autoscaler_puts_its_number_back_and_leaves_our_revision(component: str) -> None:
    world = a_world_with(RivalSpec(RivalKind.HPA, "hpa", component, after_s=5.0))
    assert shown(world)[0].rivals == (Rival(RivalKind.HPA, "hpa", component),)
    write(world, prefill=1)
    scale(world, 1)
    pass_s(world, 4.0)
    assert shown(world, component)[1].replicas == 1
    pass_s(world, 3.0)
    graph, held = shown(world, component)
    assert (held.replicas, graph.applied_rev) == (2, 7)
    assert (held.adapter.written_by if held.adapter else held.written_by) == "hpa"
    other = "Decode" if component == "prefill" else "prefill"
    assert shown(world, other)[1].replicas == 1, "what it does not hold stays"
    pass_s(world, 60.0)
    assert shown(world, component)[1].replicas == 2


def test_a_rival_that_replaces_the_object_takes_our_revision_too() -> None:
    world = a_world_with(RivalSpec(RivalKind.GITOPS, "argocd", after_s=1.0, replaces=True))
    write(world, prefill=1)
    pass_s(world, 2.0)
    graph, prefill = shown(world, "prefill")
    assert (graph.applied_rev, prefill.replicas, prefill.written_by) == (None, 2, "argocd")
    write(world, prefill=2)
    pass_s(world, 2.0)
    assert shown(world)[0].applied_rev is None, "also where no number differs"


def test_a_rival_of_a_graph_that_is_gone_does_nothing() -> None:
    world = a_world_with(RivalSpec(RivalKind.GITOPS, "argocd", after_s=1.0))
    write(world, prefill=1)
    world.remove_graph(REF)
    pass_s(world, 5.0)
    assert REF not in world.snapshot().graphs


# --- created and removed ----------------------------------------------------------------------------------------------

MAIN = {"name": "main", "resources": {"limits": {GPU: "2"}}}
BETA = {
    "apiVersion": "nvidia.com/v1beta1",
    "kind": "DynamoGraphDeployment",
    "spec": {
        "components": [
            {"name": "Frontend", "type": "frontend"},
            {
                "name": "decode",
                "type": "decode",
                "replicas": 9,
                "multinode": {"nodeCount": 2},
                "scalingAdapter": {},
                "podTemplate": {"spec": {"containers": [{"name": "sidecar"}, MAIN]}},
            },
        ]
    },
}
ALPHA = {
    "spec": {
        "services": {
            "Frontend": {"componentType": "frontend"},
            "decode": {
                "componentType": "worker",
                "subComponentType": "decode",
                "multinode": {"nodeCount": 2},
                "scalingAdapter": {"enabled": True},
                "resources": {"limits": {"gpu": "2"}},
            },
        }
    }
}


def create(world: World, template: Document = BETA, **counts: int) -> Answer:
    return take(world, Create(REF, 7, counts or {"decode": 2}, CHAT, template))


@pytest.mark.parametrize("template", [BETA, ALPHA], ids=["v1beta1", "v1alpha1"])
def test_a_graph_is_created_as_ours_with_its_counts_and_comes_up_by_itself(template: Document) -> None:
    world = a_world()
    assert create(world, template) == Accepted()
    graph, decode = shown(world, "decode")
    assert (graph.applied_rev, graph.is_ours, graph.is_observed) == (7, True, False)
    assert (decode.role, decode.replicas, decode.node_count, decode.gpus_per_pod) == (Role.DECODE, 2, 2, 2)
    assert (decode.has_adapter, decode.adapter, decode.pods) == (True, None, 0)
    pass_s(world, 20.0)
    _, decode = shown(world, "decode")
    assert decode.adapter is not None
    assert (decode.adapter.replicas, decode.counts, decode.pods) == (2, Counts(2, 2, 2), 4)
    assert shown(world, "Frontend")[1].counts == Counts(1, 1, 1)


def test_what_cannot_be_created_is_refused_with_the_reason() -> None:
    world = a_world()
    for refused, words in (
        (create(world, worker=1), "it has no component worker"),
        (create(world, {}), "missing required field `spec`"),
        (create(world, {"spec": {"components": [{"name": 1}]}}), "Expected `str`, got `int`"),
    ):
        assert isinstance(refused, Denied)
        assert words in refused.message
    assert create(world) == Accepted()
    assert create(world) == Busy("409: graph serving/llama already exists", trouble=Trouble.CONFLICT)


def test_a_graph_is_removed_by_its_uid_and_its_pods_follow() -> None:
    world = a_world()
    assert create(world) == Accepted()
    pass_s(world, 20.0)
    graph, _ = shown(world, "decode")
    assert take(world, Remove(REF, "another")) == Namesake()
    assert take(world, Remove(REF, graph.uid)) == Accepted()
    assert take(world, Remove(REF, graph.uid)) == Gone()
    pass_s(world, 20.0)
    assert [pod for pod in world.snapshot().pods.values() if pod.part is not None] == []


def test_a_graph_that_is_not_ours_is_not_removed() -> None:
    world = a_world_with()
    graph, _ = shown(world)
    assert isinstance(take(world, Remove(REF, graph.uid)), Denied)
    assert shown(world)[0].uid == graph.uid

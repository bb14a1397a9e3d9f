"""Graphs: what is asked for is seen after a moment, made of pods, and counted; nothing is ready before it is."""

import pytest

from hangar.domain.decision import Accepted, Answer, Apply, Busy, Denied, Gone, Namesake, Trouble
from hangar.domain.devices import GPU
from hangar.domain.snapshot import Pod
from hangar.domain.workloads.graph import Counts, Desired, Graph, GraphRef, Role, has_drifted, is_converged
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL
from hangar.operator.cluster.simulated.api import take
from hangar.operator.cluster.simulated.dynamo import API_VERSION, OBSERVED_AFTER_S, TYPE_LABEL
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, NodeSpec, PodTemplate
from hangar.operator.cluster.simulated.world import World
from tests.operator.cluster.simulated.worlds import NOON, a_world, pass_s

REF = GraphRef("serving", "llama")
WORKER = PodTemplate({GPU: 1}, {"app": "llama"}, ready_after_s=5.0, terminate_after_s=3.0)


def a_spec(decode: int = 2, node_count: int = 1) -> GraphSpec:
    parts = (
        ComponentSpec("Frontend", Role.FRONTEND),
        ComponentSpec("decode", Role.DECODE, decode, WORKER, node_count),
    )
    return GraphSpec("llama", parts, "serving")


def a_world_with(spec: GraphSpec) -> World:
    world = a_world()
    assert world.add_graph(spec) == REF
    return world


def shown(world: World) -> Graph:
    return world.snapshot().graphs[REF]


def pods(world: World, component: str = "decode") -> list[Pod]:
    found = (pod for pod in world.snapshot().pods.values() if pod.labels.get(COMPONENT_LABEL) == component)
    return sorted(found, key=lambda pod: pod.ref)


def counts(world: World) -> Counts | None:
    component = shown(world).component("decode")
    assert component is not None
    return component.counts


def write(world: World, rev: int = 7, **counts: int) -> Answer:
    graph = shown(world)
    return take(world, Apply(REF, graph.uid, graph.version, rev, counts))


def test_a_graph_is_there_with_its_pods_ready_and_its_components_counted() -> None:
    world = a_world_with(a_spec())
    graph = shown(world)
    assert (graph.api_version, graph.is_observed, graph.applied_rev, graph.unready) == (API_VERSION, True, None, None)
    frontend, decode = graph.components
    assert (frontend.role, frontend.replicas, frontend.gpus_per_pod, frontend.pods) == (Role.FRONTEND, 1, 0, 1)
    assert (decode.role, decode.replicas, decode.gpus_per_pod, decode.pods) == (Role.DECODE, 2, 1, 2)
    assert decode.counts == Counts(2, 2, 2)
    assert [owner.ref.name for owner in world.snapshot().owners.values() if owner.parent is None] == [
        "llama-frontend",
        "llama-decode",
    ]
    first, _ = pods(world)
    assert first.ref.namespace == "serving"
    assert first.labels == {"app": "llama", GRAPH_LABEL: "llama", COMPONENT_LABEL: "decode", TYPE_LABEL: "decode"}


def test_what_is_written_is_shown_at_once_with_our_revision_and_whose_hand_it_was() -> None:
    world = a_world_with(a_spec())
    before = shown(world)
    assert write(world, decode=4, Frontend=1) == Accepted()
    graph = shown(world)
    assert (graph.applied_rev, graph.is_observed) == (7, False)
    assert graph.version != before.version
    frontend, decode = graph.components
    assert (decode.replicas, decode.written_by, decode.counts) == (4, "hangar-operator", Counts(2, 2, 2))
    assert (frontend.replicas, frontend.written_by) == (1, None), "a value that stays has the owner it had"


def test_a_graph_that_grows_is_not_converged_before_all_of_it_is_ready() -> None:
    world = a_world_with(a_spec())
    wanted = Desired(REF, 7, {"decode": 4})
    write(world, decode=4)
    seen = []
    for _ in range(60):
        graph = shown(world)
        seen.append((graph.is_observed, counts(world), graph.unready, is_converged(graph, wanted)))
        pass_s(world, 0.1)
    assert list(dict.fromkeys(seen)) == [
        (False, Counts(2, 2, 2), None, False),
        (True, Counts(2, 2, 2), "pods_not_ready: decode 2/4", False),
        (True, Counts(4, 4, 2), "pods_not_ready: decode 2/4", False),
        (True, Counts(4, 4, 4), None, True),
    ]


def test_a_graph_that_shrinks_counts_less_before_its_pods_have_ended() -> None:
    world = a_world_with(a_spec(3))
    write(world, decode=0)
    pass_s(world, 1.0)
    assert counts(world) == Counts(0, 0, 0)
    decode = shown(world).component("decode")
    assert decode is not None
    assert decode.pods == 3, "and they are still there"
    assert all(pod.is_terminating for pod in pods(world))
    pass_s(world, 5.0)
    decode = shown(world).component("decode")
    assert decode is not None
    assert decode.pods == 0


def test_a_pod_that_goes_is_made_again_and_the_graph_says_so_meanwhile() -> None:
    world = a_world_with(a_spec())
    world.delete_pod(pods(world)[0].ref.uid)
    pass_s(world, 1.0)
    assert shown(world).unready == "pods_not_ready: decode 1/2"
    pass_s(world, 10.0)
    assert (shown(world).unready, counts(world)) == (None, Counts(2, 2, 2))


def test_a_replica_of_several_nodes_is_a_gang_and_counts_once() -> None:
    world = a_world_with(a_spec(2, node_count=2))
    assert counts(world) == Counts(2, 2, 2)
    assert len(pods(world)) == 4
    world.crash(pods(world)[0].ref.uid, "main: CrashLoopBackOff: back-off 5m0s")
    pass_s(world, 1.0)
    assert counts(world) == Counts(2, 2, 1)
    write(world, decode=1)
    pass_s(world, 20.0)
    decode = shown(world).component("decode")
    assert decode is not None
    assert (decode.node_count, decode.pods, decode.counts) == (2, 2, Counts(1, 1, 0))


def test_what_finds_no_room_stays_unready() -> None:
    world = World(NOON)
    world.add_node(NodeSpec("n1", {GPU: 3, "cpu": 1000, "memory": 1 << 30, "pods": 10}))
    world.add_graph(a_spec(2))
    write(world, decode=4)
    pass_s(world, 60.0)
    assert (counts(world), shown(world).unready) == (Counts(4, 4, 3), "pods_not_ready: decode 3/4")


@pytest.mark.parametrize("manager", ["kubectl", "planner"])
def test_a_change_by_hand_leaves_our_revision_and_names_whose_it_is(manager: str) -> None:
    world = a_world_with(a_spec())
    write(world, decode=3)
    pass_s(world, 20.0)
    world.scale_graph_by_hand(REF, "decode", 5, manager)
    graph = shown(world)
    decode = graph.component("decode")
    assert decode is not None
    assert (graph.applied_rev, graph.is_observed, decode.written_by) == (7, False, manager)
    assert has_drifted(graph, Desired(REF, 7, {"decode": 3}))
    pass_s(world, 20.0)
    assert counts(world) == Counts(5, 5, 5)


def test_two_changes_in_a_row_are_seen_together() -> None:
    world = a_world_with(a_spec())
    write(world, decode=8)
    pass_s(world, OBSERVED_AFTER_S / 2)
    write(world, 8, decode=3)
    pass_s(world, 20.0)
    graph = shown(world)
    assert (graph.applied_rev, graph.is_observed, counts(world)) == (8, True, Counts(3, 3, 3))
    assert [pod.ref.name[-1] for pod in pods(world)] == ["0", "1", "2"], "no pod was made for the first"


def test_a_graph_that_is_paused_is_left_alone_until_it_is_not() -> None:
    world = a_world_with(a_spec())
    world.pause_graph_by_hand(REF)
    assert shown(world).is_paused
    world.scale_graph_by_hand(REF, "decode", 3)
    pass_s(world, 20.0)
    assert (shown(world).is_observed, counts(world)) == (False, Counts(2, 2, 2))
    world.pause_graph_by_hand(REF, on=False)
    pass_s(world, 20.0)
    assert (shown(world).is_observed, counts(world)) == (True, Counts(3, 3, 3))


def test_a_write_at_a_version_that_is_over_changes_nothing() -> None:
    world = a_world_with(a_spec())
    before = shown(world)
    world.scale_graph_by_hand(REF, "decode", 5)
    answer = take(world, Apply(REF, before.uid, before.version, 7, {"decode": 1}))
    assert answer == Busy("409: graph serving/llama was changed since it was read", trouble=Trouble.CONFLICT)
    graph = shown(world)
    decode = graph.component("decode")
    assert decode is not None
    assert (decode.replicas, graph.applied_rev) == (5, None)


def test_progress_of_a_graph_is_a_new_version_of_it() -> None:
    world = a_world_with(a_spec())
    write(world, decode=3)
    versions = set()
    for _ in range(100):
        versions.add(shown(world).version)
        pass_s(world, 0.1)
    assert len(versions) == 4, "written, seen, made, ready"


def test_a_component_that_is_not_there_is_refused() -> None:
    assert write(a_world_with(a_spec()), prefill=1) == Denied("422: graph serving/llama has no component prefill")


def test_a_graph_that_is_deleted_takes_its_pods_along_and_another_of_its_name_is_not_it() -> None:
    world = a_world_with(a_spec())
    before = shown(world)
    step = Apply(REF, before.uid, before.version, 7, {"decode": 3})
    write(world, decode=4)
    world.remove_graph(REF)
    assert take(world, step) == Gone()
    pass_s(world, 20.0)
    assert (world.snapshot().pods, world.snapshot().owners) == ({}, {})
    world.add_graph(a_spec())
    assert take(world, step) == Namesake()


def test_a_graph_made_anew_has_no_pod_named_as_one_that_still_ends() -> None:
    world = a_world_with(a_spec())
    world.remove_graph(REF)
    world.add_graph(a_spec())
    pass_s(world, 0.5)
    names = [pod.ref.name for pod in world.snapshot().pods.values()]
    assert len(names) == len(set(names)) == 6


def test_a_graph_goes_with_its_namespace() -> None:
    world = a_world_with(a_spec())
    world.remove_namespace("serving")
    pass_s(world, 20.0)
    assert (world.snapshot().graphs, world.snapshot().pods) == ({}, {})

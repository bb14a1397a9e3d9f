"""What every cluster adapter shows of graphs, and what it answers to writes of them."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from hangar.domain.decision import Accepted, Apply, Busy, Gone, Namesake, Trouble, Withheld
from hangar.domain.devices import GPU
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import Component, Graph, GraphRef, Role
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, PodTemplate
from tests.contracts.cluster_stage import Stage, a_node, a_template, now_shown, take, until

NAMESPACE = "serving"
REF = GraphRef(NAMESPACE, "llama")
WORKER = PodTemplate({GPU: 2}, ready_after_s=0.0)


class GraphStage(Stage, Protocol):
    """A stage whose cluster knows graphs; nobody need reconcile them, and scenes ask for no pods of them."""

    async def add_graph(self, spec: GraphSpec) -> None:
        """Add a graph; its namespace is made if it has to be."""

    async def remove_graph(self, ref: GraphRef) -> None:
        """Delete a graph, and wait until its name is free."""

    async def scale_graph_by_hand(self, ref: GraphRef, component: str, replicas: int, manager: str) -> None:
        """Change a component's number as another field manager would."""

    async def pause_graph_by_hand(self, ref: GraphRef) -> None:
        """Mark a graph so that its operator leaves it alone."""


GraphScene: TypeAlias = Callable[[GraphStage], Awaitable[None]]
GRAPH_SCENES: list[GraphScene] = []


def scene(each: GraphScene) -> GraphScene:
    """Add a scene to the contract."""
    GRAPH_SCENES.append(each)
    return each


def a_spec() -> GraphSpec:
    """Return a graph that asks for no pods: one of its components has two nodes a replica."""
    components = (
        ComponentSpec("Frontend", Role.FRONTEND, 0, PodTemplate(ready_after_s=0.0)),
        ComponentSpec("prefill", Role.PREFILL, 0, WORKER, node_count=2),
        ComponentSpec("decode", Role.DECODE, 0, WORKER),
    )
    return GraphSpec(REF.name, components, REF.namespace)


async def a_graph(stage: GraphStage) -> Graph:
    """Add a graph and wait until it is seen."""
    await stage.add_graph(a_spec())
    return await until(stage, f"graph {REF}", lambda snapshot: snapshot.graphs.get(REF))


def write(graph: Graph, rev: int = 7, **counts: int) -> Apply:
    """Return the step that writes counts to a graph as it was read."""
    return Apply(graph.ref, graph.uid, graph.version, rev, counts)


def component(snapshot: Snapshot, name: str) -> Component:
    """Return a component of the graph."""
    found = snapshot.graphs[REF].component(name)
    assert found is not None
    return found


@scene
async def a_graph_is_seen_with_its_components(stage: GraphStage) -> None:
    graph = await a_graph(stage)
    assert graph.uid
    assert graph.api_version.startswith("nvidia.com/v1")
    assert (graph.applied_rev, graph.rollout, graph.is_paused) == (None, "", False)
    seen = {
        each.name: (each.role, each.replicas, each.node_count, each.gpus_per_pod, each.has_adapter, each.pods)
        for each in graph.components
    }
    assert seen == {
        "Frontend": (Role.FRONTEND, 0, 1, 0, False, 0),
        "prefill": (Role.PREFILL, 0, 2, 2, False, 0),
        "decode": (Role.DECODE, 0, 1, 2, False, 0),
    }


@scene
async def counts_are_written_in_one_go_and_seen_at_once_as_ours(stage: GraphStage) -> None:
    graph = await a_graph(stage)
    assert await take(stage, write(graph, 1764504000123456, prefill=1, decode=3)) == Accepted()
    seen = now_shown(stage)
    assert seen.graphs[REF].applied_rev == 1764504000123456
    assert seen.graphs[REF].version != graph.version
    assert [component(seen, name).replicas for name in ("Frontend", "prefill", "decode")] == [0, 1, 3]
    assert component(seen, "decode").written_by == "hangar-operator"
    assert seen.graphs[REF].uid == graph.uid


@scene
async def a_graph_is_written_again_at_the_version_that_the_last_write_made(stage: GraphStage) -> None:
    await a_graph(stage)
    for rev, count in ((7, 3), (8, 0), (9, 1)):
        graph = now_shown(stage).graphs[REF]
        assert await take(stage, write(graph, rev, decode=count)) == Accepted()
        seen = now_shown(stage)
        assert (seen.graphs[REF].applied_rev, component(seen, "decode").replicas) == (rev, count)


@scene
async def the_revision_alone_is_written_where_the_counts_are_right(stage: GraphStage) -> None:
    graph = await a_graph(stage)
    assert await take(stage, write(graph, decode=0)) == Accepted()
    seen = now_shown(stage)
    assert (seen.graphs[REF].applied_rev, component(seen, "decode").replicas) == (7, 0)


@scene
async def a_write_at_a_version_that_is_over_is_a_conflict_and_changes_nothing(stage: GraphStage) -> None:
    graph = await a_graph(stage)
    await stage.scale_graph_by_hand(REF, "decode", 5, "kubectl-scale")
    answer = await take(stage, write(graph, decode=1, prefill=1))
    assert isinstance(answer, Busy)
    assert answer.trouble is Trouble.CONFLICT
    seen = await until(
        stage,
        "the change by hand",
        lambda snapshot: snapshot if component(snapshot, "decode").replicas == 5 else None,
    )
    assert (seen.graphs[REF].applied_rev, component(seen, "prefill").replicas) == (None, 0)


@scene
async def a_change_by_hand_leaves_our_revision_and_is_seen_with_whose_it_is(stage: GraphStage) -> None:
    graph = await a_graph(stage)
    assert await take(stage, write(graph, decode=3, prefill=1)) == Accepted()
    await stage.scale_graph_by_hand(REF, "decode", 5, "kubectl-scale")
    seen = await until(
        stage,
        "the change by hand",
        lambda snapshot: snapshot if component(snapshot, "decode").replicas == 5 else None,
    )
    assert seen.graphs[REF].applied_rev == 7
    assert component(seen, "decode").written_by == "kubectl-scale"
    assert component(seen, "prefill").written_by == "hangar-operator"


@scene
async def a_graph_that_is_to_be_left_alone_says_so(stage: GraphStage) -> None:
    await a_graph(stage)
    await stage.pause_graph_by_hand(REF)
    await until(stage, "the mark", lambda snapshot: snapshot.graphs[REF].is_paused)


@scene
async def pods_are_counted_by_their_labels(stage: GraphStage) -> None:
    await a_graph(stage)
    await a_node(stage)
    labels = {GRAPH_LABEL: REF.name, COMPONENT_LABEL: "decode"}
    await stage.add_bare_pod("one", "n1", a_template(labels=labels), NAMESPACE)
    await stage.add_bare_pod("two", "n1", a_template(labels=labels), NAMESPACE)
    await stage.add_bare_pod("elsewhere", "n1", a_template(labels=labels), "default")
    await stage.add_bare_pod("other", "n1", a_template(labels=labels | {GRAPH_LABEL: "other"}), NAMESPACE)
    await until(stage, "four pods", lambda snapshot: len(snapshot.pods) == 4)
    seen = now_shown(stage)
    assert (component(seen, "decode").pods, component(seen, "prefill").pods) == (2, 0)
    first = next(pod for pod in seen.pods.values() if pod.ref.name == "one")
    await stage.remove_pod(first.ref)
    await until(stage, "one pod less", lambda snapshot: component(snapshot, "decode").pods == 1)


@scene
async def a_graph_made_anew_under_its_name_is_never_touched(stage: GraphStage) -> None:
    graph = await a_graph(stage)
    await stage.remove_graph(REF)
    await until(stage, "it is gone", lambda snapshot: REF not in snapshot.graphs)
    assert await take(stage, write(graph, decode=1)) == Gone()
    other = await a_graph(stage)
    assert other.uid != graph.uid
    assert await take(stage, write(graph, decode=1)) == Namesake()
    seen = now_shown(stage)
    assert (seen.graphs[REF].applied_rev, component(seen, "decode").replicas) == (None, 0)


@scene
async def nothing_is_written_past_a_closed_gate(stage: GraphStage) -> None:
    graph = await a_graph(stage)
    assert await stage.cluster.perform(write(graph, decode=1), lambda: "not now") == Withheld("not now")
    assert now_shown(stage).graphs[REF] == graph


@scene
async def writing_graphs_is_granted(stage: GraphStage) -> None:
    granted = await stage.cluster.grants()
    assert (granted["scale"], granted["deploy"]) == (True, True)

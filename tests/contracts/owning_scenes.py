"""What every cluster adapter shows and answers where adapters own numbers, rivals write them, and graphs are ours."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol, TypeAlias

from hangar.domain.decision import Accepted, Busy, Create, Denied, Gone, Namesake, Remove, Scale, Trouble, Withheld
from hangar.domain.ids import WorkloadName
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import Adapter, Component, Document, Graph, GraphRef, Rival, RivalKind, Role
from hangar.operator.cluster.simulated.spec import GraphSpec, RivalSpec
from testbed.dynamo_crds import Version
from testbed.dynamo_graphs import Part, graph_document
from tests.contracts.cluster_stage import now_shown, take, until
from tests.contracts.graph_scenes import NAMESPACE, REF, GraphStage, a_spec, component, write

CHAT = WorkloadName("chat")
TEAM = {"team": "chat"}
PARTS = {
    "Frontend": Part("frontend", replicas=1),
    "prefill": Part("prefill", replicas=0, gpus=2, node_count=2),
    "decode": Part("decode", replicas=None, gpus=2),
}


class OwningStage(GraphStage, Protocol):
    """A stage whose cluster knows scaling adapters, too: `add_graph` makes those that a graph asks for.

    It makes a HorizontalPodAutoscaler of each rival of that kind that a graph has; nobody need act for those.

    Attributes:
        version: The version of graphs that the cluster serves.
    """

    version: Version

    async def add_namespace(self, name: str) -> None:
        """Add a namespace, if it is not there."""

    async def let_operate(self) -> None:
        """Let the graphs' own operator do its work from now on, where it did not anyway."""

    async def scale_adapter_by_hand(self, ref: GraphRef, component: str, replicas: int, manager: str) -> None:
        """Change the number of a component's adapter as another field manager would."""

    async def remove_adapter(self, ref: GraphRef, component: str) -> None:
        """Delete a component's adapter, and wait until its name is free."""


OwningScene: TypeAlias = Callable[[OwningStage], Awaitable[None]]
OWNING_SCENES: list[OwningScene] = []


def scene(each: OwningScene) -> OwningScene:
    """Add a scene to the contract."""
    OWNING_SCENES.append(each)
    return each


def an_adapted_spec() -> GraphSpec:
    """Return a graph that asks for no pods, and of which `decode` has an adapter."""
    spec = a_spec()
    components = (replace(each, has_adapter=each.name == "decode") for each in spec.components)
    return replace(spec, components=tuple(components))


def adapter(snapshot: Snapshot) -> Adapter | None:
    """Return the adapter of the component `decode`, None where there is none."""
    return component(snapshot, "decode").adapter


async def an_adapter(stage: OwningStage) -> Adapter:
    """Add a graph with an adapter and wait until both are seen."""
    await stage.add_graph(an_adapted_spec())

    def look(snapshot: Snapshot) -> Adapter | None:
        return adapter(snapshot) if REF in snapshot.graphs else None

    return await until(stage, "the adapter", look)


def scaled(seen: Adapter, replicas: int) -> Scale:
    """Return the step that writes a number to an adapter as it was read."""
    return Scale(REF, "decode", seen.name, seen.uid, seen.version, replicas)


def a_creation(stage: OwningStage, rev: int = 7, **counts: int) -> Create:
    """Return the step that creates a graph from a template of the version that is served."""
    template: Document = graph_document(stage.version, "template", PARTS, "elsewhere", labels=TEAM, annotations=TEAM)
    return Create(REF, rev, counts or {"decode": 3, "prefill": 1}, CHAT, template)


async def a_place(stage: OwningStage) -> None:
    """Add the namespace, and wait until it is known which graphs there are."""
    await stage.add_namespace(NAMESPACE)
    await until(stage, "graphs are read", lambda snapshot: snapshot.graphs_unreadable is None)


async def a_graph_of_ours(stage: OwningStage) -> Graph:
    """Create a graph and return it as it is shown at once."""
    await a_place(stage)
    assert await take(stage, a_creation(stage, decode=0)) == Accepted()
    return now_shown(stage).graphs[REF]


# --- adapters ---------------------------------------------------------------------------------------------------------


@scene
async def an_adapter_is_seen_on_its_component_with_its_number(stage: OwningStage) -> None:
    seen = await an_adapter(stage)
    assert (seen.name, seen.replicas) == ("llama-decode", 0)
    assert seen.uid
    assert {each.name for each in now_shown(stage).graphs[REF].components if each.has_adapter} == {"decode"}
    assert component(now_shown(stage), "prefill").adapter is None


@scene
async def an_adapter_is_scaled_and_seen_at_once_and_its_graph_follows(stage: OwningStage) -> None:
    seen = await an_adapter(stage)
    assert await take(stage, scaled(seen, 2)) == Accepted()
    now = adapter(now_shown(stage))
    assert now is not None
    assert (now.uid, now.replicas, now.written_by) == (seen.uid, 2, "hangar-operator")
    assert now.version != seen.version
    await stage.let_operate()
    await until(stage, "the graph follows", lambda snapshot: component(snapshot, "decode").replicas == 2)
    assert now_shown(stage).graphs[REF].applied_rev is None


@scene
async def an_adapter_is_scaled_again_at_the_version_that_the_last_write_made(stage: OwningStage) -> None:
    await an_adapter(stage)
    for replicas in (3, 0, 1):
        seen = adapter(now_shown(stage))
        assert seen is not None
        assert await take(stage, scaled(seen, replicas)) == Accepted()
        now = adapter(now_shown(stage))
        assert now is not None
        assert now.replicas == replicas


@scene
async def an_adapter_that_was_changed_since_is_a_conflict_and_stays_as_it_is(stage: OwningStage) -> None:
    seen = await an_adapter(stage)
    await stage.scale_adapter_by_hand(REF, "decode", 5, "kube-controller-manager")
    answer = await take(stage, scaled(seen, 1))
    assert isinstance(answer, Busy)
    assert answer.trouble is Trouble.CONFLICT

    def look(snapshot: Snapshot) -> Adapter | None:
        now = adapter(snapshot)
        return now if now is not None and now.replicas == 5 else None

    now = await until(stage, "the change by hand", look)
    assert now.written_by == "kube-controller-manager"


@scene
async def an_adapter_that_is_gone_is_gone_and_the_component_says_that_it_is_missing(stage: OwningStage) -> None:
    seen = await an_adapter(stage)
    await stage.remove_adapter(REF, "decode")
    assert await take(stage, scaled(seen, 1)) == Gone()
    await until(stage, "it is missing", lambda snapshot: adapter(snapshot) is None)
    assert component(now_shown(stage), "decode").has_adapter


@scene
async def counts_and_the_revision_are_written_apart_from_each_other(stage: OwningStage) -> None:
    await an_adapter(stage)
    graph = now_shown(stage).graphs[REF]
    assert await take(stage, replace(write(graph, prefill=1), rev=None)) == Accepted()
    graph = now_shown(stage).graphs[REF]
    assert (graph.applied_rev, component(now_shown(stage), "prefill").replicas) == (None, 1)
    assert await take(stage, write(graph, 9)) == Accepted()
    assert (now_shown(stage).graphs[REF].applied_rev, component(now_shown(stage), "prefill").replicas) == (9, 1)


@scene
async def an_adapter_is_not_scaled_past_a_closed_gate(stage: OwningStage) -> None:
    seen = await an_adapter(stage)
    assert await stage.cluster.perform(scaled(seen, 1), lambda: "not now") == Withheld("not now")
    assert adapter(now_shown(stage)) == seen


# --- rivals -----------------------------------------------------------------------------------------------------------


@scene
async def an_autoscaler_of_an_adapter_is_a_rival_of_its_graph(stage: OwningStage) -> None:
    await stage.add_graph(replace(an_adapted_spec(), rivals=(RivalSpec(RivalKind.HPA, "busy", "decode"),)))
    rival = Rival(RivalKind.HPA, "busy", "decode")

    def look(snapshot: Snapshot) -> bool:
        return REF in snapshot.graphs and snapshot.graphs[REF].rivals == (rival,)

    await until(stage, "the rival", look)


# --- graphs of ours ---------------------------------------------------------------------------------------------------


@scene
async def a_graph_is_created_from_a_template_and_seen_at_once_as_ours(stage: OwningStage) -> None:
    await a_place(stage)
    assert await take(stage, a_creation(stage, 1764504000123456)) == Accepted()
    graph = now_shown(stage).graphs[REF]
    assert graph.uid
    assert (graph.is_ours, graph.applied_rev) == (True, 1764504000123456)
    assert graph.api_version == f"nvidia.com/{stage.version}"
    assert {each.name: _shape(each) for each in graph.components} == {
        "Frontend": (Role.FRONTEND, 1, 1, 0),
        "prefill": (Role.PREFILL, 1, 2, 2),
        "decode": (Role.DECODE, 3, 1, 2),
    }


def _shape(each: Component) -> tuple[Role, int, int, int | None]:
    return each.role, each.replicas, each.node_count, each.gpus_per_pod


@scene
async def a_graph_that_was_created_is_written_to_like_any_other(stage: OwningStage) -> None:
    graph = await a_graph_of_ours(stage)
    assert await take(stage, write(graph, 8, decode=1)) == Accepted()
    seen = now_shown(stage).graphs[REF]
    assert (seen.uid, seen.applied_rev, seen.is_ours) == (graph.uid, 8, True)
    assert component(now_shown(stage), "decode").replicas == 1


@scene
async def a_name_that_is_taken_is_a_conflict_and_what_has_it_stays_as_it_is(stage: OwningStage) -> None:
    await stage.add_graph(a_spec())
    graph = await until(stage, "the graph", lambda snapshot: snapshot.graphs.get(REF))
    answer = await take(stage, a_creation(stage))
    assert isinstance(answer, Busy)
    assert answer.trouble is Trouble.CONFLICT
    now = now_shown(stage).graphs[REF]
    assert (now.uid, now.is_ours, now.applied_rev) == (graph.uid, False, None)


@scene
async def nothing_is_created_past_a_closed_gate(stage: OwningStage) -> None:
    await a_place(stage)
    assert await stage.cluster.perform(a_creation(stage), lambda: "not now") == Withheld("not now")
    assert REF not in now_shown(stage).graphs


@scene
async def a_template_without_a_component_that_is_counted_is_denied_by_its_name(stage: OwningStage) -> None:
    await a_place(stage)
    answer = await take(stage, a_creation(stage, encode=1))
    assert isinstance(answer, Denied)
    assert "encode" in answer.message
    assert REF not in now_shown(stage).graphs


@scene
async def a_graph_of_ours_is_removed_by_its_uid(stage: OwningStage) -> None:
    graph = await a_graph_of_ours(stage)
    assert await take(stage, Remove(REF, graph.uid)) == Accepted()
    await until(stage, "it is gone", lambda snapshot: REF not in snapshot.graphs)
    assert await take(stage, Remove(REF, graph.uid)) == Gone()


@scene
async def another_graph_of_the_name_is_not_removed_for_one_that_was(stage: OwningStage) -> None:
    graph = await a_graph_of_ours(stage)
    await stage.remove_graph(REF)
    await until(stage, "it is gone", lambda snapshot: REF not in snapshot.graphs)
    other = await a_graph_of_ours(stage)
    assert await take(stage, Remove(REF, graph.uid)) == Namesake()
    assert now_shown(stage).graphs[REF].uid == other.uid


@scene
async def a_graph_that_is_not_ours_is_not_removed(stage: OwningStage) -> None:
    await stage.add_graph(a_spec())
    graph = await until(stage, "the graph", lambda snapshot: snapshot.graphs.get(REF))
    assert not graph.is_ours
    answer = await take(stage, Remove(REF, graph.uid))
    assert isinstance(answer, Denied)
    assert "not created by Wingsmith" in answer.message
    assert now_shown(stage).graphs[REF].uid == graph.uid


@scene
async def nothing_is_removed_past_a_closed_gate(stage: OwningStage) -> None:
    graph = await a_graph_of_ours(stage)
    assert await stage.cluster.perform(Remove(REF, graph.uid), lambda: "not now") == Withheld("not now")
    assert now_shown(stage).graphs[REF].uid == graph.uid


@scene
async def a_graph_that_is_not_there_is_gone_already(stage: OwningStage) -> None:
    await a_place(stage)
    assert await take(stage, Remove(GraphRef(NAMESPACE, "nothing"), "u")) == Gone()

"""What the loop makes of graphs: writes what is desired as soon as it hears, and tells at once how far it is."""

from collections.abc import Callable
from dataclasses import replace

from structlog.testing import capture_logs

from hangar.domain.decision import Apply, Busy, Evict, Trouble
from hangar.domain.ids import NodeName
from hangar.domain.limits import INVENTORY_INTERVAL_S
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import GraphRef, Role
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, PodTemplate
from hangar.wire.operator import GraphDoc, GraphKey
from tests.operator.fake_hub import STOP_AFTER_S, WAY_S, FakeHub, Stumbling, seconds
from tests.operator.scene import Scene, played
from tests.virtual_loop import pass_time

REF = GraphRef("serving", "llama")
SOON_S = 5 * WAY_S


def graphs(hub: FakeHub, cluster: Stumbling) -> None:
    """Ask for no operation; let there be a graph."""
    template = PodTemplate(ready_after_s=2.0)
    cluster.world.add_graph(GraphSpec("llama", (ComponentSpec("decode", Role.DECODE, 2, template),), "serving"))


class Blind(Stumbling):
    """A cluster that cannot tell of graphs until a test lets it."""

    is_blind = True

    def snapshot(self) -> Snapshot | None:
        """Return the cluster as it is now."""
        shown = super().snapshot()
        assert shown is not None
        return replace(shown, graphs={}, graphs_unreadable="forbidden") if self.is_blind else shown


def writes(scene: Scene) -> list[tuple[float, int | None, int]]:
    """Return when which revision left, and with which count."""
    return [(at, step.rev, step.counts["decode"]) for at, step in scene.cluster.sent if isinstance(step, Apply)]


def told(scene: Scene, since_s: float = 0.0) -> list[tuple[float, GraphDoc]]:
    """Return when the hub was told of the graph, and what."""
    since = [(at, request.graphs or []) for at, request in scene.hub.inventories if at >= since_s]
    return [(at, graph) for at, shown in since for graph in shown]


def test_what_is_desired_is_written_as_soon_as_it_is_heard_and_told_at_once() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.desire(7, decode=3)
        since_s = seconds()
        await pass_time(10)
        ((at, rev, count),) = writes(scene)
        assert at <= since_s + SOON_S
        assert (rev, count) == (7, 3)
        first_s, first = told(scene, since_s)[0]
        assert first_s <= at + SOON_S
        assert (first.applied_rev, first.is_observed, first.components[0].replicas) == (7, False, 3)
        ready_s, ready = told(scene, since_s)[-1]
        assert (ready.components[0].ready, ready.unready) == (3, None)
        assert ready_s <= at + 2.0 + INVENTORY_INTERVAL_S

    with capture_logs() as logs:
        played(play, graphs)
    (written,) = [each for each in logs if each["event"] == "graph written"]
    assert (written["graph"], written["revision"], written["counts"]) == ("serving/llama", 7, {"decode": 3})


def test_what_was_written_is_not_written_again_whoever_changes_it() -> None:
    async def play(scene: Scene) -> None:
        scene.hub.desire(7, decode=3)
        await pass_time(10)
        scene.world.scale_graph_by_hand(REF, "decode", 1, "planner")
        await pass_time(60)
        assert [rev for _, rev, _ in writes(scene)] == [7]
        _, last = told(scene)[-1]
        assert (last.components[0].replicas, last.components[0].written_by, last.applied_rev) == (1, "planner", 7)

    played(play, graphs)


def test_a_write_that_did_not_succeed_is_tried_again() -> None:
    def stumbling(hub: FakeHub, cluster: Stumbling) -> None:
        graphs(hub, cluster)
        hub.desire(7, decode=3)
        troubles = [Busy("409", trouble=Trouble.CONFLICT)] * 3
        cluster.stumble = lambda step: troubles.pop() if troubles else None

    async def play(scene: Scene) -> None:
        await pass_time(10)
        assert [rev for _, rev, _ in writes(scene)] == [7] * 4
        assert scene.world.snapshot().graphs[REF].applied_rev == 7

    played(play, stumbling)


def test_a_write_that_waits_for_a_connection_gives_way_to_a_newer_one() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.cluster.connects_after_s = 2.0
        scene.hub.desire(7, decode=3)
        await pass_time(1)
        scene.hub.desire(8, decode=1)
        await pass_time(20)
        assert [(rev, count) for _, rev, count in writes(scene)] == [(8, 1)]

    played(play, graphs)


def test_nothing_is_written_by_an_operator_that_the_hub_has_not_heard_for_too_long() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.cluster.stumble = lambda step: Busy("409", trouble=Trouble.CONFLICT)
        scene.hub.desire(7, decode=3)
        await pass_time(1)
        scene.hub.is_away = True
        since_s = seconds()
        await pass_time(60)
        assert max(at for at, _, _ in writes(scene)) <= since_s + STOP_AFTER_S
        scene.hub.is_away = False
        scene.cluster.stumble = lambda step: None
        await pass_time(20)
        assert scene.world.snapshot().graphs[REF].applied_rev == 7

    played(play, graphs)


def test_graphs_are_written_beside_a_drain() -> None:
    def both(hub: FakeHub, cluster: Stumbling) -> None:
        graphs(hub, cluster)
        hub.desire(7, decode=3)
        hub.submit("node.drain")

    async def play(scene: Scene) -> None:
        await pass_time(60)
        assert scene.hub.ended() == "succeeded"
        assert any(isinstance(step, Evict) for _, step in scene.cluster.sent)
        assert [rev for _, rev, _ in writes(scene)] == [7]

    played(play, both)


def test_a_session_begins_with_all_graphs_and_one_that_goes_is_told_by_its_key() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        _, first = scene.hub.inventories[0]
        assert (first.complete, [graph.name for graph in first.graphs or []]) == (True, ["llama"])
        scene.world.remove_graph(REF)
        since_s = seconds()
        await pass_time(1)
        at, last = next(each for each in scene.hub.inventories if each[1].gone_graphs)
        assert at <= since_s + SOON_S
        assert (last.complete, last.graphs) == (False, [])
        assert last.gone_graphs == [GraphKey(namespace="serving", name="llama")]

    played(play, graphs)


def made_blind(then: Callable[[FakeHub, Stumbling], None]) -> Callable[[FakeHub, Stumbling], None]:
    def prepare(hub: FakeHub, cluster: Stumbling) -> None:
        then(hub, cluster)
        cluster.__class__ = Blind

    return prepare


def test_graphs_that_cannot_be_read_are_not_told_nor_written_until_they_can() -> None:
    def wanted(hub: FakeHub, cluster: Stumbling) -> None:
        graphs(hub, cluster)
        hub.desire(7, decode=3)

    async def play(scene: Scene) -> None:
        cluster = scene.cluster
        assert isinstance(cluster, Blind)
        await pass_time(5)
        assert [(each.complete, each.graphs) for _, each in scene.hub.inventories] == [(True, None), (False, None)]
        assert [why.code for why in scene.hub.inventories[1][1].unwritten or []] == ["unreadable"]
        assert writes(scene) == []
        cluster.is_blind = False
        scene.world.on_change()
        await pass_time(5)
        complete = [request for _, request in scene.hub.inventories if request.complete]
        assert [graph.name for graph in complete[-1].graphs or []] == ["llama"]
        assert len(complete) == 2
        assert [rev for _, rev, _ in writes(scene)] == [7]

    played(play, made_blind(wanted))


def test_graphs_in_a_hurry_do_not_take_the_nodes_along_before_these_are_due() -> None:
    """To look at all nodes takes long, and graphs that start change many times a second."""

    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.world.index.put_graph(replace(scene.world.snapshot().graphs[REF], unready="due now"))
        scene.world.on_change()
        await pass_time(0.1)
        since_s = seconds()
        node = scene.world.snapshot().nodes[NodeName("n1")]
        scene.world.put_node(replace(node, labels={"rack": "a"}))
        for rev in range(1, 6):
            scene.world.dynamo.write(REF, {}, "kubectl", rev)
            await pass_time(0.1)
        inventories = [(at, request) for at, request in scene.hub.inventories if at >= since_s]
        assert [len(request.nodes) for _, request in inventories] == [0] * 5
        await pass_time(INVENTORY_INTERVAL_S)
        at, last = scene.hub.inventories[-1]
        assert [doc.labels for doc in last.nodes] == [{"rack": "a"}]
        assert at <= since_s + INVENTORY_INTERVAL_S

    played(play, graphs)


def test_what_nobody_follows_waits_its_second() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        since_s = seconds()
        graph = scene.world.snapshot().graphs[REF]
        for number in range(20):
            scene.world.index.put_graph(replace(graph, unready=f"reason {number}"))
            scene.world.on_change()
            await pass_time(0.1)
        times = [at for at, _ in told(scene, since_s)]
        assert 1 <= len(times) <= 3

    played(play, graphs)

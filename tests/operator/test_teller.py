"""What the hub is told of a cluster: flips at once, the rest once a second, and all of it where it asks for that."""

from dataclasses import replace
from itertools import pairwise

from hangar.domain.ids import NodeName
from hangar.domain.limits import INVENTORY_INTERVAL_S
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import GraphRef, Role
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec
from hangar.wire.operator import InventoryRequest
from tests.operator.fake_hub import WAY_S, FakeHub, Stumbling, seconds
from tests.operator.scene import Scene, played
from tests.virtual_loop import pass_time

SOON_S = 3 * WAY_S


REF = GraphRef("serving", "llama")


def nothing(hub: FakeHub, cluster: Stumbling) -> None:
    """Ask for no operation."""


def relabel(scene: Scene, value: str) -> None:
    """Change what nobody waits for."""
    node = scene.world.snapshot().nodes[NodeName("n1")]
    scene.world.put_node(replace(node, labels={"rack": value}))


def told(scene: Scene, since_s: float = 0.0) -> list[tuple[float, list[str]]]:
    """Return when the hub was told of which nodes."""
    return [(at, sorted(doc.name for doc in request.nodes)) for at, request in inventories(scene) if at >= since_s]


def inventories(scene: Scene) -> list[tuple[float, InventoryRequest]]:
    """Return what was told, without the word that all that is desired is written: it follows the first sync."""
    return [each for each in scene.hub.inventories if each[1].complete or each[1].unwritten is None]


def test_a_session_begins_with_all_nodes() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(1)
        ((at, names),) = told(scene)
        assert at <= SOON_S
        assert names == ["n1", "n2", "n3"]
        assert scene.hub.inventories[0][1].complete

    played(play, nothing)


def test_a_cordon_is_told_at_once_even_among_other_changes() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        relabel(scene, "a")
        await pass_time(0.1)
        relabel(scene, "b")
        await pass_time(0.1)
        since_s = seconds()
        scene.world.cordon_by_hand("n2")
        await pass_time(0.1)
        ((at, names),) = told(scene, since_s)
        assert at <= since_s + SOON_S
        assert names == ["n1", "n2"]

    played(play, nothing)


def test_other_changes_are_told_once_a_second() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        since_s = seconds()
        for number in range(30):
            relabel(scene, str(number))
            await pass_time(0.1)
        times = [at for at, _ in told(scene, since_s)]
        assert len(times) == 3
        assert all(later - earlier >= INVENTORY_INTERVAL_S for earlier, later in pairwise(times))
        await pass_time(2)
        assert scene.hub.inventories[-1][1].nodes[0].labels == {"rack": "29"}, "and the last one is not lost"

    played(play, nothing)


def test_what_did_not_change_is_not_told() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        node = scene.world.snapshot().nodes[NodeName("n1")]
        scene.world.put_node(replace(node))
        await pass_time(5)
        assert len(told(scene)) == 1

    played(play, nothing)


def test_a_node_that_is_gone_is_told_by_name() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.world.remove_node("n3")
        await pass_time(1)
        _, last = scene.hub.inventories[-1]
        assert (last.complete, last.nodes, last.gone) == (False, [], ["n3"])

    played(play, nothing)


def test_a_hub_that_asks_for_all_or_did_not_hear_is_told_all_again() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.resyncs = 1
        relabel(scene, "a")
        await pass_time(5)
        assert [request.complete for _, request in inventories(scene)] == [True, False, True]
        scene.hub.is_away = True
        relabel(scene, "b")
        await pass_time(5)
        scene.hub.is_away = False
        await pass_time(5)
        _, last = scene.hub.inventories[-1]
        assert (last.complete, len(last.nodes)) == (True, 3)
        assert [request.n for _, request in scene.hub.inventories[:3]] == [1, 2, 3]
        assert last.n > 4, "what was not heard had its numbers too"

    played(play, nothing)


def test_nothing_is_told_of_what_cannot_be_read() -> None:
    class Blind(Stumbling):
        is_blind = True

        def snapshot(self) -> Snapshot | None:
            shown = super().snapshot()
            assert shown is not None
            return replace(shown, unreadable=("nodes: no reply",)) if self.is_blind else shown

    async def play(scene: Scene) -> None:
        cluster = scene.cluster
        assert isinstance(cluster, Blind)
        await pass_time(5)
        assert told(scene) == []
        cluster.is_blind = False
        scene.world.on_change()
        await pass_time(1)
        assert len(told(scene)) == 1

    def blind(hub: FakeHub, cluster: Stumbling) -> None:
        cluster.__class__ = Blind

    played(play, blind)


def test_the_hub_knows_the_node_before_it_hears_that_it_is_cordoned() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.submit("node.cordon")
        await pass_time(1)
        (ended_s,) = [at for at, report in scene.hub.reports if report.result is not None]
        cordoned_s = [at for at, request in scene.hub.inventories if any(doc.cordoned for doc in request.nodes)]
        assert cordoned_s[0] <= ended_s

    played(play, nothing)


# --- what is not written ----------------------------------------------------------------------------------------------


def a_paused_graph(hub: FakeHub, cluster: Stumbling) -> None:
    """Let there be a graph that must be left alone, and another number be desired of it."""
    cluster.world.add_graph(GraphSpec("llama", (ComponentSpec("decode", Role.DECODE, 2),), "serving"))
    cluster.world.pause_graph_by_hand(REF)
    hub.desire(7, decode=3)


def whys(scene: Scene, since_s: float = 0.0) -> list[list[str]]:
    """Return the codes of all that was said not to be written, each time that it was said."""
    said = [request.unwritten for at, request in scene.hub.inventories if at >= since_s]
    return [[why.code for why in each] for each in said if each is not None]


def test_why_something_is_not_written_is_told_at_once_and_once_and_that_it_is_over() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        assert whys(scene) == [["graph_paused"]]
        since_s = seconds()
        scene.world.pause_graph_by_hand(REF, on=False)
        await pass_time(0.2)
        assert whys(scene, since_s) == [[]]

    played(play, a_paused_graph)


def test_a_new_session_is_told_anew_why_something_is_not_written() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        since_s = seconds()
        scene.hub.fence()
        await pass_time(20)
        assert whys(scene, since_s) == [["graph_paused"]]

    played(play, a_paused_graph)


def test_a_hub_that_asks_for_all_is_told_that_too() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.resyncs = 1
        relabel(scene, "a")
        await pass_time(5)
        _, last = scene.hub.inventories[-1]
        assert (last.complete, [why.code for why in last.unwritten or []]) == (True, ["graph_paused"])

    played(play, a_paused_graph)


def test_that_the_cluster_cannot_be_read_is_told_where_something_is_to_be_written() -> None:
    class Fading(Stumbling):
        why: tuple[str, ...] = ()

        def snapshot(self) -> Snapshot | None:
            shown = super().snapshot()
            assert shown is not None
            return replace(shown, unreadable=self.why)

    def fading(hub: FakeHub, cluster: Stumbling) -> None:
        a_paused_graph(hub, cluster)
        cluster.__class__ = Fading

    async def play(scene: Scene) -> None:
        cluster = scene.cluster
        assert isinstance(cluster, Fading)
        await pass_time(5)
        cluster.why = ("pods: no reply",)
        scene.world.on_change()
        await pass_time(5)
        assert whys(scene) == [["graph_paused"], ["unreadable"]]
        _, last = scene.hub.inventories[-1]
        assert (last.complete, last.nodes, last.gone, last.graphs) == (False, [], [], None)
        cluster.why = ()
        scene.world.on_change()
        await pass_time(5)
        assert whys(scene)[2:] == [["graph_paused"]]

    played(play, fading)


def test_a_drain_that_touches_a_graph_is_told_with_it_and_that_it_is_over() -> None:
    def drained(hub: FakeHub, cluster: Stumbling) -> None:
        cluster.world.add_graph(GraphSpec("llama", (ComponentSpec("decode", Role.DECODE, 9),), "serving"))
        hub.submit("node.drain")

    async def play(scene: Scene) -> None:
        await pass_time(60)
        assert scene.hub.ended() == "succeeded"
        drains = [graph.drains for _, request in scene.hub.inventories for graph in request.graphs or []]
        assert ["op_01"] in drains
        assert drains[-1] == []

    played(play, drained)

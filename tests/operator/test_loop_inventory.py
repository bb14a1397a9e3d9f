"""What the loop tells the hub of the nodes: flips at once, the rest once a second, and all of it where asked to."""

from dataclasses import replace
from itertools import pairwise

from hangar.domain.ids import NodeName
from hangar.domain.limits import INVENTORY_INTERVAL_S
from hangar.domain.snapshot import Snapshot
from tests.operator.fake_hub import WAY_S, FakeHub, Stumbling, seconds
from tests.operator.scene import Scene, played
from tests.virtual_loop import pass_time

SOON_S = 3 * WAY_S


def nothing(hub: FakeHub, cluster: Stumbling) -> None:
    """Ask for no operation."""


def relabel(scene: Scene, value: str) -> None:
    """Change what nobody waits for."""
    node = scene.world.snapshot().nodes[NodeName("n1")]
    scene.world.put_node(replace(node, labels={"rack": value}))


def told(scene: Scene, since_s: float = 0.0) -> list[tuple[float, list[str]]]:
    """Return when the hub was told of which nodes."""
    return [(at, sorted(doc.name for doc in request.nodes)) for at, request in scene.hub.inventories if at >= since_s]


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
        assert [request.complete for _, request in scene.hub.inventories] == [True, False, True]
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

"""Verdicts before the first eviction: what is certain fails the drain, what may still clear is waited for."""

from datetime import UTC, datetime, timedelta

from hangar.domain.blockers import blocker
from hangar.domain.decision import Fail
from hangar.domain.drain.preflight import Choices, Obstacle, Settling, Since, judge, obstacles, orphans, refused
from hangar.domain.ids import NodeName, OwnerUid, PodUid
from hangar.domain.snapshot import OwnerRef, Toleration
from hangar.domain.view import ClusterSettings, View
from hangar.operator.cluster.simulated.spec import PodTemplate
from hangar.operator.cluster.simulated.world import World
from tests.domain import building
from tests.simulation.fleet import a_world, an_app

NOON = datetime(2026, 10, 27, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=3)


def settling(name: str, seconds: int) -> Obstacle:
    waits = Settling(blocker("landing", name), NOON + timedelta(seconds=seconds))
    return Obstacle("unmanaged_pods", f"{name} is in the way", waits)


def test_nothing_in_the_way_is_nothing_to_wait_for() -> None:
    assert judge((), NOON) == ()


def test_what_may_still_clear_is_waited_for_until_its_time_is_over() -> None:
    both = (settling("a", 5), settling("b", 30))
    assert judge(both, NOON) == tuple(each.settling for each in both)
    assert judge(both, NOON + timedelta(seconds=5)) == Fail("unmanaged_pods", "a is in the way")
    assert judge(both, NOON + timedelta(seconds=30)) == Fail("unmanaged_pods", "a is in the way; b is in the way")


def test_what_is_certain_waits_for_nothing_and_names_no_doubts() -> None:
    found = (settling("a", 5), Obstacle("no_capacity", "b fits nowhere"))
    assert judge(found, NOON) == Fail("no_capacity", "b fits nowhere")


def an_orphan() -> tuple[World, PodUid]:
    """Return a world with a pod on n1 whose controllers are not there, and its UID."""
    world = a_world()
    top = world.add_workload(an_app(1, on=("n1",)))
    (pod,) = world.snapshot().pods_of(top.uid)
    for owner in list(world.snapshot().owners):
        world.index.drop_owner(owner)
    return world, pod.ref.uid


def test_an_orphan_is_one_since_it_was_first_seen_so() -> None:
    world, uid = an_orphan()
    view = View(world.snapshot())
    node = view.snapshot.nodes[NodeName("n1")]
    since = orphans(node, {}, view, NOON)
    assert since == {uid: NOON}
    assert orphans(node, since, view, LATER) == {uid: NOON}
    world.delete_pod(uid)  # it goes, as its controllers did
    assert orphans(node, since, View(world.snapshot()), LATER) == {}


def test_an_orphan_is_doubted_and_a_bare_pod_is_not() -> None:
    world, uid = an_orphan()
    world.add_bare_pod("scratch", "n1", PodTemplate())
    view = View(world.snapshot())
    node = view.snapshot.nodes[NodeName("n1")]
    orphan, bare = refused(node, view, Since(NOON, {uid: LATER}))
    assert orphan.settling is not None
    assert (orphan.settling.blocker.code, orphan.settling.until) == ("orphaned", LATER + timedelta(seconds=5))
    assert bare.settling is None


# --- all there is -----------------------------------------------------------------------------------------------------

N1 = building.our_node("n1")
SINCE = Since(NOON, {})
FOREIGN = OwnerRef("PodClique", "decode", OwnerUid("decode"))


def found(*objects: building.Object, skip_fit_check: bool = False, has_autoscaler: bool = False) -> list[Obstacle]:
    """Return what is in the way of moving the pods of n1 that a drain moves."""
    view = building.a_view(N1, *objects, settings=ClusterSettings(has_autoscaler), claims=building.draining("n1"))
    moving = [pod for pod in view.snapshot.pods_on(NodeName("n1")) if pod.controller is not None]
    return list(obstacles(N1, moving, view, SINCE, Choices(skip_fit_check)))


def test_where_nothing_is_in_the_way_the_pods_may_go() -> None:
    assert found(building.a_node("n2"), building.an_owner(), building.a_pod()) == []


def test_the_gravest_kind_comes_first() -> None:
    tolerant = building.a_pod("t", tolerations=(Toleration("", "Exists", "", ""),))
    bare = building.a_pod("z", owner=None, labels={})
    closed = building.a_budget(healthy=1, needs=1)
    every = found(building.an_owner(), tolerant, bare, closed)
    assert [each.code for each in every] == ["unmanaged_pods", "returns_to_node", "blocked_by_budget", "no_capacity"]
    assert [each.message for each in every] == [
        "default/z has no controller, so nothing would recreate it",
        "default/t would be put back on n1: it tolerates every taint",
        "pdb default/api holds back default/t: needs 1 has 1, and can never allow one; scale up, relax the budget, "
        "or drain with skip_fit_check",
        "default/t fits on no other node: there is none",
    ]


def test_with_the_check_skipped_only_what_would_never_end_is_in_the_way() -> None:
    closed = building.a_budget(healthy=1, needs=1)
    pods = (building.a_pod("a"), building.a_pod("z", owner=None))
    assert [each.code for each in found(building.an_owner(), *pods, closed, skip_fit_check=True)] == ["unmanaged_pods"]


def test_an_autoscaler_makes_the_fit_no_question() -> None:
    assert found(building.an_owner(), building.a_pod(), has_autoscaler=True) == []


def test_a_controller_of_its_own_kind_gets_time_to_react_to_the_cordon() -> None:
    foreign, ours = found(building.an_owner(), building.a_pod("a", owner=FOREIGN), building.a_pod("b"))
    assert foreign.settling is not None
    assert foreign.settling.until == NOON + timedelta(seconds=30)
    assert ours.settling is None

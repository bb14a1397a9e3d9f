"""Verdicts before the first eviction: what is certain fails the drain, what may still clear is waited for."""

from datetime import UTC, datetime, timedelta

from hangar.domain.blockers import blocker
from hangar.domain.decision import Fail
from hangar.domain.ids import NodeName, PodUid
from hangar.domain.preflight import Obstacle, Settling, Since, judge, orphans, refused
from hangar.domain.view import View
from hangar.operator.cluster.simulated.spec import PodTemplate
from hangar.operator.cluster.simulated.world import World
from tests.simulation.fleet import a_world, an_app

NOON = datetime(2026, 10, 27, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=3)


def settling(name: str, seconds: int) -> Obstacle:
    waits = Settling(blocker("terminating", name), NOON + timedelta(seconds=seconds))
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

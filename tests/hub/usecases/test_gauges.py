"""What there is in the fleet, in figures."""

import pytest

from hangar.hub.usecases.gauges import Gauges, read_gauges
from hangar.wire.operator import BlockerDoc
from tests.hub.world import Operator, World, a_progress, an_operator


@pytest.fixture
def world() -> World:
    world = World()
    world.add_cluster()
    world.add_cluster("ord-1")
    return world


def gauges(world: World) -> Gauges:
    return world.store.read(lambda connection: read_gauges(connection, world.now_us))


def blocked(code: str, subject: str) -> BlockerDoc:
    return BlockerDoc(code=code, subject=subject, message="")


def test_an_empty_fleet_is_all_zeros(world: World) -> None:
    assert gauges(world) == Gauges({}, {}, {}, online=0, offline=2, lease_age_s={}, standbys=0)


def test_open_operations_are_counted_by_type_and_phase_with_the_age_of_the_oldest(world: World) -> None:
    operator = an_operator(world)
    first = world.create()
    world.pass_s(5)
    world.create("node.cordon", "iad-1-n02")
    operator.say(first)
    world.pass_s(2)
    found = gauges(world)
    assert found.open == {("node.drain", "running"): 1, ("node.cordon", "pending"): 1}
    assert found.oldest_s == {("node.drain", "running"): 2.0, ("node.cordon", "pending"): 2.0}


def test_the_longest_wait_for_each_blocker_is_told_and_ends_with_it(world: World) -> None:
    """C22: nobody has to look to learn that a drain is stuck, and on what."""
    operator = an_operator(world)
    first, second = world.create(), world.create(target="iad-1-n02")
    operator.say(first, progress=a_progress(0, blockers=[blocked("budget_spent", "pod a/x")]))
    world.pass_s(3)
    operator.say(second, progress=a_progress(0, blockers=[blocked("budget_spent", "pod a/y"), blocked("retry", "z")]))
    world.pass_s(4)
    assert gauges(world).blocked_s == {("node.drain", "budget_spent"): 7.0, ("node.drain", "retry"): 4.0}
    operator.say(first, progress=a_progress(1, blockers=[blocked("budget_spent", "pod a/z")]))
    world.pass_s(1)
    assert gauges(world).blocked_s == {("node.drain", "budget_spent"): 5.0, ("node.drain", "retry"): 5.0}
    operator.say(first, "succeeded")
    operator.say(second, "failed")
    assert gauges(world).blocked_s == {}


def test_clusters_their_silence_and_their_standbys_are_counted(world: World) -> None:
    an_operator(world)
    Operator(world, "iad-1", incarnation="second").apply()
    world.pass_s(4)
    found = gauges(world)
    assert (found.online, found.offline, found.standbys) == (1, 1, 1)
    assert found.lease_age_s == {"iad-1": 4.0}

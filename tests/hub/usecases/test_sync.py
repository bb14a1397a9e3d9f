"""Syncs: the lease, and all that is open."""

import pytest

from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import Operator, World, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


def test_a_sync_renews_the_lease(world: World) -> None:
    first = Operator(world, "iad-1")
    first.open()
    world.pass_s(15)
    first.sync()
    world.pass_s(15)
    second = Operator(world, "iad-1", incarnation="second").apply()
    assert isinstance(second, Problem)
    assert second.code is ProblemCode.STANDBY


def test_a_sync_brings_all_open_operations_oldest_first(world: World) -> None:
    operator = an_operator(world)
    world.add_cluster("ord-1")
    an_operator(world, "ord-1")
    first = world.create("node.drain", "iad-1-n02", reason="firmware")
    world.create("node.drain", "ord-1-n01")
    second = world.create("node.cordon", "iad-1-n01")
    world.cancel(second)
    third = world.create("node.uncordon", "iad-1-n01")
    operator.say(first, memory={"a": 1})
    world.pass_s(60, sweeping=False)
    world.cancel(first)
    jobs = operator.sync()
    assert [each.id for each in jobs] == [first, third]
    job = jobs[0]
    assert (job.target, job.target_uid, job.phase) == ("iad-1-n02", "uid-iad-1-n02", "running")
    assert (job.memory, job.report_n, job.cancel, job.reason) == ({"a": 1}, 1, True, "firmware")
    assert (job.deadline_s, job.remaining_s) == (3600.0, 3540.0)
    assert (jobs[1].remaining_s, jobs[1].memory, jobs[1].cancel) == (None, None, False)


def test_a_deadline_that_has_passed_says_how_long_ago(world: World) -> None:
    """C61: what is forced at a deadline is given a minute; that minute must not begin anew with each sync."""
    operator = an_operator(world)
    operation = world.create("node.drain", "iad-1-n02", params={"deadline_s": 10})
    operator.say(operation)
    world.pass_s(25, sweeping=False)
    (job,) = operator.sync()
    assert job.remaining_s == -15.0

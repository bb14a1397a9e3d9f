"""Cancelling: at once what waits, by its operator what runs, never what is over."""

import pytest

from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import MAINTAINER, VIEWER, Operator, World, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    an_operator(made)
    return made


@pytest.fixture
def operator(world: World) -> Operator:
    made = Operator(world, "iad-1")
    made.open()
    return made


def test_what_waits_is_over_at_once(world: World, operator: Operator) -> None:
    id_ = world.create()
    operation = world.cancel(id_, who=MAINTAINER)
    assert operation.result is not None
    assert operation.cancel is not None
    assert (operation.phase, operation.result.attempts, operation.result.duration) == ("cancelled", 0, "0s")
    assert operation.result.message == "cancelled by max before it started"
    assert (operation.cancel.requested_by, operation.started_at) == ("max", None)
    assert operator.sync() == []
    assert operator.say(id_).outcome == "ended"


def test_what_runs_hears_of_it_and_ends_by_its_report(world: World, operator: Operator) -> None:
    """C71: it ends as cancelled, and as nothing else."""
    id_ = world.create()
    operator.say(id_)
    operation = world.cancel(id_)
    assert operation.cancel is not None
    assert operation.status_reason is not None
    assert (operation.phase, operation.status_reason.code) == ("running", "cancel_requested")
    assert operator.sync()[0].cancel
    assert operator.say(id_).cancel
    operator.say(id_, "cancelled")
    assert world.get(id_).phase == "cancelled"


def test_asking_twice_changes_nothing(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_)
    first = world.cancel(id_)
    world.pass_s(1, sweeping=False)
    assert world.cancel(id_, who=MAINTAINER) == first


def test_completion_may_win_the_race(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_)
    world.cancel(id_)
    operator.say(id_, "succeeded")
    operation = world.get(id_)
    assert operation.phase == "succeeded"
    assert operation.cancel is not None


@pytest.mark.parametrize("phase", ["succeeded", "failed"])
def test_what_is_over_is_told_with_its_record(world: World, operator: Operator, phase: str) -> None:
    id_ = world.create()
    operator.say(id_)
    operator.say(id_, phase)
    with pytest.raises(Problem) as caught:
        world.cancel(id_)
    assert caught.value.code is ProblemCode.ALREADY_FINISHED
    assert caught.value.context["operation"] == world.get(id_)


def test_what_is_cancelled_may_be_cancelled_again(world: World) -> None:
    id_ = world.create()
    assert world.cancel(id_) == world.cancel(id_)


def test_a_viewer_may_not_even_where_there_is_nothing(world: World) -> None:
    with pytest.raises(Problem) as caught:
        world.cancel("op_nothing", who=VIEWER)
    assert caught.value.code is ProblemCode.FORBIDDEN
    with pytest.raises(Problem) as caught:
        world.cancel("op_nothing")
    assert caught.value.code is ProblemCode.NOT_FOUND

"""Ends: one terminal phase, once, with its result."""

import pytest

from hangar.domain.operation import IllegalTransitionError, Phase
from hangar.hub.store.tx import Tx
from hangar.hub.usecases.ending import end_operation
from hangar.hub.usecases.queries import get_operation
from tests.hub.world import World, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    an_operator(made)
    return made


def end(world: World, id_: str, phase: Phase) -> None:
    def run(tx: Tx) -> None:
        end_operation(tx, get_operation(tx.connection, id_), phase, world.now_us, code="over", message="it is over")

    world.store.write(run)


def test_an_end_has_code_message_attempts_and_whole_seconds(world: World) -> None:
    id_ = world.create()
    world.pass_s(59.99, sweeping=False)
    end(world, id_, Phase.FAILED)
    operation = world.get(id_)
    assert operation.result is not None
    assert operation.status_reason is not None
    assert (operation.phase, operation.result.message, operation.result.duration) == ("failed", "it is over", "59s")
    assert (operation.status_reason.code, operation.result.attempts) == ("over", 0)


def test_a_clock_that_went_back_gives_no_negative_duration(world: World) -> None:
    id_ = world.create()
    world.now_us -= 5_000_000
    end(world, id_, Phase.CANCELLED)
    result = world.get(id_).result
    assert result is not None
    assert result.duration == "0s"


@pytest.mark.parametrize("phase", list(Phase))
def test_nothing_follows_an_end(world: World, phase: Phase) -> None:
    id_ = world.create()
    end(world, id_, Phase.FAILED)
    before, events = world.get(id_), world.events()
    with pytest.raises(IllegalTransitionError):
        end(world, id_, phase)
    assert (world.get(id_), world.events()) == (before, events)

"""Whether an operator is there, and who is told when that changes."""

import pytest

from tests.hub.world import World, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


def test_an_operator_that_falls_silent_is_told_of_and_so_is_its_return(world: World) -> None:
    operator = an_operator(world)
    id_ = world.create()
    seen = world.get(id_).version
    world.pass_s(14.9)
    assert world.events("cluster.offline") == []
    world.pass_s(0.1)
    waiting = world.get(id_)
    assert waiting.status_reason is not None
    assert waiting.status_reason.code == "operator_silent"
    assert waiting.version > seen
    operator.sync()
    back = world.get(id_)
    assert back.status_reason is not None
    assert back.status_reason.code == "waiting_for_operator"
    assert back.version > waiting.version
    assert world.events("cluster")[2:] == ["cluster.offline", "cluster.online"]

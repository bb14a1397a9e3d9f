"""Signing off: the next operator need not wait."""

import pytest

from tests.hub.world import Operator, World


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


def test_a_released_cluster_is_free_at_once(world: World) -> None:
    first = Operator(world, "iad-1")
    first.open()
    first.release()
    second = Operator(world, "iad-1", incarnation="second")
    second.open()
    assert second.grant.epoch == 2
    assert world.events("cluster")[1:] == ["cluster.online", "cluster.offline", "cluster.online"]

"""What operators tell of their nodes, as room for replicas: looked up where it is needed, and only there."""

from typing import Any

import pytest

from hangar.domain.workloads.placement import Policy, Weighing
from hangar.hub.store.workload_rows import find_workload
from hangar.hub.usecases.rooms import with_room
from tests.hub.sites import GPU, Fleet, Site
from tests.hub.world import Operator, a_node

FREE = Policy(weighing=Weighing.FREE)


def nodes(site: Site, *free: int, **changes: Any) -> None:
    """Tell of nodes with eight GPUs each, so many of which are free."""
    site.nodes = [a_node(f"{site.name}-n{n}", allocated={GPU: 8 - each}, **changes) for n, each in enumerate(free)]
    site.tell()


def rooms(fleet: Fleet) -> dict[str, int | None]:
    found = fleet.read(lambda connection: find_workload(connection, "llama"))
    assert found is not None
    seen = fleet.read(lambda connection: with_room(connection, found.workload, fleet.world.now_us))
    return {each.cluster: each.room for each in seen.deployments}


def test_only_free_gpus_of_nodes_that_take_pods_are_room(fleet: Fleet) -> None:
    fleet.bind()
    nodes(fleet["fra-1"], 8, 4, 3)
    nodes(fleet["iad-1"], 8, 8, cordoned=True)
    nodes(fleet["sin-1"], 8, ready=False)
    assert rooms(fleet) == {"fra-1": 3, "iad-1": 0, "sin-1": 0}


@pytest.mark.parametrize("changes", [{"allocatable": {"cpu": 8}}, None])
def test_where_gpus_are_not_published_or_nodes_are_not_known_there_is_nothing_to_tell(
    fleet: Fleet, changes: dict[str, Any] | None
) -> None:
    fleet.bind()
    if changes is not None:
        nodes(fleet["fra-1"], 8, **changes)
    assert rooms(fleet)["fra-1"] is None


def test_a_cluster_that_adds_nodes_on_demand_has_no_bound(fleet: Fleet) -> None:
    fleet.bind()
    nodes(fleet["fra-1"], 0)
    assert rooms(fleet)["fra-1"] == 0
    fleet["fra-1"].operator.release()
    Operator(fleet.world, "fra-1", allowed=["scale"], has_autoscaler=True).open()
    assert rooms(fleet)["fra-1"] is None


def test_a_number_is_shared_out_by_what_each_cluster_could_run(fleet: Fleet) -> None:
    nodes(fleet["fra-1"], 8, 8)
    nodes(fleet["iad-1"], 8)
    nodes(fleet["sin-1"], 0)
    fleet.bind(policy=FREE, replicas=3)
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 1, "sin-1": 0}
    nodes(fleet["fra-1"], 0)
    nodes(fleet["sin-1"], 8, 8)
    fleet.write()
    fleet.scale(6)
    assert fleet.numbers() == {"fra-1": 1, "iad-1": 2, "sin-1": 3}


def test_what_moves_by_room_moves_once_an_operation(fleet: Fleet) -> None:
    nodes(fleet["fra-1"], 8, 8)
    nodes(fleet["iad-1"], 8, 8)
    nodes(fleet["sin-1"], 8)
    fleet.bind(policy=FREE, replicas=5)
    fleet.settle()
    id_ = fleet.drain("sin-1")
    placed = fleet.numbers()
    nodes(fleet["fra-1"], 0, 0)
    fleet.write("fra-1", "iad-1")
    for name in ("fra-1", "iad-1"):
        fleet[name].settle()
    after = fleet.numbers()
    assert {name: after[name] for name in ("fra-1", "iad-1")} == {name: placed[name] for name in ("fra-1", "iad-1")}
    fleet.settle("sin-1")
    assert fleet.ended(id_)[0] == "succeeded"


def test_a_drain_for_which_there_is_no_room_fails_before_it_touches_anything(fleet: Fleet) -> None:
    fleet.bind(replicas=6)
    fleet.settle()
    nodes(fleet["fra-1"], 3)
    nodes(fleet["iad-1"], 8)
    fleet["fra-1"].operator.release()
    fleet.world.now_us += 90_000_000
    id_ = fleet.drain("sin-1")
    phase, message = fleet.ended(id_)
    assert phase == "failed"
    assert message == (
        "the other clusters cannot take over: fra-1 would have to run 1 more and has room for 0 "
        "(as of 90 s ago, when it was last heard); nothing was changed"
    )
    assert fleet.numbers() == {"fra-1": 2, "iad-1": 2, "sin-1": 2}

"""Listing nodes, devices and clusters."""

import pytest

from hangar.hub.usecases.fleet import (
    DeviceFilters,
    NodeFilters,
    get_cluster,
    get_node,
    list_clusters,
    list_devices,
    list_nodes,
)
from hangar.hub.usecases.paging import PageRequest
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import Operator, World, a_node

MIG = {"nvidia.com/gpu": 8, "nvidia.com/mig-1g.10gb": 7}


@pytest.fixture
def world() -> World:
    made = World()
    for cluster in ("iad-1", "ord-1"):
        made.add_cluster(cluster)
        operator = Operator(made, cluster, kubernetes_version="v1.34.0")
        operator.open()
        operator.tell(
            a_node("n01"),
            a_node("n02", cordoned=True),
            a_node(f"m-{cluster}-n03", ready=False),
            a_node(f"m-{cluster}-n04", capacity=MIG, allocatable=MIG, allocated={"nvidia.com/gpu": 8}),
        )
    made.add_cluster("zrh-1")
    return made


def all_nodes(world: World, size: int = 100, **filters: object) -> list[str]:
    asked = NodeFilters(**filters)  # type: ignore[arg-type]
    found: list[str] = []
    token: str | None = None
    while True:
        page = world.store.read(lambda c, at=token: list_nodes(c, asked, PageRequest(size, at)))  # type: ignore[misc]
        found += [f"{each.cluster}/{each.name}" for each in page.items]
        token = page.next_page_token
        if token is None:
            return found


def all_devices(world: World, size: int = 100, **filters: object) -> list[tuple[str, str, int | None]]:
    asked = DeviceFilters(**filters)  # type: ignore[arg-type]
    found: list[tuple[str, str, int | None]] = []
    token: str | None = None
    while True:
        page = world.store.read(lambda c, at=token: list_devices(c, asked, PageRequest(size, at)))  # type: ignore[misc]
        found += [(f"{each.cluster}/{each.node}", each.resource.partition("/")[2], each.free) for each in page.items]
        token = page.next_page_token
        if token is None:
            return found


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["iad-1/m-iad-1-n03", "iad-1/m-iad-1-n04", "iad-1/n01", "iad-1/n02"]),
        ({"cordoned": True}, ["iad-1/n02"]),
        ({"cordoned": False, "ready": True}, ["iad-1/m-iad-1-n04", "iad-1/n01"]),
        ({"ready": False}, ["iad-1/m-iad-1-n03"]),
    ],
)
def test_nodes_come_by_cluster_and_name(
    world: World, filters: dict[str, object], expected: list[str], size: int
) -> None:
    assert all_nodes(world, size, cluster="iad-1", **filters) == expected
    everywhere = [each.replace("iad", cluster) for cluster in ("iad", "ord") for each in expected]
    assert all_nodes(world, size, **filters) == everywhere
    assert all_nodes(world, size, cluster="nowhere", **filters) == []


@pytest.mark.parametrize("size", [1, 2, 100])
def test_devices_are_extended_resources_and_free_only_where_pods_may_go(world: World, size: int) -> None:
    assert all_devices(world, size, cluster="iad-1") == [
        ("iad-1/m-iad-1-n03", "gpu", 0),
        ("iad-1/m-iad-1-n04", "gpu", 0),
        ("iad-1/m-iad-1-n04", "mig-1g.10gb", 7),
        ("iad-1/n01", "gpu", 6),
        ("iad-1/n02", "gpu", 0),
    ]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"allocatable": True}, ["iad-1/m-iad-1-n04", "iad-1/n01", "ord-1/m-ord-1-n04", "ord-1/n01"]),
        ({"allocatable": True, "resource": "nvidia.com/gpu"}, ["iad-1/n01", "ord-1/n01"]),
        ({"allocatable": False, "cluster": "iad-1"}, ["iad-1/m-iad-1-n03", "iad-1/m-iad-1-n04", "iad-1/n02"]),
        ({"node": "n01"}, ["iad-1/n01", "ord-1/n01"]),
        ({"node": "ord-1/n01"}, ["ord-1/n01"]),
        ({"node": "ord-1/n01", "cluster": "iad-1"}, []),
        ({"resource": "cpu"}, []),
    ],
)
@pytest.mark.parametrize("size", [1, 100])
def test_devices_are_filtered(world: World, filters: dict[str, object], expected: list[str], size: int) -> None:
    assert sorted(each[0] for each in all_devices(world, size, **filters)) == expected


def test_a_node_is_found_by_its_bare_name_where_that_is_enough(world: World) -> None:
    found = world.store.read(lambda c: get_node(c, "m-ord-1-n03", None))
    assert (found.cluster, found.ready, found.cordoned) == ("ord-1", False, False)
    assert world.store.read(lambda c: get_node(c, "n01", "ord-1")).cluster == "ord-1"
    assert world.store.read(lambda c: get_node(c, "ord-1/n01", None)).cluster == "ord-1"
    with pytest.raises(Problem) as caught:
        world.store.read(lambda c: get_node(c, "n01", None))
    assert caught.value.code is ProblemCode.AMBIGUOUS_TARGET
    assert caught.value.context["candidates"] == ["iad-1/n01", "ord-1/n01"]


def test_clusters_come_by_name_with_what_is_known_of_them(world: World) -> None:
    page = world.store.read(lambda c: list_clusters(c, PageRequest(2)))
    rest = world.store.read(lambda c: list_clusters(c, PageRequest(2, page.next_page_token)))
    assert [each.name for each in (*page.items, *rest.items)] == ["iad-1", "ord-1", "zrh-1"]
    assert rest.next_page_token is None
    iad, zrh = page.items[0], rest.items[0]
    assert (iad.nodes, iad.online, iad.allowed, iad.uid) == (4, True, ["cordon", "drain"], "uid-iad-1")
    assert (iad.kubernetes_version, iad.last_seen_at) == ("v1.34.0", "2026-11-18T11:06:40.000Z")
    assert (zrh.nodes, zrh.online, zrh.allowed, zrh.uid, zrh.last_seen_at) == (0, False, [], None, None)
    assert world.store.read(lambda c: get_cluster(c, "iad-1")) == iad
    with pytest.raises(Problem) as caught:
        world.store.read(lambda c: get_cluster(c, "nowhere"))
    assert caught.value.code is ProblemCode.NOT_FOUND

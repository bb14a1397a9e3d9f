"""How many more replicas a cluster could run at most: never fewer than really fit."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.workloads.graph import Component, Graph, Role
from hangar.domain.workloads.room import room
from hangar.domain.workloads.workload import Deployment
from tests.domain.workloads.building import FRA, REF, a_deployment


def a_pair(prefill: int | None, decode: int | None, *, nodes: int = 1, pods: int = 0, desired: int = 0) -> Deployment:
    """Return a deployment of prefill and decode pods of so many GPUs each; of decode there are so many pods."""
    parts = (
        Component("Frontend", Role.FRONTEND, 1),
        Component("prefill", Role.PREFILL, 0, gpus_per_pod=prefill),
        Component("decode", Role.DECODE, 0, gpus_per_pod=decode, node_count=nodes, pods=pods),
    )
    graph = Graph(REF, "u", "1", "nvidia.com/v1beta1", parts)
    return Deployment(FRA, REF, shape={"prefill": 1, "decode": 2}, desired=desired, graph=graph)


@pytest.mark.parametrize(
    ("deployment", "free", "most"),
    [
        (a_pair(0, 4), [8, 8], 2),
        (a_pair(0, 4), [7, 7, 7], 1),
        (a_pair(2, 3), [8, 8], 2),
        (a_pair(0, 8, nodes=2), [8, 8, 8, 8, 8], 1),
        (a_pair(0, 4), [0, 0], 0),
        (a_pair(0, 4), [], None),
        (a_pair(0, 0), [8], None),
        (a_pair(None, 4), [8], None),
        (a_deployment(graph=None), [8], None),
        (a_deployment(shape=None), [8], None),
        (a_deployment(shape={"gone": 1}), [8], None),
        (replace(a_pair(0, 4), graph=None, planned=a_pair(0, 4).graph), [8, 8], 2),
    ],
    ids=[
        *("in sum", "by the pieces", "both components", "gangs", "full", "not published", "no GPUs", "not countable"),
        *("no graph", "no shape", "no such component", "to be created"),
    ],
)
def test_the_bound_is_by_the_pieces_and_by_the_sum(deployment: Deployment, free: list[int], most: int | None) -> None:
    assert room(deployment, free) == most


def test_what_is_on_its_way_out_is_counted_as_free() -> None:
    assert room(a_pair(0, 4, pods=4, desired=1), [0, 3]) == 1
    assert room(a_pair(0, 4, pods=2, desired=1), [0, 3]) == 0


def fits(pods: list[int], free: list[int]) -> bool:
    """Tell whether pods can be put on nodes, by trying every way."""
    return any(
        all(
            sum(size for size, where in zip(pods, ways, strict=True) if where == node) <= free[node]
            for node in set(ways)
        )
        for ways in product(range(len(free)), repeat=len(pods))
    )


@given(st.integers(0, 3), st.integers(0, 3), st.lists(st.integers(0, 6), min_size=1, max_size=3))
def test_it_never_says_less_than_what_fits(prefill: int, decode: int, free: list[int]) -> None:
    found = room(a_pair(prefill, decode), free)
    if found is None:
        assert prefill == decode == 0
        return
    if found < 2:  # two replicas are six pods, which can be tried out
        assert not fits([prefill, decode, decode] * (found + 1), free)

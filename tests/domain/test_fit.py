"""The fit: says no only where it is certain, and is never wrong where it does."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.fit import Misfit, misfits, takes
from hangar.domain.snapshot import Node, Pod, PodPhase, Taint, Toleration
from hangar.domain.view import View
from tests.domain.building import GPU, a_node, a_pod, a_view, draining, our_node, terminating

N1 = our_node()


def gpus(count: int, name: str = "a", **fields: Any) -> Pod:
    return a_pod(name, requests={GPU: count, "cpu": 1000}, **fields)


def said(view: View, *moving: Pod) -> list[str]:
    return [str(each) for each in misfits(moving, view)]


def test_what_one_node_has_free_fits() -> None:
    assert said(a_view(N1, a_node("n2", gpus=4), gpus(4)), gpus(4)) == []


def test_nothing_to_move_fits_anywhere() -> None:
    assert said(a_view(N1)) == []


def test_a_pod_that_no_single_node_has_room_for_does_not_fit() -> None:
    view = a_view(N1, a_node("n2", gpus=8), a_node("n3", gpus=8), gpus(4, "b", on="n2"), gpus(5, "c", on="n3"))
    assert said(view, gpus(8)) == ["default/a needs 8 nvidia.com/gpu on one node, at most 4 are free on one"]


def test_pods_that_fit_one_by_one_may_ask_for_more_than_there_is_in_sum() -> None:
    view = a_view(N1, a_node("n2", gpus=3), a_node("n3", gpus=2))
    assert said(view, gpus(2), gpus(2, "b"), gpus(2, "c")) == [
        "the pods ask for 6 nvidia.com/gpu in sum, 5 are free on 2 node(s)"
    ]


def test_what_only_packing_could_tell_is_no_verdict() -> None:
    """Three pods of 2 do not fit on 3 + 3, but neither bound shows it: the scheduler has the last word."""
    view = a_view(N1, a_node("n2", gpus=3), a_node("n3", gpus=3))
    assert said(view, gpus(2), gpus(2, "b"), gpus(2, "c")) == []


def test_the_sum_counts_only_nodes_that_take_one_of_the_pods() -> None:
    tainted = a_node("n3", gpus=8, taints=(Taint("team", "red", "NoSchedule"),))
    view = a_view(N1, a_node("n2", gpus=2), tainted)
    assert said(view, gpus(2), gpus(2, "b")) == ["the pods ask for 4 nvidia.com/gpu in sum, 2 are free on 1 node(s)"]


def test_every_resource_counts_for_itself() -> None:
    mig = "nvidia.com/mig-1g.10gb"
    view = a_view(N1, a_node("n2", gpus=8))
    assert said(view, a_pod(requests={mig: 1})) == [f"default/a needs 1 {mig} on one node, at most 0 are free on one"]


def test_all_of_a_pods_resources_must_be_on_the_same_node() -> None:
    fast, large = a_node("n2", gpus=8, allocatable={GPU: 8, "cpu": 500, "pods": 9}), a_node("n3", gpus=0)
    assert said(a_view(N1, fast, large), gpus(8)) == [
        "default/a fits on no node: no single node has all of cpu, nvidia.com/gpu, pods free"
    ]


def test_a_missing_gpu_is_named_before_missing_cpu_and_pod_slots() -> None:
    full = a_node("n2", allocatable={GPU: 0, "cpu": 0, "pods": 0})
    assert said(a_view(N1, full), gpus(1)) == [
        "default/a needs 1 nvidia.com/gpu on one node, at most 0 are free on one"
    ]


def test_a_node_without_a_pod_slot_left_takes_none() -> None:
    full = a_node("n2", allocatable={"cpu": 64_000, "pods": 1})
    view = a_view(N1, full, a_pod("b", on="n2"))
    assert said(view, a_pod()) == ["default/a needs 1 pods on one node, at most 0 are free on one"]


@pytest.mark.parametrize(
    "closed",
    [a_node("n2", cordoned=True), a_node("n2", ready=False), a_node("n2", labels={"zone": "b"})],
    ids=["cordoned", "not ready", "not selected"],
)
def test_a_node_that_is_closed_to_the_pod_does_not_count(closed: Node) -> None:
    pod = a_pod(node_selector={"zone": "a"})
    assert said(a_view(N1, closed), pod) == [
        "default/a fits on no node: no ready, schedulable node matches its node selector and tolerations"
    ]


def test_a_node_that_another_drain_is_about_to_empty_does_not_count() -> None:
    view = a_view(N1, a_node("n2"), a_node("n3", gpus=0), claims=draining("n1", "n2"))
    assert said(view, gpus(1)) == ["default/a needs 1 nvidia.com/gpu on one node, at most 0 are free on one"]


def test_what_terminates_or_has_finished_leaves_its_room() -> None:
    leaving = terminating("b", on="n2", requests={GPU: 4})
    done = a_pod("c", on="n2", phase=PodPhase.SUCCEEDED, requests={GPU: 4})
    view = a_view(N1, a_node("n2", gpus=8), leaving, done)
    assert said(view, gpus(8)) == []


def test_what_would_have_to_give_way_leaves_its_room() -> None:
    batch, equal = gpus(6, "b", on="n2", priority=-5), gpus(1, "c", on="n2", priority=10)
    view = a_view(N1, a_node("n2", gpus=8), batch, equal)
    assert said(view, gpus(7, priority=10)) == []
    assert said(view, gpus(8, priority=10)) != []
    assert said(view, gpus(2, priority=-5)) != []
    assert said(view, gpus(4, priority=10), gpus(3, "d", priority=10)) == []
    assert said(view, gpus(4, priority=10), gpus(4, "d", priority=10)) != []
    assert said(view, gpus(1, priority=-5), gpus(6, "d", priority=10)) == [], "one of them could use that room"


def test_a_node_that_holds_more_than_it_has_lends_nothing_to_the_others() -> None:
    """A device failed: what is allocatable sank below what runs there."""
    view = a_view(N1, a_node("n2", gpus=0), gpus(4, "x", on="n2"), a_node("n3", gpus=4))
    assert said(view, gpus(4)) == []
    assert said(view, gpus(2), gpus(3, "b")) == ["the pods ask for 5 nvidia.com/gpu in sum, 4 are free on 2 node(s)"]


def test_taints_are_passed_by_tolerations_and_soft_ones_by_all() -> None:
    hard, soft = Taint("team", "red", "NoExecute"), Taint("team", "red", "PreferNoSchedule")
    assert not takes(a_node(taints=(hard,)), a_pod())
    assert takes(a_node(taints=(soft,)), a_pod())
    assert takes(a_node(taints=(hard, soft)), a_pod(tolerations=(Toleration("team", "Equal", "red", ""),)))
    assert not takes(a_node(taints=(hard,)), a_pod(tolerations=(Toleration("team", "Equal", "blue", ""),)))


def test_a_misfit_of_no_pod_in_particular_says_so() -> None:
    assert str(Misfit(None, "", 0, 0, 0, "nothing is there")) == "a pod fits on no node: nothing is there"


AMOUNTS = st.tuples(st.integers(0, 3), st.integers(0, 3))


@given(st.lists(AMOUNTS, max_size=3), st.lists(AMOUNTS, max_size=3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_what_some_placement_would_fit_is_never_called_a_misfit(
    asked: list[tuple[int, int]], free: list[tuple[int, int]], picky: list[bool]
) -> None:
    pods = [
        a_pod(
            str(number), requests={GPU: each[0], "cpu": each[1]}, node_selector={"zone": "a"} if picky[number] else {}
        )
        for number, each in enumerate(asked)
    ]
    nodes = [
        a_node(f"m{number}", allocatable={GPU: each[0], "cpu": each[1], "pods": 2}, labels={"zone": "ab"[number % 2]})
        for number, each in enumerate(free)
    ]
    if any(_fits(pods, placed) for placed in product(nodes, repeat=len(pods))):
        assert said(a_view(N1, *nodes), *pods) == []


def _fits(pods: list[Pod], placed: tuple[Node, ...]) -> bool:
    return all(
        sum(pod.requests.get(resource, 1) for pod, on in zip(pods, placed, strict=True) if on is node)
        <= node.allocatable[resource]
        for node in placed
        for resource in (GPU, "cpu", "pods")
    ) and all(takes(node, pod) for pod, node in zip(pods, placed, strict=True))

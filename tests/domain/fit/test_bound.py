"""The fit: says no only where it is certain, and is never wrong where it does."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from hangar.domain.fit.bound import Need, misfits, needs_of, no_room
from hangar.domain.fit.scene import Scene
from hangar.domain.ids import OwnerUid
from hangar.domain.placing import Quota
from hangar.domain.snapshot import Node, OwnerRef, Pod, PodPhase, Taint, Toleration
from hangar.domain.view import ClusterSettings, View
from tests.domain.building import (
    API,
    GPU,
    a_member,
    a_node,
    a_pod,
    an_owner,
    draining,
    our_node,
    owned_view,
    terminating,
    uids,
)
from tests.domain.reference_scheduler import can_all_move
from tests.domain.worlds import World, worlds

N1 = our_node()


def gpus(count: int, name: str = "a", **fields: Any) -> Pod:
    return a_pod(name, requests={GPU: count, "cpu": 1000}, **fields)


def said(view: View, *moving: Pod) -> list[str]:
    return [str(each) for each in misfits(moving, view)]


def test_what_one_node_has_free_fits() -> None:
    assert said(owned_view(N1, a_node("n2", gpus=4), gpus(4)), gpus(4)) == []


def test_nothing_to_move_fits_anywhere() -> None:
    assert said(owned_view(N1)) == []


def test_a_pod_that_no_single_node_has_room_for_does_not_fit() -> None:
    view = owned_view(N1, a_node("n2", gpus=8), a_node("n3", gpus=8), gpus(4, "b", on="n2"), gpus(5, "c", on="n3"))
    assert said(view, gpus(8)) == ["default/a needs 8 nvidia.com/gpu on one node, at most 4 are free on one"]


def test_pods_that_fit_one_by_one_may_ask_for_more_than_there_is_in_sum() -> None:
    view = owned_view(N1, a_node("n2", gpus=3), a_node("n3", gpus=2))
    assert said(view, gpus(2), gpus(2, "b"), gpus(2, "c")) == [
        "the pods ask for 6 nvidia.com/gpu in sum, 5 are free on 2 node(s)"
    ]


def test_what_only_packing_could_tell_is_no_verdict() -> None:
    """Three pods of 2 do not fit on 3 + 3, but neither bound shows it: the scheduler has the last word."""
    view = owned_view(N1, a_node("n2", gpus=3), a_node("n3", gpus=3))
    assert said(view, gpus(2), gpus(2, "b"), gpus(2, "c")) == []


def test_the_sum_counts_only_nodes_that_take_one_of_the_pods() -> None:
    tainted = a_node("n3", gpus=8, taints=(Taint("team", "red", "NoSchedule"),))
    view = owned_view(N1, a_node("n2", gpus=2), tainted)
    assert said(view, gpus(2), gpus(2, "b")) == ["the pods ask for 4 nvidia.com/gpu in sum, 2 are free on 1 node(s)"]


def test_every_resource_counts_for_itself() -> None:
    mig = "nvidia.com/mig-1g.10gb"
    view = owned_view(our_node(allocatable={mig: 7, "pods": 110}), a_node("n2", gpus=8))
    assert said(view, a_pod(requests={mig: 1})) == [f"default/a needs 1 {mig} on one node, at most 0 are free on one"]


def test_all_of_a_pods_resources_must_be_on_the_same_node() -> None:
    fast, large = a_node("n2", gpus=8, allocatable={GPU: 8, "cpu": 500, "pods": 9}), a_node("n3", gpus=0)
    assert said(owned_view(N1, fast, large), gpus(8)) == [
        "default/a fits on no other node: no single node has all of cpu, nvidia.com/gpu, pods free"
    ]


def test_a_missing_gpu_is_named_before_missing_cpu_and_pod_slots() -> None:
    full = a_node("n2", allocatable={GPU: 0, "cpu": 0, "pods": 0})
    assert said(owned_view(N1, full), gpus(1)) == [
        "default/a needs 1 nvidia.com/gpu on one node, at most 0 are free on one"
    ]


def test_a_node_without_a_pod_slot_left_takes_none() -> None:
    full = a_node("n2", allocatable={"cpu": 64_000, "pods": 1})
    view = owned_view(N1, full, a_pod("b", on="n2"))
    assert said(view, a_pod()) == ["default/a needs 1 pods on one node, at most 0 are free on one"]


CLOSED = [
    (a_node("n2", cordoned=True, labels={"zone": "a"}), "1 is cordoned"),
    (a_node("n2", ready=False, labels={"zone": "a"}), "1 is not ready"),
    (a_node("n2", labels={"zone": "b"}), "1 does not match its node selector or affinity"),
    (
        a_node("n2", labels={"zone": "a"}, taints=(Taint("team", "red", "NoSchedule"),)),
        "1 has a taint that it does not tolerate (team=red)",
    ),
]


@pytest.mark.parametrize(("closed", "why"), CLOSED, ids=[case[1] for case in CLOSED])
def test_a_node_that_is_closed_to_the_pod_does_not_count(closed: Node, why: str) -> None:
    pod = a_pod(node_selector={"zone": "a"})
    assert said(owned_view(N1, closed), pod) == [f"default/a fits on no other node: {why}"]


def test_a_pod_that_passes_cordons_may_go_to_a_node_that_others_have_cordoned() -> None:
    tolerant = a_pod(tolerations=(Toleration("", "Exists", "", ""),))
    assert said(owned_view(N1, a_node("n2", cordoned=True)), tolerant) == []
    assert said(owned_view(N1, a_node("n2", cordoned=True), claims=draining("n1", "n2")), tolerant) != []


def test_a_node_that_another_drain_is_about_to_empty_does_not_count() -> None:
    view = owned_view(N1, a_node("n2"), a_node("n3", gpus=0), claims=draining("n1", "n2"))
    assert said(view, gpus(1)) == ["default/a needs 1 nvidia.com/gpu on one node, at most 0 are free on one"]


def test_what_terminates_or_has_finished_leaves_its_room() -> None:
    leaving = terminating("b", on="n2", requests={GPU: 4})
    done = a_pod("c", on="n2", phase=PodPhase.SUCCEEDED, requests={GPU: 4})
    view = owned_view(N1, a_node("n2", gpus=8), leaving, done)
    assert said(view, gpus(8)) == []


def test_what_would_have_to_give_way_leaves_its_room() -> None:
    batch, equal = gpus(6, "b", on="n2", priority=-5), gpus(1, "c", on="n2", priority=10)
    view = owned_view(N1, a_node("n2", gpus=8), batch, equal)
    assert said(view, gpus(7, priority=10)) == []
    assert said(view, gpus(8, priority=10)) != []
    assert said(view, gpus(2, priority=-5)) != []
    assert said(view, gpus(4, priority=10), gpus(3, "d", priority=10)) == []
    assert said(view, gpus(4, priority=10), gpus(4, "d", priority=10)) != []
    assert said(view, gpus(1, priority=-5), gpus(6, "d", priority=10)) == [], "one of them could use that room"


def test_a_node_that_holds_more_than_it_has_lends_nothing_to_the_others() -> None:
    """A device failed: what is allocatable sank below what runs there."""
    view = owned_view(N1, a_node("n2", gpus=0), gpus(4, "x", on="n2"), a_node("n3", gpus=4))
    assert said(view, gpus(4)) == []
    assert said(view, gpus(2), gpus(3, "b")) == ["the pods ask for 5 nvidia.com/gpu in sum, 4 are free on 1 node(s)"]


def test_a_pod_of_higher_priority_may_make_room_that_another_one_gets() -> None:
    """It pushes six aside and takes one: beside it there is room for the other, which could push nobody."""
    view = owned_view(N1, a_node("n2", gpus=6), gpus(6, "b", on="n2", priority=0))
    assert said(view, gpus(5, priority=0), gpus(1, "d", priority=10)) == []


def test_an_eviction_that_may_still_land_frees_what_it_ends() -> None:
    view = owned_view(N1, a_node("n2", gpus=4), gpus(4, "b", on="n2"), leaving=uids("b"))
    assert said(view, gpus(4)) == []


def test_a_request_of_nothing_fits_where_there_is_less_than_nothing() -> None:
    view = owned_view(N1, a_node("n2", gpus=0), gpus(4, "x", on="n2"))
    assert said(view, gpus(0)) == []


def test_the_sum_counts_only_nodes_that_have_the_room_for_one_of_them() -> None:
    """Eight GPUs on one node are not eight times one: three GPUs here and there do not add up to a place."""
    view = owned_view(N1, a_node("n2", gpus=8), a_node("n3", gpus=3), a_node("n4", gpus=7))
    assert said(view, gpus(8), gpus(8, "b")) == ["the pods ask for 16 nvidia.com/gpu in sum, 8 are free on 1 node(s)"]


def test_what_its_own_node_does_not_list_is_no_ground_for_a_verdict() -> None:
    """Devices may be handed out in ways that no node's amounts show."""
    view = owned_view(our_node(allocatable={"cpu": 1000, "pods": 9}), a_node("n2", gpus=0))
    assert said(view, gpus(8)) == []


# --- what a pod's owner wants -----------------------------------------------------------------------------------------


def test_what_nobody_recreates_needs_no_room() -> None:
    assert said(owned_view(N1), gpus(8, owner=None)) == []


def test_what_its_owner_does_not_want_back_needs_no_room() -> None:
    elsewhere = a_pod("b", on="n2")
    full = owned_view(N1, a_node("n2", gpus=0), an_owner(desired=1), gpus(8), elsewhere)
    assert said(full, gpus(8)) == []
    wanted = owned_view(N1, a_node("n2", gpus=0), an_owner(desired=2), gpus(8), elsewhere)
    assert said(wanted, gpus(8)) != []


def test_where_an_owner_wants_one_of_two_back_neither_is_certain() -> None:
    view = owned_view(N1, a_node("n2", gpus=0), an_owner(desired=2), a_pod("c", on="n2"))
    moving = gpus(8), gpus(8, "b")
    assert set(needs_of(moving, view).values()) == {Need.DOUBTFUL}
    assert said(view, *moving) == []


def test_what_belongs_to_a_controller_that_is_gone_needs_no_room() -> None:
    orphan = gpus(8, owner=OwnerRef("ReplicaSet", "gone", OwnerUid("gone")))
    assert needs_of((orphan,), owned_view(N1, orphan)) == {orphan.ref.uid: Need.NONE}


LEADERS = replace(
    an_owner("llama", desired=2, kind="StatefulSet"), parent=OwnerRef("LeaderWorkerSet", "llama", API.uid)
)


@pytest.mark.parametrize(("desired", "need"), [(2, Need.CERTAIN), (1, Need.NONE), (None, Need.CERTAIN)])
def test_a_group_is_wanted_back_as_one(desired: int | None, need: Need) -> None:
    """Its keeper wants groups, each of which has two pods here."""
    leaders = replace(LEADERS, desired=desired)
    here = a_member("a0", owner=LEADERS.ref), a_member("a1")
    elsewhere = a_member("b0", 1, on="n2", owner=LEADERS.ref), a_member("b1", 1, on="n2")
    keepers = (an_owner(f"llama-{group}", desired=1, kind="StatefulSet") for group in (0, 1))
    view = owned_view(N1, leaders, *keepers, *here, *elsewhere)
    assert set(needs_of(here, view).values()) == {need}


# --- quotas -----------------------------------------------------------------------------------------------------------


def a_quota(used: int, name: str = f"requests.{GPU}", namespace: str = "default") -> Quota:
    return Quota(namespace, "gpus", {name: 8}, {name: used})


def test_a_quota_that_is_exceeded_takes_nothing_back() -> None:
    view = owned_view(N1, a_node("n2"), a_quota(9))
    (only,) = misfits((gpus(1),), view)
    assert only.code == "quota_exceeded"
    assert str(only) == (
        "default/a cannot be made anew: quota default/gpus is exceeded, 9 of 8 requests.nvidia.com/gpu are used"
    )


@pytest.mark.parametrize(
    "quota",
    [a_quota(8), a_quota(9, "requests.cpu", "elsewhere"), a_quota(9, "requests.nvidia.com/mig-1g.10gb")],
    ids=["full", "of another namespace", "on another resource"],
)
def test_a_quota_that_is_full_or_not_its_own_is_no_verdict(quota: Quota) -> None:
    """What ends leaves its share for what comes in its place."""
    assert said(owned_view(N1, a_node("n2"), quota), gpus(1)) == []


@pytest.mark.parametrize("name", ["pods", "count/pods", "cpu", "requests.cpu"])
def test_quotas_go_by_several_names(name: str) -> None:
    assert len(said(owned_view(N1, a_node("n2"), a_quota(9, name)), gpus(1))) == 1


def test_where_nodes_are_added_on_demand_only_a_quota_is_certain() -> None:
    view = owned_view(N1, a_quota(9), settings=ClusterSettings(has_autoscaler=True))
    assert [each.code for each in misfits((gpus(1),), view)] == ["quota_exceeded"]


# --- the property -----------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(worlds())
def test_what_some_placement_would_fit_is_never_called_a_misfit(world: World) -> None:
    said = no_room(world.moving, Scene(world.moving, world.view))
    assert not said or not can_all_move(world.place(), world.moving, world.loose, world.view.draining_nodes())

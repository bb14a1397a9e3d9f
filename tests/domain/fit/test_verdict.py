"""Verdict: fits with an example, does not fit for certain, or not known and why."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from hangar.domain.fit.promised import by_size
from hangar.domain.fit.verdict import Verdict, in_all, weigh
from hangar.domain.ids import NodeName
from hangar.domain.placing import Demands, NodeOp, NodeRequirement, PodTerm, Quota, Requirement, SelectorOp, VolumeClaim
from hangar.domain.plan import Fits
from hangar.domain.snapshot import Pod
from hangar.domain.view import ClusterSettings, View
from tests.domain.building import (
    GPU,
    Object,
    a_member,
    a_node,
    a_pod,
    an_owner,
    draining,
    owned_view,
    pending,
    terminating,
)
from tests.domain.reference_scheduler import admits, can_all_move
from tests.domain.worlds import World, worlds

N1 = a_node("n1")
ON_N1 = NodeName("n1")


def gpus(count: int, name: str = "a", **fields: Any) -> Pod:
    return a_pod(name, requests={GPU: count}, **fields)


def verdicts(*objects: Object, **fields: Any) -> list[Verdict]:
    """Return the verdicts on the pods of n1, in the order of their names."""
    view = owned_view(N1, *objects, **({"claims": draining("n1")} | fields))
    moving = sorted(view.snapshot.pods_on(ON_N1), key=lambda pod: pod.ref)
    found = weigh(ON_N1, moving, view)
    return [found[pod.ref.uid] for pod in moving]


def why(*objects: Object, **fields: Any) -> str | None:
    """Return why it is not known whether the only pod fits."""
    (only,) = verdicts(*objects, **fields)
    assert (only.fits, only.node) == (Fits.UNKNOWN, None)
    return only.why


def test_a_pod_that_fits_is_told_with_a_node() -> None:
    assert verdicts(a_node("n2"), gpus(8)) == [Verdict(Fits.YES, NodeName("n2"))]


def test_the_largest_is_placed_first_so_that_a_small_one_does_not_take_its_node() -> None:
    assert [each.node for each in verdicts(a_node("n2"), a_node("n3", gpus=1), gpus(1), gpus(8, "b"))] == ["n3", "n2"]


def test_a_pod_that_certainly_fits_nowhere_says_what_is_missing() -> None:
    (only,) = verdicts(a_node("n2", gpus=4), gpus(8))
    assert only == Verdict(Fits.NO, None, "default/a needs 8 nvidia.com/gpu on one node, at most 4 are free on one")


def test_of_pods_that_do_not_fit_in_sum_those_without_a_place_say_so() -> None:
    first, second = verdicts(a_node("n2"), gpus(8), gpus(8, "b"))
    assert first == Verdict(Fits.YES, NodeName("n2"))
    assert second == Verdict(Fits.NO, None, "the pods ask for 16 nvidia.com/gpu in sum, 8 are free on 1 node(s)")


def test_what_greed_does_not_place_though_the_sum_allows_it_is_not_known() -> None:
    """Three pods of 2 on 3 + 3: no bound shows that they do not fit."""
    found = verdicts(a_node("n2", gpus=3), a_node("n3", gpus=3), gpus(2), gpus(2, "b"), gpus(2, "c"))
    assert [each.fits for each in found] == [Fits.YES, Fits.YES, Fits.UNKNOWN]
    assert found[2].why == "the places it could take now go to pods that move with it"


def test_room_that_is_still_taken_is_not_known_to_be_free_in_time() -> None:
    said = "no node has a place for it now; one may, when pods there have ended or moved"
    assert why(a_node("n2"), terminating("x", on="n2", requests={GPU: 8}), gpus(8)) == said
    assert why(a_node("n2"), gpus(8, "x", on="n2", priority=-1), gpus(8)) == said


def test_two_drains_do_not_both_fit_into_the_same_hole() -> None:
    both = draining("n1", "n2")
    objects = a_node("n2"), a_node("n3"), an_owner(desired=2), gpus(8, "other", on="n2"), gpus(8)
    said = "the places it could take now go to pods of other operations and pods that wait for a place, "
    assert why(*objects, claims=both) == f"{said}or to pods that move with it"
    assert verdicts(*objects, a_node("n4"), claims=both) == [Verdict(Fits.YES, NodeName("n4"))]


def test_a_pod_that_has_waited_for_a_place_longer_gets_it_first() -> None:
    (only,) = verdicts(a_node("n2"), pending("waits", requests={GPU: 8}), gpus(8))
    assert only.fits is Fits.UNKNOWN


def test_where_nodes_are_added_on_demand_no_room_is_not_known_to_stay_so() -> None:
    added = ClusterSettings(has_autoscaler=True)
    missing = "default/a needs 8 nvidia.com/gpu on one node, at most 4 are free on one"
    assert (
        why(a_node("n2", gpus=4), gpus(8), settings=added)
        == f"{missing}; but nodes are added to this cluster on demand"
    )
    over = Quota("default", "gpus", {f"requests.{GPU}": 4}, {f"requests.{GPU}": 5})
    assert [each.fits for each in verdicts(a_node("n2"), over, gpus(1), settings=added)] == [Fits.NO]
    in_sum = verdicts(a_node("n2"), gpus(8), gpus(8, "b"), settings=added)
    assert [each.fits for each in in_sum] == [Fits.YES, Fits.UNKNOWN]


def test_a_quota_that_is_exceeded_is_certain() -> None:
    over = Quota("default", "gpus", {"pods": 4}, {"pods": 5})
    (only,) = verdicts(a_node("n2"), over, gpus(1))
    assert only.fits is Fits.NO
    assert only.why == "default/a cannot be made anew: quota default/gpus is exceeded, 5 of 4 pods are used"


DOUBTS = [
    (
        a_pod(demands=Demands(has_device_claims=True)),
        (),
        "it asks for devices by claims, and which nodes have such devices is not known",
    ),
    (
        a_pod(demands=Demands(claims=frozenset({"data"}))),
        (),
        "it is not known which nodes reach the volume of data",
    ),
    (
        a_pod(demands=Demands(claims=frozenset({"data"}))),
        (VolumeClaim("default", "data", None, once=True),),
        "it is not known which nodes reach the volume of data",
    ),
    (
        a_pod(requests={"example.com/odd": 1}),
        (),
        "not even n1 lists the example.com/odd that it holds there",
    ),
    (
        a_pod(),
        (pending("b", waiting="SchedulingGated: waits for admission"),),
        "new pods of its controller are held back by a scheduling gate",
    ),
]


@pytest.mark.parametrize(("pod", "others", "said"), DOUBTS)
def test_what_cannot_be_weighed_is_not_known(pod: Pod, others: tuple[Object, ...], said: str) -> None:
    assert why(a_node("n2"), pod, *others) == said


def test_a_group_whose_pods_are_bound_to_each_other_is_not_known_to_fit() -> None:
    """Its pods elsewhere restart as well, and have to follow."""
    together = Demands(near=(PodTerm("zone", (), None),))
    keeper = an_owner("llama-0", desired=2, kind="StatefulSet")
    zoned = a_node("n2", labels={"zone": "a"})
    said = (
        "leaderworkerset default/llama group 0 restarts as a whole, and where all of its pods fit together is not known"
    )
    assert why(zoned, keeper, a_member("a0"), a_member("a1", on="n2", demands=together)) == said
    assert [each.fits for each in verdicts(zoned, keeper, a_member("a0"), a_member("a1", on="n2"))] == [Fits.YES]


def test_a_pod_that_cannot_be_weighed_still_does_not_fit_where_a_bound_shows_it() -> None:
    claims = Demands(has_device_claims=True)
    (only,) = verdicts(a_node("n2", gpus=0), gpus(1, demands=claims))
    assert only.fits is Fits.NO
    assert [each.fits for each in verdicts(a_node("n2"), gpus(8), gpus(8, "b", demands=claims))] == [Fits.YES, Fits.NO]


def test_a_pod_whose_company_is_not_there_is_not_known_to_fit() -> None:
    web = PodTerm("zone", (Requirement("app", SelectorOp.IN, frozenset({"web"})),), None)
    zoned = a_node("n2", labels={"zone": "a"})
    assert why(zoned, a_pod(demands=Demands(near=(web,)))) == "none of the pods that it has to be with is there now"


def test_what_needs_no_successor_fits() -> None:
    bare = terminating("a", owner=None)
    assert verdicts(bare) == [Verdict(Fits.YES, None, "nothing comes in its place: it has no controller")]
    surplus = verdicts(an_owner(desired=1), a_pod("b", on="n2"), gpus(8))
    said = "nothing has to come in its place: its owner has all it wants elsewhere"
    assert surplus == [Verdict(Fits.YES, None, said)]


def test_a_pod_pinned_to_the_drained_node_does_not_fit() -> None:
    """C10."""
    here = Demands(node_terms=((NodeRequirement("metadata.name", NodeOp.IN, ("n1",)),),))
    (only,) = verdicts(a_node("n2"), a_pod(demands=here))
    assert only.fits is Fits.NO
    assert only.why == "default/a can only run on n1: no other node matches its node selector or affinity"


def test_all_fit_where_each_does_and_not_where_one_does_not() -> None:
    yes, no, unknown = (Verdict(each) for each in (Fits.YES, Fits.NO, Fits.UNKNOWN))
    assert in_all(()) is Fits.YES
    assert in_all((yes, yes)) is Fits.YES
    assert in_all((yes, unknown)) is Fits.UNKNOWN
    assert in_all((unknown, no, yes)) is Fits.NO


# --- properties -------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(worlds())
def test_the_node_that_is_named_takes_the_pod_beside_those_placed_before(world: World) -> None:
    found = weigh(ON_N1, world.moving, world.view)
    place = world.place()
    place = replace(place, pods=tuple(each for each in place.pods if each not in world.moving))
    for pod in sorted(world.moving, key=by_size):
        node = found[pod.ref.uid].node
        if node is not None:
            assert node not in world.view.draining_nodes()
            assert admits(place, place.nodes[node], pod)
            place = replace(place, pods=(*place.pods, replace(pod, node=node)))


@settings(deadline=None, max_examples=50)
@given(worlds())
def test_no_pod_is_said_not_to_fit_where_all_could_be_placed(world: World) -> None:
    found = weigh(ON_N1, world.moving, world.view)
    is_no = in_all(found.values()) is Fits.NO
    assert not is_no or not can_all_move(world.place(), world.moving, world.loose, world.view.draining_nodes())


@settings(deadline=None, max_examples=50)
@given(worlds())
def test_an_unchanged_world_gives_unchanged_verdicts_in_whatever_order_it_was_seen(world: World) -> None:
    snapshot = world.view.snapshot
    turned: View = replace(
        world.view,
        snapshot=replace(
            snapshot,
            nodes=dict(reversed([*snapshot.nodes.items()])),
            pods=dict(reversed([*snapshot.pods.items()])),
            pods_by_node={name: tuple(reversed(uids)) for name, uids in snapshot.pods_by_node.items()},
        ),
    )
    moving = tuple(reversed(world.moving))
    assert weigh(ON_N1, moving, turned) == weigh(ON_N1, world.moving, world.view)

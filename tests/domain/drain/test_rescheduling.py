"""Rescheduling: what is still missing by name, and what will never come, in the cluster's own words."""

from datetime import datetime

import pytest

from hangar.domain.blockers import sentence
from hangar.domain.decision import Fail
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.drain.rescheduling import cannot_be_rescheduled, failing, lacking, not_rescheduled, verdict_at
from hangar.domain.ids import OwnerUid
from hangar.domain.snapshot import OwnerRef, Pod
from hangar.domain.view import ClusterSettings, View
from tests.domain.building import (
    API,
    NOON,
    Object,
    a_node,
    a_pod,
    a_ref,
    a_view,
    an_owner,
    at,
    draining,
    our_node,
    pending,
    terminating,
)

DB = OwnerRef("StatefulSet", "db", OwnerUid("db"))
GONE = (TrackedPod(a_ref("a"), API, sent_at=NOON),)
TURNED_AWAY = pending("new", unschedulable_since=NOON, waiting="Insufficient nvidia.com/gpu")


def a_scene(*objects: Object, has_autoscaler: bool = False) -> View:
    """Return a view in which n1 drains and api had two ready pods, of which one serves on n2."""
    claims = draining("n1", baselines={"api": 2, "db": 1})
    world = (our_node("n1"), a_node("n2"), a_pod("b", on="n2"))
    return a_view(*world, *objects, claims=claims, settings=ClusterSettings(has_autoscaler))


def verdict(view: View, now: datetime) -> Fail | None:
    return cannot_be_rescheduled(GONE, {}, view, now)


# --- what is missing --------------------------------------------------------------------------------------------------


def test_what_serves_elsewhere_as_before_is_not_waited_for() -> None:
    view = a_scene(an_owner(desired=2), a_pod("new", on="n2"))
    assert lacking(GONE, view) == []
    assert not_rescheduled(GONE, view) == ()
    assert verdict(view, at(3600)) is None


def test_what_is_loading_is_waited_for_by_name_with_its_own_words() -> None:
    loading = (pending("new", on="n2", waiting="ContainerCreating"), a_pod("more", on="n2", ready=False))
    (waits,) = not_rescheduled(GONE, a_scene(an_owner(desired=2), *loading))
    assert sentence(waits) == (
        "deployment default/api has 1 of 2 pods ready off the draining nodes "
        "(default/more: not ready; default/new: ContainerCreating)"
    )


def test_nothing_loading_is_said_without_brackets() -> None:
    (waits,) = not_rescheduled(GONE, a_scene(an_owner(desired=2)))
    assert sentence(waits) == "deployment default/api has 1 of 2 pods ready off the draining nodes"


def test_each_owner_is_waited_for_once_in_the_order_of_their_names() -> None:
    owners = {"z": DB, "y": API, "x": API, "w": None}
    both = [TrackedPod(a_ref(name), owner, sent_at=NOON) for name, owner in owners.items()]
    view = a_scene(an_owner(desired=2), an_owner("db", 1, kind="StatefulSet"))
    assert [name for _, name, _ in lacking(both, view)] == ["deployment default/api", "statefulset default/db"]


# --- what will not come -----------------------------------------------------------------------------------------------


def test_a_pod_that_cannot_be_placed_is_a_verdict_after_a_while() -> None:
    view = a_scene(an_owner(desired=2), TURNED_AWAY)
    assert verdict(view, at(29)) is None
    assert verdict_at(GONE, {}, view, at(29)) == at(30)
    assert verdict(view, at(30)) == Fail(
        "no_capacity",
        "deployment default/api has 1 of 2 pods ready elsewhere: "
        "default/new cannot be placed: Insufficient nvidia.com/gpu",
    )
    assert verdict_at(GONE, {}, view, at(30)) is None


def test_an_autoscaler_may_still_bring_a_node() -> None:
    view = a_scene(an_owner(desired=2), TURNED_AWAY, has_autoscaler=True)
    assert verdict(view, at(3600)) is None


def test_what_is_about_to_leave_room_is_waited_for() -> None:
    view = a_scene(an_owner(desired=2), TURNED_AWAY, terminating("slow", on="n2", seconds=300, owner=DB))
    assert verdict(view, at(329)) is None
    assert verdict_at(GONE, {}, view, NOON) == at(330)
    assert verdict(view, at(330)) is not None, "it should have ended, and has not"


@pytest.mark.parametrize(
    "useless",
    [terminating("slow", on="n1", seconds=300, owner=DB), terminating("slow", on="n3", seconds=300, owner=DB)],
    ids=["on the draining node", "on a cordoned node"],
)
def test_room_that_the_pod_could_not_use_is_not_waited_for(useless: Pod) -> None:
    view = a_scene(an_owner(desired=2), TURNED_AWAY, useless, a_node("n3", cordoned=True))
    assert verdict(view, at(30)) is not None


def test_a_pod_that_is_held_back_or_loads_slowly_is_no_verdict() -> None:
    gated = pending("new", waiting="SchedulingGated")
    assert verdict(a_scene(an_owner(desired=2), gated), at(3600)) is None
    assert verdict_at(GONE, {}, a_scene(an_owner(desired=2), gated), NOON) is None


def test_an_owner_that_lost_no_pod_is_not_judged() -> None:
    assert cannot_be_rescheduled((), {}, a_scene(an_owner(desired=2), TURNED_AWAY), at(3600)) is None


# --- what cannot be created -------------------------------------------------------------------------------------------

QUOTA = an_owner(desired=2, failure="exceeded quota: gpus, used 8, limited 8")


def test_a_controller_that_cannot_create_pods_is_a_verdict_after_a_while() -> None:
    view = a_scene(QUOTA)
    since = failing(GONE, {}, view, at(5))
    assert since == {API.uid: at(5)}
    assert failing(GONE, since, view, at(20)) == since
    assert cannot_be_rescheduled(GONE, since, view, at(34)) is None
    assert verdict_at(GONE, since, view, at(34)) == at(35)
    assert cannot_be_rescheduled(GONE, since, view, at(35)) == Fail(
        "quota_exceeded",
        "deployment default/api has 1 of 2 pods ready and cannot create more: exceeded quota: gpus, used 8, limited 8",
    )


def test_another_reason_than_a_quota_has_its_own_code() -> None:
    view = a_scene(an_owner(desired=2, failure="no service account"))
    failed = cannot_be_rescheduled(GONE, {API.uid: NOON}, view, at(30))
    assert failed is not None
    assert failed.code == "cannot_be_recreated"


@pytest.mark.parametrize(
    "more",
    [
        (QUOTA, terminating("old", on="n1")),
        (QUOTA, pending("new", on="n2")),
        (QUOTA, a_pod("new", on="n2")),
        (an_owner(desired=2),),
        (an_owner(desired=1, failure="exceeded quota"),),
    ],
    ids=["one is still ending", "one is loading", "none is lacking", "no failure", "no more is wanted"],
)
def test_a_failure_that_may_pass_or_does_not_matter_is_not_held_against_it(more: tuple[Object, ...]) -> None:
    view = a_scene(*more)
    assert failing(GONE, {API.uid: at(-60)}, view, NOON) == {}
    assert cannot_be_rescheduled(GONE, {}, view, NOON) is None

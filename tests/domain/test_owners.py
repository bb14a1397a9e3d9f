"""Owners: what they want, what they lack off the draining nodes, and that none loses its last ready pod."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.blockers import sentence
from hangar.domain.decision import Evict
from hangar.domain.ids import OwnerUid
from hangar.domain.owners import (
    baseline_of,
    creation_failure,
    is_absent,
    keeps_last_ready,
    name_of,
    ready_count,
    shortfall,
    wanted,
)
from hangar.domain.snapshot import Owner, OwnerRef, Pod, PodPhase
from hangar.domain.view import View
from tests.domain.building import (
    API,
    OP,
    a_node,
    a_pod,
    a_snapshot,
    a_view,
    an_owner,
    draining,
    pending,
    terminating,
    uids,
)

N1, N2 = a_node("n1"), a_node("n2")
FOREIGN = OwnerRef("PodClique", "decode", OwnerUid("decode"))
API_UID = API.uid


def lacks(
    *objects: Owner | Pod, before: int = 3, nodes: tuple[str, ...] = ("n1",)
) -> tuple[int, int, list[str]] | None:
    """Return what the owner api has off the draining nodes, what it needs, and what is loading."""
    lack = shortfall(API_UID, a_view(N1, N2, *objects, claims=draining(*nodes, baselines={"api": before})))
    return (lack.has, lack.needs, [pod.ref.name for pod in lack.loading]) if lack is not None else None


def test_only_what_stays_ready_is_counted_as_ready() -> None:
    view = a_view(a_pod("a"), a_pod("b"), terminating("c"), pending("d"), leaving=uids("b"))
    assert ready_count(API_UID, view) == 1


# --- what it had and what it wants ------------------------------------------------------------------------------------


def test_a_baseline_is_what_is_ready_now_even_where_an_eviction_may_still_end_it() -> None:
    assert baseline_of(API_UID, a_view(a_pod("a"), a_pod("b"), pending("c"), leaving=uids("b"))) == 2


def test_a_baseline_is_shared_with_a_drain_that_began_before() -> None:
    view = a_view(a_pod("a"), claims=draining("n2", baselines={"api": 3}))
    assert baseline_of(API_UID, view) == 3


@pytest.mark.parametrize(("desired", "before", "wants"), [(3, 3, 3), (5, 3, 3), (1, 3, 1), (0, 3, 0), (None, 3, 3)])
def test_an_owner_wants_what_it_had_and_no_more_than_it_says(desired: int | None, before: int, wants: int) -> None:
    view = a_view(an_owner(desired=desired), a_pod(), claims=draining("n1", baselines={"api": before}))
    assert wanted(API_UID, view) == wants


def test_a_controller_that_we_cannot_read_is_held_to_what_was_ready() -> None:
    claims = draining("n1", baselines={"decode": 2})
    assert wanted(FOREIGN.uid, a_view(a_pod(owner=FOREIGN), claims=claims)) == 2
    assert wanted(FOREIGN.uid, a_view(claims=claims)) == 2, "nothing of it is seen: it may be between two pods"


def test_an_owner_that_is_taken_to_be_gone_wants_nothing() -> None:
    (claim,) = draining("n1", baselines={"decode": 2}).values()
    view = a_view(claims={OP: replace(claim, vanished=frozenset({FOREIGN.uid}))})
    assert wanted(FOREIGN.uid, view) == 0


def test_nothing_is_seen_of_an_owner_without_itself_and_its_pods() -> None:
    assert is_absent(FOREIGN.uid, a_snapshot())
    assert not is_absent(FOREIGN.uid, a_snapshot(a_pod(owner=FOREIGN)))
    assert not is_absent(API.uid, a_snapshot(an_owner()))


def test_a_controller_that_we_cannot_read_wants_what_those_below_it_want() -> None:
    """Such as a CronJob: its Job is over, and what is left of it are pods that have finished."""
    cron = OwnerRef("CronJob", "backup", OwnerUid("backup"))
    claims = draining("n1", baselines={"backup": 1})
    running, over = (an_owner("backup-1", desired, kind="Job", parent=cron) for desired in (1, 0))
    done = a_pod("a", owner=over.ref, phase=PodPhase.SUCCEEDED, ready=False)
    assert wanted(cron.uid, a_view(running, done, claims=claims)) == 1
    assert wanted(cron.uid, a_view(over, done, claims=claims)) == 0
    unread = an_owner("backup-2", None, kind="Job", parent=cron)
    assert wanted(cron.uid, a_view(over, unread, done, claims=claims)) == 1


# --- what it lacks ----------------------------------------------------------------------------------------------------


def test_nothing_is_lacking_where_as_many_serve_off_the_draining_nodes() -> None:
    assert lacks(an_owner(), *(a_pod(name, on="n2") for name in "abc")) is None


def test_what_still_serves_on_a_draining_node_does_not_count() -> None:
    pods = (a_pod("a", on="n1"), a_pod("b", on="n2"), a_pod("c", on="n3"))
    assert lacks(an_owner(), *pods, nodes=("n1", "n3")) == (1, 3, [])


def test_what_is_loading_is_named() -> None:
    loading = a_pod("c", on="n2", ready=False)
    assert lacks(an_owner(), a_pod("a", on="n2"), pending("b"), loading) == (1, 3, ["b", "c"])


def test_what_has_finished_or_terminates_is_neither_ready_nor_loading() -> None:
    """C15: failed pods that nobody cleans up count for nothing."""
    done = a_pod("b", on="n2", phase=PodPhase.FAILED, ready=False)
    assert lacks(an_owner(), a_pod("a", on="n2"), done, terminating("c", on="n2", ready=False)) == (1, 3, [])


def test_a_roll_out_in_between_changes_nothing() -> None:
    old, new = (an_owner(name, kind="ReplicaSet", parent=API) for name in ("old", "new"))
    pods = (a_pod("a", owner=old.ref, on="n2"), a_pod("b", owner=new.ref, on="n2"))
    assert lacks(an_owner(desired=2), old, new, *pods) is None


def test_a_shortfall_knows_how_many_are_missing() -> None:
    lack = shortfall(API_UID, a_view(an_owner(), a_pod("a", on="n2"), claims=draining("n1", baselines={"api": 3})))
    assert lack is not None
    assert lack.missing == 2


# --- the last ready one -----------------------------------------------------------------------------------------------


def holds(pod: Pod, *objects: Owner | Pod, **fields: Any) -> str | None:
    held = keeps_last_ready(pod, a_view(pod, *objects, **fields))
    return sentence(held) if held is not None else None


def test_the_last_ready_pod_is_kept_while_another_is_on_its_way() -> None:
    assert holds(a_pod("a"), pending("b"), an_owner(desired=2)) == (
        "default/a is the last ready pod of deployment default/api, which has 1 of 2 ready; "
        "the others: default/b: not ready"
    )


def test_an_only_replica_is_let_go() -> None:
    assert holds(a_pod("a"), an_owner(desired=1)) is None
    assert holds(a_pod("a"), an_owner(desired=0)) is None


def test_one_of_two_ready_pods_is_let_go_and_then_the_other_is_kept() -> None:
    a, b = a_pod("a"), a_pod("b", on="n2")
    view = a_view(a, b, an_owner(desired=2))
    assert keeps_last_ready(a, view) is None
    assert keeps_last_ready(b, view.assuming((Evict(a.ref),))) is not None


def test_a_pod_that_does_not_serve_takes_nothing_away() -> None:
    assert holds(pending("a"), a_pod("b"), an_owner(desired=2)) is None
    assert holds(a_pod("a", owner=None)) is None


def test_a_controller_that_we_cannot_read_keeps_its_last_one_where_it_had_more() -> None:
    pod = a_pod("a", owner=FOREIGN)
    assert holds(pod, claims=draining("n1", baselines={"decode": 2})) is not None
    assert holds(pod, claims=draining("n1", baselines={"decode": 1})) is None
    assert holds(pod) is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=6), st.integers(0, 6))
def test_evictions_of_one_turn_never_take_an_owners_last_ready_pod(pods: list[tuple[bool, bool]], desired: int) -> None:
    every = [a_pod(str(number), on="n1" if here else "n2", ready=ready) for number, (here, ready) in enumerate(pods)]
    view: View = a_view(*every, an_owner(desired=desired))
    before = ready_count(API_UID, view)
    for pod in every:
        if keeps_last_ready(pod, view) is None:
            view = view.assuming((Evict(pod.ref),))
    assert ready_count(API_UID, view) >= min(before, 1 if desired > 1 else 0)


# --- why it cannot ----------------------------------------------------------------------------------------------------


def test_a_failure_is_the_controllers_own_or_that_of_one_below_it() -> None:
    failing = an_owner("api-1", kind="ReplicaSet", parent=API, failure="exceeded quota")
    assert creation_failure(API_UID, a_snapshot(an_owner(), failing)) == "exceeded quota"
    assert creation_failure(API_UID, a_snapshot(an_owner(failure="no"), failing)) == "no"
    assert creation_failure(API_UID, a_snapshot(an_owner())) is None
    assert creation_failure(API_UID, a_snapshot()) is None


def test_an_owner_is_named_as_people_write_it() -> None:
    assert name_of(API, "default") == "deployment default/api"

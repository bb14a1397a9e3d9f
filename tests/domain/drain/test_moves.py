"""The pods a drain moves: in one group each, and each with its own successor."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.decision import Accepted, Answer, BudgetFull, Fail, Gone, Namesake
from hangar.domain.drain.moves import (
    TrackedPod,
    about_to_be_sent,
    match_successors,
    rescheduled_count,
    returned,
    returns_of,
    tally,
)
from hangar.domain.ids import NodeName, OwnerUid
from hangar.domain.snapshot import OwnerRef, Pod, PodPhase
from hangar.domain.view import View
from tests.domain.building import (
    API,
    NOON,
    OP,
    OTHER_OP,
    a_node,
    a_pod,
    a_ref,
    a_view,
    an_answer,
    an_owner,
    at,
    draining,
    pending,
    terminating,
    uids,
)


def tracked(name: str, *, sent_at: datetime | None = NOON, owner: OwnerRef | None = API) -> TrackedPod:
    return TrackedPod(a_ref(name), owner, sent_at=sent_at)


def grouped(view: View, *pods: TrackedPod) -> dict[str, list[str]]:
    """Return the groups that are not empty, by the names of their pods."""
    count = tally({each.ref.uid: each for each in pods}, OP, view)
    groups = {
        "evicted": [each.ref.name for each in count.evicted],
        "left": [each.ref.name for each in count.left],
        "terminating": [each.ref.name for each in count.terminating],
        "unknown": [each.ref.name for each in count.unknown],
        "untouched": [each.ref.name for each in count.untouched],
    }
    return {name: group for name, group in groups.items() if group}


# --- the tally --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pod", "group"),
    [
        (None, "evicted"),
        (a_pod(phase=PodPhase.SUCCEEDED, ready=False), "evicted"),
        (terminating("a"), "terminating"),
        (a_pod(), "untouched"),
    ],
    ids=["gone", "finished", "terminating", "there"],
)
def test_a_pod_is_in_the_group_that_says_what_became_of_it(pod: Pod | None, group: str) -> None:
    assert grouped(a_view(*([pod] if pod is not None else [])), tracked("a")) == {group: ["a"]}


def test_a_pod_that_went_without_an_eviction_of_ours_left_by_itself() -> None:
    assert grouped(a_view(), tracked("a", sent_at=None)) == {"left": ["a"]}


def test_a_pod_that_an_eviction_may_still_end_is_of_unknown_fate() -> None:
    assert grouped(a_view(a_pod(), leaving=uids("a")), tracked("a")) == {"unknown": ["a"]}


@pytest.mark.parametrize("answer", [Gone(), Namesake()], ids=repr)
def test_what_the_cluster_says_is_gone_is_gone_before_it_is_seen(answer: Answer) -> None:
    view = a_view(a_pod(), answers=an_answer("a", answer))
    assert grouped(view, tracked("a", sent_at=None)) == {"left": ["a"]}
    others = a_view(a_pod(), answers=an_answer("a", answer, operation=OTHER_OP))
    assert grouped(others, tracked("a")) == {"untouched": ["a"]}


@pytest.mark.parametrize("answer", [Accepted(), BudgetFull("full")], ids=repr)
def test_no_other_answer_is_proof_that_a_pod_is_gone(answer: Answer) -> None:
    assert grouped(a_view(a_pod(), answers=an_answer("a", answer)), tracked("a")) == {"untouched": ["a"]}


def test_groups_are_in_the_order_of_names_and_what_is_not_gone_remains() -> None:
    view = a_view(a_pod("b"), a_pod("a"), terminating("c"), a_pod("d"), leaving=uids("d"))
    count = tally({each.ref.uid: each for each in map(tracked, "dcba")}, OP, view)
    assert [pod.ref.name for pod in count.remaining] == ["c", "d", "a", "b"]


STATES = st.sampled_from(("gone", "finished", "terminating", "leaving", "there"))


@given(st.lists(st.tuples(STATES, st.booleans()), max_size=8))
def test_every_tracked_pod_is_in_exactly_one_group(states: list[tuple[str, bool]]) -> None:
    shapes = {
        "finished": lambda name: a_pod(name, phase=PodPhase.FAILED, ready=False),
        "terminating": terminating,
        "leaving": a_pod,
        "there": a_pod,
    }
    named = {str(number): state for number, (state, _) in enumerate(states)}
    pods = [shapes[state](name) for name, state in named.items() if state != "gone"]
    leaving = uids(*(name for name, state in named.items() if state == "leaving"))
    known = [tracked(str(number), sent_at=NOON if sent else None) for number, (_, sent) in enumerate(states)]
    groups = grouped(a_view(*pods, leaving=leaving), *known)
    assert sorted(name for group in groups.values() for name in group) == sorted(named)


# --- rescheduled ------------------------------------------------------------------------------------------------------


def test_evicted_pods_count_as_rescheduled_but_for_those_their_owner_lacks() -> None:
    claims = draining("n1", baselines={"api": 3, "db": 1})
    db = OwnerRef("StatefulSet", "db", OwnerUid("db"))
    view = a_view(
        a_node(), an_owner(), an_owner("db", 1), a_pod("x", on="n2"), a_pod("y", on="n2", owner=db), claims=claims
    )
    evicted = [tracked("a"), tracked("b"), tracked("c"), tracked("d", owner=db), tracked("e", owner=None)]
    assert rescheduled_count(evicted, view) == 1 + 1 + 1, "nobody misses a pod without an owner"


def test_an_owner_that_lacks_more_than_was_evicted_has_none_rescheduled() -> None:
    view = a_view(a_node(), an_owner(), claims=draining("n1", baselines={"api": 3}))
    assert rescheduled_count([tracked("a")], view) == 0


# --- successors -------------------------------------------------------------------------------------------------------


def successors(view: View, *evicted: TrackedPod) -> list[str | None]:
    return [each.successor.ref.uid if each.successor else None for each in match_successors(evicted, view)]


def made(uid: str, seconds: float, *, name: str | None = None, on: str = "n2", **fields: Any) -> Pod:
    """Return a pod that was made so many seconds after noon."""
    return a_pod(name or uid, uid=uid, on=on, created_at=at(seconds), **fields)


def test_evicted_pods_are_paired_with_later_ones_by_age_and_none_twice() -> None:
    view = a_view(an_owner(), made("y", 3), made("x", 2), made("old", -60))
    assert successors(view, tracked("a"), tracked("b"), tracked("c")) == ["x", "y", None]


def test_a_pod_made_in_the_very_second_of_the_eviction_may_be_its_successor() -> None:
    sent = tracked("a", sent_at=at(0.9))
    assert successors(a_view(an_owner(), made("x", 0)), sent) == ["x"]
    assert successors(a_view(an_owner(), made("x", -2)), sent) == [None]


def test_only_what_serves_off_the_draining_nodes_is_a_successor() -> None:
    poor = (made("x", 1, ready=False), made("y", 1, on="n1"), made("z", 1), pending("w", created_at=at(1)))
    view = a_view(a_node(), an_owner(), *poor, claims=draining("n1"), leaving=uids("z"))
    assert successors(view, tracked("a")) == [None]


def test_a_pod_of_the_same_name_is_the_successor_and_no_other_pods() -> None:
    grown, second = made("x", 1, name="db-7"), made("y", 9, name="db-1")
    view = a_view(an_owner(), grown, second)
    assert successors(view, tracked("db-1")) == ["y"]
    assert successors(view, tracked("db-0"), tracked("db-1")) == ["x", "y"]
    assert successors(a_view(an_owner(), second), tracked("db-0"), tracked("db-1")) == [None, "y"]


def test_a_sibling_made_just_before_the_eviction_is_no_successor() -> None:
    before = a_view(an_owner(), made("young", 0), made("old", -60))
    sent = about_to_be_sent(tracked("a", sent_at=None), before, at(0.9))
    assert (sent.sent_at, sent.young_siblings) == (at(0.9), frozenset({"young"}))
    assert successors(a_view(an_owner(), made("young", 0), made("x", 1)), sent) == ["x"]


def test_without_an_owner_or_an_eviction_there_is_no_successor() -> None:
    view = a_view(an_owner(), made("x", 1))
    assert successors(view, tracked("a", owner=None), tracked("b", sent_at=None)) == [None, None]


def test_a_move_is_told_with_names_and_uids() -> None:
    (move,) = match_successors([tracked("a")], a_view(an_owner(), made("x", 1)))
    assert move.as_facts() == {
        "pod": "default/a",
        "uid": "a",
        "owner": "deployment default/api",
        "successor": "default/x",
        "successor_uid": "x",
        "successor_node": "n2",
    }
    (alone,) = match_successors([tracked("a", owner=None)], a_view())
    assert set(alone.as_facts().values()) == {"default/a", "a", None}


def test_a_pod_made_since_an_eviction_of_its_owners_was_put_back_and_they_add_up() -> None:
    evicted = replace(tracked("a", sent_at=at(10.5)), returns=1)
    assert returns_of(a_pod("b", created_at=at(9)), API, [evicted]) == 0
    assert returns_of(a_pod("b", created_at=at(10)), API, [evicted]) == 2, "Kubernetes keeps whole seconds"
    assert returns_of(a_pod("b", created_at=at(10)), None, [evicted]) == 0
    assert returns_of(a_pod("b", created_at=at(10)), API, [tracked("a", sent_at=None)]) == 0
    other = OwnerRef("Deployment", "other", OwnerUid("other"))
    assert returns_of(a_pod("b", created_at=at(10)), other, [evicted]) == 0


def test_once_may_be_a_race_and_twice_is_a_rule() -> None:
    assert returned([replace(tracked("a"), returns=1)], NodeName("n1")) is None
    assert returned([replace(tracked("a"), returns=2)], NodeName("n1")) == Fail(
        "returns_to_node",
        "deployment default/api puts its pods back on n1 despite the cordon, 2 times by now: default/a",
    )

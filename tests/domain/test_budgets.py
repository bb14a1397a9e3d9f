"""Budgets: what they let go, in numbers, and never more at once than they allow."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.blockers import sentence
from hangar.domain.budgets import Cause, Hold, allowance, explain, healthy, held_together, may_evict
from hangar.domain.decision import Evict
from hangar.domain.ids import NodeName, NodeUid, PodUid
from hangar.domain.snapshot import Budget, Pod, PodPhase
from hangar.domain.view import Claims
from tests.domain.building import NOON, OTHER_OP, a_budget, a_pod, a_view, pending, terminating, uids

THREE = (a_pod("a"), a_pod("b"), a_pod("c"))
CRASHED = a_pod("a", ready=False, waiting="CrashLoopBackOff")


def said(pod: Pod, *objects: Budget | Pod, **fields: Any) -> str | None:
    """Return the sentence of what holds a pod."""
    view = a_view(pod, *objects, **fields)
    held = may_evict(pod, view)
    return sentence(explain(held, [pod], view)) if held is not None else None


def cause(pod: Pod, *objects: Budget | Pod) -> Cause | None:
    """Return why a pod is held."""
    held = may_evict(pod, a_view(pod, *objects))
    return held.cause if held is not None else None


def test_a_pod_that_no_budget_guards_may_go() -> None:
    assert said(a_pod()) is None
    elsewhere = a_pod("z", namespace="other")
    assert said(elsewhere, a_budget(allowed=0)) is None


def test_a_pod_may_go_while_its_budget_has_room() -> None:
    assert said(*THREE, a_budget(healthy=3, needs=2)) is None


def test_a_pod_whose_budget_is_spent_is_told_the_numbers() -> None:
    told = said(*THREE, a_budget(healthy=3, needs=3))
    assert told is not None
    assert told.startswith("pdb default/api holds back default/a: needs 3 has 3")


def test_the_next_pod_sees_what_the_last_one_has_spent() -> None:
    view = a_view(*THREE, a_budget(healthy=3, needs=2))
    assert may_evict(THREE[0], view) is None
    view = view.assuming((Evict(THREE[0].ref),))
    held = may_evict(THREE[1], view)
    assert held is not None
    facts = explain(held, [THREE[1]], view).facts
    assert (facts["needs"], facts["has"]) == (2, 2)


def test_a_status_that_is_behind_our_own_evictions_is_not_believed() -> None:
    assert said(*THREE, a_budget(healthy=3, needs=2, allowed=1), leaving=uids("b")) is not None


def test_a_status_that_knows_of_fewer_than_we_see_is_believed() -> None:
    """Somebody else's eviction was accepted, and its pod is not yet seen to be terminating."""
    assert said(*THREE, a_budget(healthy=3, needs=2, allowed=0, has_disrupted=True)) is not None


def test_a_status_that_does_not_know_of_all_that_is_ready_is_spent_once_a_turn() -> None:
    """More pods have become ready than the status says; each eviction of ours still takes one off it."""
    view = a_view(*THREE, a_budget(healthy=2, needs=1, allowed=1))
    assert may_evict(THREE[0], view) is None
    assert may_evict(THREE[1], view.assuming((Evict(THREE[0].ref),))) is not None


def test_what_terminates_or_has_finished_is_not_healthy() -> None:
    done = a_pod("c", phase=PodPhase.SUCCEEDED)
    budget = a_budget(healthy=3, needs=1)
    view = a_view(a_pod("a"), terminating("b"), done, a_pod("d", ready=False), budget)
    assert healthy(budget, view) == 1
    assert allowance(budget, view) == 0


def test_no_budget_is_asked_about_pods_that_have_not_started() -> None:
    """C20: a pod whose image cannot be pulled may go."""
    assert said(pending("a", on="n1"), a_budget(allowed=0), a_budget("second", allowed=0)) is None


def test_an_unready_pod_may_go_while_the_others_are_enough() -> None:
    assert said(CRASHED, *THREE[1:], a_budget(healthy=2, needs=2)) is None


def test_an_unready_pod_is_held_while_the_others_are_too_few() -> None:
    assert said(CRASHED, *THREE[1:], a_budget(healthy=2, needs=3)) is not None


def test_an_unready_pod_of_a_budget_that_needs_none_is_asked_for_like_any_other() -> None:
    """The eviction API lets it pass for being unready only where the budget needs some to be healthy."""
    assert said(CRASHED, a_budget(healthy=0, needs=0)) is not None
    assert said(CRASHED, a_pod("b"), a_budget(healthy=1, needs=0)) is None


@pytest.mark.parametrize(
    "state", [{"allowed": 0}, {"is_current": False}, {"sync_failure": "found no controller"}], ids=repr
)
def test_always_allow_lets_an_unready_pod_go_whatever_the_status_says(state: dict[str, Any]) -> None:
    """C17: what crashes may go where the budget says so."""
    budget = a_budget(healthy=0, needs=3, always_allow_unready=True, **state)
    assert said(CRASHED, budget) is None
    assert said(a_pod("b"), budget) is not None


def test_several_budgets_over_one_pod_hold_it_and_are_all_named() -> None:
    told = said(a_pod(), a_budget("second"), a_budget("first"))
    assert told == (
        "default/a is guarded by pdb default/first and pdb default/second, and the eviction API takes one at most"
    )


def test_an_empty_selector_guards_every_pod_of_its_namespace() -> None:
    budget = a_budget(selector=(), healthy=1, needs=1)
    assert said(a_pod(labels={}), budget) is not None
    assert said(a_pod(labels={}, namespace="other"), budget) is None


def test_a_budget_that_is_behind_or_cannot_be_computed_is_waited_for_by_that_name() -> None:
    assert said(a_pod(), a_budget(is_current=False)) == (
        "pdb default/api holds back default/a: its count is behind its pods"
    )
    assert said(a_pod(), a_budget(sync_failure="found no controller")) == (
        "pdb default/api holds back default/a: its controller cannot compute it: found no controller"
    )


# --- by class ---------------------------------------------------------------------------------------------------------


def test_a_budget_over_healthy_pods_that_allows_none_never_will_and_says_what_to_do() -> None:
    """C16, C21, C22: told at once, and not after days."""
    told = said(*THREE, a_budget(healthy=3, needs=3))
    assert told == (
        "pdb default/api holds back default/a: needs 3 has 3, and can never allow one; "
        "scale up, relax the budget, or drain with skip_fit_check"
    )


@pytest.mark.parametrize(
    "state",
    [{"is_current": False}, {"has_disrupted": True}, {"expected": 4}, {"expected": 0}, {"allowed": 1}],
    ids=repr,
)
def test_a_budget_that_may_still_open_is_no_verdict(state: dict[str, Any]) -> None:
    held = may_evict(THREE[0], a_view(*THREE, a_budget(**({"healthy": 3, "needs": 3} | state))))
    assert held is None or not held.is_final


def test_several_budgets_and_one_that_cannot_be_computed_are_final() -> None:
    two = may_evict(a_pod(), a_view(a_pod(), a_budget("one"), a_budget("two")))
    broken = may_evict(a_pod(), a_view(a_pod(), a_budget(sync_failure="no scale")))
    assert two is not None
    assert broken is not None
    assert (two.cause, two.is_final, broken.cause, broken.is_final) == (Cause.SEVERAL, True, Cause.UNSYNCED, True)


def test_no_budget_is_asked_about_pods_that_it_does_not_guard_or_that_have_not_started() -> None:
    assert cause(a_pod()) is None
    assert cause(pending("a", on="n1"), a_budget(healthy=3, needs=3)) is None


def test_pods_that_have_a_trouble_of_their_own_are_named_with_it() -> None:
    """C17, C20: crash loops and images that cannot be pulled hold a budget, and only people can mend them."""
    sick = a_pod("b", ready=False, waiting="CrashLoopBackOff"), a_pod("c", ready=False, waiting="ImagePullBackOff: 404")
    view = a_view(a_pod("a"), *sick, a_budget(healthy=1, needs=2, expected=3))
    held = may_evict(a_pod("a"), view)
    assert held is not None
    told = explain(held, [a_pod("a")], view)
    assert told.code == "budget_unhealthy"
    assert sentence(told) == (
        "pdb default/api holds back default/a: needs 2 has 1; "
        "not ready: default/b: CrashLoopBackOff, default/c: ImagePullBackOff: 404"
    )


def test_pods_that_a_drain_moves_are_named_with_it() -> None:
    claims = {OTHER_OP: Claims((NodeName("n2"), NodeUid("n2-uid")), {}, {PodUid("b"): NOON})}
    view = a_view(a_pod("a"), terminating("b"), a_budget(healthy=1, needs=1, expected=2), claims=claims)
    told = explain(Hold(Cause.SPENT, tuple(view.snapshot.budgets.values())), [a_pod("a")], view)
    assert told.code == "budget_ours"
    assert sentence(told).endswith("needs 1 has 1; on their way: default/b: moved by op_02")


def test_what_one_budget_holds_is_told_once() -> None:
    view = a_view(*THREE, a_budget(healthy=3, needs=3))
    held = [(pod, hold) for pod in THREE if (hold := may_evict(pod, view)) is not None]
    ((hold, pods),) = held_together(held)
    assert [pod.ref.name for pod in pods] == ["a", "b", "c"]
    assert sentence(explain(hold, pods, view)).startswith("pdb default/api holds back default/a, default/b, default/c:")


# --- together ---------------------------------------------------------------------------------------------------------


@given(
    ready=st.lists(st.booleans(), min_size=1, max_size=8),
    needs=st.integers(0, 8),
    allowed=st.integers(0, 8),
    leaving=st.sets(st.integers(0, 7)),
    always=st.booleans(),
)
def test_evictions_of_one_turn_never_exceed_a_budget(
    ready: list[bool], needs: int, allowed: int, leaving: set[int], always: bool
) -> None:
    """C18: whatever the numbers are."""
    pods = [a_pod(str(number), ready=each) for number, each in enumerate(ready)]
    budget = a_budget(healthy=sum(ready), needs=needs, allowed=allowed, always_allow_unready=always)
    before = a_view(*pods, budget, leaving=uids(*map(str, leaving)))
    view, spent = before, 0
    for pod in pods:
        if pod.ref.uid not in view.leaving and may_evict(pod, view) is None:
            spent += pod.ready
            view = view.assuming((Evict(pod.ref),))
    assert spent <= max(0, allowance(budget, before))
    assert healthy(budget, view) >= min(needs, healthy(budget, before))

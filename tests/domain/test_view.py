"""The view: what is assumed, what serves, who drains, and when something is tried again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.decision import Answer, Answered, BudgetFull, Busy, Cordon, Evict, Uncordon, Unknown, Unmark
from hangar.domain.ids import NodeName, NodeUid, OwnerUid
from hangar.domain.limits import RETRY_FIRST_S, RETRY_MAX_S
from hangar.domain.view import Claims, StepKey, StepName, key_of, retry_at
from tests.domain.building import NOON, OP, OTHER_OP, a_mark, a_node, a_pod, a_view, at, draining, uids

NODE = (NodeName("n1"), NodeUid("n1-uid"))


def test_assumed_evictions_end_what_serves_and_leave_the_view_as_it_was() -> None:
    a, b = a_pod("a"), a_pod("b")
    view = a_view(a, b, leaving=uids("x"))
    after = view.assuming((Evict(a.ref), Cordon(*NODE, a_mark())))
    assert [view.serving(each) for each in (a, b)] == [True, True]
    assert [after.serving(each) for each in (a, b)] == [False, True]
    assert after.leaving == uids("a", "x")


def test_other_steps_change_nothing_that_decisions_ask_of_the_view() -> None:
    view = a_view(a_pod())
    assert view.assuming((Uncordon(*NODE), Unmark(*NODE))) is view


def test_the_same_step_asked_again_has_the_same_key() -> None:
    pod = a_pod()
    assert key_of(OP, Evict(pod.ref)) == key_of(OP, Evict(pod.ref, grace_s=5)) == StepKey(OP, StepName.EVICT, "a")
    assert key_of(OP, Cordon(*NODE, a_mark())) == StepKey(OP, StepName.CORDON, "n1-uid")
    assert len({key_of(OP, Uncordon(*NODE)), key_of(OP, Unmark(*NODE)), key_of(OTHER_OP, Unmark(*NODE))}) == 3


def test_a_node_that_took_the_name_of_a_draining_one_is_not_draining() -> None:
    view = a_view(a_node("n1"), a_node("n2", uid="another"), claims=draining("n1", "n2", "n3"))
    assert view.draining_nodes() == {"n1", "n3"}, "the pods of a node that is gone may still be there"


def test_a_baseline_is_the_highest_that_an_open_operation_remembers() -> None:
    claims = {OP: Claims(None, {OwnerUid("api"): 2}), OTHER_OP: Claims(None, {OwnerUid("api"): 3, OwnerUid("db"): 1})}
    view = a_view(claims=claims)
    assert [view.baseline(OwnerUid(name)) for name in ("api", "db", "new")] == [3, 1, 0]
    assert a_view().baseline(OwnerUid("api")) == 0


@pytest.mark.parametrize(
    ("answer", "tries", "pause_s"),
    [
        (Busy("conflict"), 1, 0.2),
        (Busy("conflict"), 2, 0.4),
        (Unknown("timed out"), 6, 6.4),
        (Unknown("timed out"), 7, 10.0),
        (Busy("throttled", retry_after_s=3.0), 1, 3.0),
        (BudgetFull("behind", retry_after_s=0.1), 3, 0.8),
    ],
    ids=repr,
)
def test_pauses_double_and_are_as_long_as_asked_for_at_least(answer: Answer, tries: int, pause_s: float) -> None:
    assert retry_at(Answered(answer, NOON, tries)) == at(pause_s)


@given(st.integers(1, 10_000))
def test_no_number_of_tries_makes_a_pause_too_short_or_too_long(tries: int) -> None:
    pause_s = (retry_at(Answered(Busy("conflict"), NOON, tries)) - NOON).total_seconds()
    assert RETRY_FIRST_S <= pause_s <= RETRY_MAX_S

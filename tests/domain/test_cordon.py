"""Cordons: whose they are, and how a node gets into a state that is seen."""

from dataclasses import replace

import pytest

from hangar.domain import cordon
from hangar.domain.blockers import sentence
from hangar.domain.cordon import NextMove, Take, Wait
from hangar.domain.decision import (
    Accepted,
    Answer,
    Answered,
    Busy,
    Cordon,
    Denied,
    End,
    Fail,
    Gone,
    Namesake,
    Step,
    Trouble,
    Uncordon,
    Unknown,
    Unmark,
    Withheld,
)
from hangar.domain.ids import NodeName, NodeUid
from hangar.domain.limits import CONFIRMATION_MAX_S, DENIED_TRIES_MAX
from hangar.domain.operation import Phase
from hangar.domain.snapshot import Node
from hangar.domain.view import View, key_of
from tests.domain.building import (
    NOON,
    OP,
    OTHER_OP,
    a_mark,
    a_node,
    a_snapshot,
    a_view,
    at,
    our_node,
)

N1 = (NodeName("n1"), NodeUid("n1-uid"))
BY_HAND = a_node(cordoned=True, cordon_manager="kubectl-cordon")
STEP = Cordon(*N1, a_mark())


def test_a_node_is_meant_by_its_uid() -> None:
    assert cordon.node_of(a_snapshot(a_node()), *N1) == a_node()
    assert cordon.node_of(a_snapshot(a_node(uid="another")), *N1) is None
    assert cordon.node_of(a_snapshot(), *N1) is None


def test_a_missing_node_is_gone_or_was_replaced() -> None:
    assert cordon.missing(a_snapshot(), N1[0]).code == "node_not_found"
    assert cordon.missing(a_snapshot(a_node(uid="another")), N1[0]).code == "node_replaced"


@pytest.mark.parametrize(
    ("node", "is_held"),
    [
        (our_node(), True),
        (our_node(operation=OTHER_OP), False),
        (a_node(mark=a_mark()), False),
        (BY_HAND, False),
        (replace(BY_HAND, mark=a_mark()), False),
        (replace(BY_HAND, mark=a_mark(prior=True)), True),
        (replace(our_node(), mark=None), False),
    ],
    ids=["ours", "of another", "lifted", "by hand", "by hand under our mark", "over an earlier one", "without a mark"],
)
def test_a_cordon_is_held_by_an_operation_under_its_mark_and_our_field(node: Node, is_held: bool) -> None:
    """C39: only what carries our mark, and is ours by its field, is ours."""
    assert cordon.is_held_by(node, OP) is is_held


def test_whose_a_cordon_is_in_words() -> None:
    assert cordon.whose(our_node()) == "alice"
    assert cordon.whose(replace(our_node(), mark=a_mark(reason="firmware"))) == "alice (firmware)"
    assert cordon.whose(BY_HAND) == "kubectl-cordon"
    assert cordon.whose(replace(BY_HAND, mark=a_mark(), cordon_manager=None)) == "somebody"
    assert cordon.whose(a_node(mark=a_mark())) == "alice", "whose mark it still carries"


def test_a_mark_remembers_how_the_node_was_before() -> None:
    assert cordon.mark_of(a_node(), OP, "alice", "firmware") == a_mark(reason="firmware")
    assert cordon.mark_of(BY_HAND, OP, "alice", None) == a_mark(prior=True)


@pytest.mark.parametrize(
    ("step", "node", "why"),
    [
        (STEP, a_node(), None),
        (STEP, BY_HAND, "node n1 was cordoned by somebody else meanwhile"),
        (Cordon(*N1, a_mark(prior=True)), BY_HAND, None),
        (Cordon(*N1, a_mark(prior=True)), a_node(), "node n1 was uncordoned by somebody else meanwhile"),
        (Uncordon(*N1), BY_HAND, None),
        (Uncordon(*N1, held_by=OP), our_node(), None),
        (Uncordon(*N1, held_by=OP), BY_HAND, "the cordon of node n1 is no longer that of op_01"),
        (Unmark(*N1), a_node(mark=a_mark()), None),
        (Unmark(*N1), replace(BY_HAND, mark=a_mark()), None),
        (Unmark(*N1), our_node(), "node n1 was cordoned anew, and the annotation is that cordon's"),
    ],
    ids=repr,
)
def test_a_step_is_not_taken_on_a_node_that_has_changed_meanwhile(
    step: Cordon | Uncordon | Unmark, node: Node, why: str | None
) -> None:
    assert cordon.why_not(step, node) == why


# --- the way there ----------------------------------------------------------------------------------------------------


def moved(answer: Answer | None, seconds: float = 0, *, tries: int = 1, is_in_flight: bool = False) -> NextMove:
    """Return the move so many seconds after noon, when the cordon was answered like this."""
    key = key_of(OP, STEP)
    view: View = a_view(
        a_node(),
        answers={key: Answered(answer, NOON, tries)} if answer is not None else {},
        in_flight=frozenset({key}) if is_in_flight else frozenset(),
    )
    return cordon.put_on(a_node(), a_mark(), view, at(seconds))


def test_a_step_is_taken_and_not_again_while_it_is_under_way() -> None:
    assert moved(None) == Take(STEP)
    waits = moved(None, is_in_flight=True)
    assert isinstance(waits, Wait)
    assert (sentence(waits.blocker), waits.until) == ("waiting to see node n1 cordoned", None)


def test_what_was_accepted_is_waited_for_until_it_must_have_been_seen() -> None:
    waits = moved(Accepted(), CONFIRMATION_MAX_S - 1)
    assert isinstance(waits, Wait)
    assert waits.until == at(CONFIRMATION_MAX_S)
    assert moved(Accepted(), CONFIRMATION_MAX_S) == Fail(
        "not_confirmed", "node n1 was asked to be cordoned, and is not: somebody changed it back"
    )


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (Busy("x", trouble=Trouble.CONFLICT), "conflict"),
        (Unknown("x"), "unknown"),
        (Withheld("x"), "withheld"),
        (Denied("x"), "denied"),
    ],
)
def test_trouble_is_waited_out_and_tried_again(answer: Answer, trouble: str) -> None:
    waits = moved(answer, 0.1)
    assert isinstance(waits, Wait)
    assert (sentence(waits.blocker), waits.until) == (f"node n1 is tried again ({trouble}): x", at(0.2))
    assert moved(answer, 0.2) == Take(STEP)


def test_a_refusal_that_stays_and_a_node_that_is_gone_are_the_end() -> None:
    assert moved(Denied("no patch on nodes"), 60, tries=DENIED_TRIES_MAX) == Fail(
        "forbidden", "the cluster refused to have node n1 cordoned: no patch on nodes"
    )
    for answer in (Gone(), Namesake()):
        assert moved(answer) == Fail("node_not_found", "node n1 does not exist any more")


def test_an_uncordon_lifts_anybodys_cordon_or_only_its_own() -> None:
    def lifted(*, only_own: bool) -> NextMove:
        return cordon.take_off(our_node(), OP, a_view(our_node()), NOON, only_own=only_own)

    assert lifted(only_own=False) == Take(Uncordon(*N1))
    assert lifted(only_own=True) == Take(Uncordon(*N1, held_by=OP))


# --- decisions of one step --------------------------------------------------------------------------------------------


def test_a_move_becomes_a_decision_that_tells_what_it_does_or_waits_for() -> None:
    step: Step = STEP
    taking = cordon.go("memory", Take(step), "cordoning")
    assert (taking.steps, taking.blockers, taking.progress.message) == ((step,), (), "cordoning")
    why = cordon.unreadable(a_snapshot(unreadable=("nodes: no reply", "pods: no reply")))
    waiting = cordon.go("memory", Wait(why, at(5)), "cordoning")
    assert (waiting.steps, waiting.blockers, waiting.recheck_at) == ((), (why,), at(5))
    assert sentence(why) == "cannot read nodes: no reply; pods: no reply"


def test_an_end_counts_its_node_as_done_only_where_it_is() -> None:
    good: End[str] = cordon.end("memory", Phase.SUCCEEDED, "cordoned", "cordoned")
    bad = cordon.fail("memory", Fail("forbidden", "no"))
    assert (good.progress.done, good.progress.total) == (1, 1)
    assert (bad.phase, bad.code, bad.message, bad.progress.done) == (Phase.FAILED, "forbidden", "no", 0)

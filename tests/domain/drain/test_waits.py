"""What a drain waits for: pods that end, and those that a budget or an owner is held for."""

from hangar.domain.blockers import blocker, sentence
from hangar.domain.budgets import may_evict
from hangar.domain.decision import Answered, Fail, Unknown
from hangar.domain.drain.moves import Tally, TrackedPod
from hangar.domain.drain.waits import held_back, landed_at, not_gone, stuck_at, taken_over, takeover_at
from hangar.domain.ids import NodeName
from hangar.domain.limits import HELD_MAX_S, LANDING_MAX_S, RETRY_MAX_S, STUCK_AFTER_S, TAKEOVER_SETTLE_S
from hangar.domain.snapshot import Node
from tests.domain.building import API, NOON, a_budget, a_pod, a_ref, a_view, at, our_node, terminating


def said(count: Tally, node: Node | None = None, seconds: float = 0) -> list[str]:
    return [sentence(each) for each in not_gone(count, node or our_node(), at(seconds))]


def test_what_ends_or_may_end_is_named_with_until_when_and_what_holds_it() -> None:
    """C06: accepted is not gone, and the grace period is told."""
    held = terminating("b", waiting="held by finalizers: example.com/disk")
    count = Tally((), (), (terminating("a", seconds=60), held), (a_pod("c"),), (a_pod("d"),))
    assert said(count) == [
        "default/a is terminating until 2026-10-27T12:01:00Z at the latest",
        "default/b is terminating until 2026-10-27T12:00:30Z at the latest (held by finalizers: example.com/disk)",
        "default/c was sent an eviction whose outcome is unknown; it may still land",
    ]


def test_what_outlives_its_grace_period_is_stuck_since_its_end() -> None:
    count = Tally((), (), (terminating("a", seconds=30, waiting="held by finalizers: x"),), (), ())
    assert stuck_at(count, NOON) == at(30 + STUCK_AFTER_S)
    assert said(count, seconds=30 + STUCK_AFTER_S - 1)[0].startswith("default/a is terminating until")
    assert said(count, seconds=30 + STUCK_AFTER_S) == [
        "default/a ought to have ended by 2026-10-27T12:00:30Z (held by finalizers: x)"
    ]
    assert stuck_at(count, at(30 + STUCK_AFTER_S)) is None


def test_a_silent_kubelet_confirms_nothing() -> None:
    """C57: the pods of a dead node have a deletion timestamp, and stay."""
    count = Tally((), (), (terminating("a"),), (), ())
    assert said(count, our_node(ready=False, is_heard=False)) == [
        "default/a was told to end, and node n1, whose kubelet is silent, does not confirm that it has"
    ]


# --- evictions of unknown outcome -------------------------------------------------------------------------------------


def test_an_eviction_may_land_from_when_it_was_sent_or_its_outcome_became_unknown() -> None:
    tracked = TrackedPod(a_ref("a"), API, sent_at=NOON)
    assert landed_at(tracked, None, at(1)) == at(HELD_MAX_S + LANDING_MAX_S), "so late it may have left"
    assert landed_at(tracked, Answered(Unknown("timed out"), at(8)), at(36)) == at(8 + LANDING_MAX_S)
    assert landed_at(tracked, Answered(Unknown("of an earlier try"), at(-60)), at(1)) == at(HELD_MAX_S + LANDING_MAX_S)


def test_it_is_never_looked_at_again_in_the_past() -> None:
    assert landed_at(TrackedPod(a_ref("a"), API, sent_at=NOON), None, at(60)) == at(60 + RETRY_MAX_S)
    assert landed_at(TrackedPod(a_ref("a"), API), None, at(60)) == at(60 + HELD_MAX_S + LANDING_MAX_S)


# --- held back --------------------------------------------------------------------------------------------------------


def test_one_budget_is_told_once_with_all_that_it_holds_and_others_one_by_one() -> None:
    view = a_view(a_pod("a"), a_pod("b"), a_pod("z"), a_budget(healthy=3, needs=3))
    hold = may_evict(a_pod("a"), view)
    assert hold is not None
    retry = blocker("retry", "default/z", trouble="conflict", why="x")
    told = held_back([(a_pod("a"), hold), (a_pod("z"), retry), (a_pod("b"), hold)], view)
    assert [(each.code, each.subject) for each in told] == [("budget_never", "pdb default/api"), ("retry", "default/z")]
    assert told[0].facts["pods"] == ["default/a", "default/b"]


def test_the_pods_of_one_group_are_held_as_one() -> None:
    last = blocker(
        "last_ready", "leaderworkerset default/x group 0", owner="x", unit="group", has=1, needs=2, missing=[]
    )
    assert held_back([(a_pod("a"), last), (a_pod("b"), last)], a_view()) == (last,)


def test_what_is_left_on_a_node_that_is_gone_is_the_garbage_collectors() -> None:
    count = Tally((), (), (), (), (a_pod("a"),))
    assert [sentence(each) for each in not_gone(count, None, NOON)] == [
        "default/a is left to the garbage collector, since node n1 is gone"
    ]
    assert not_gone(count, our_node(), NOON) == ()


def test_what_a_node_of_the_same_name_runs_on_is_no_more_waited_for_after_a_moment() -> None:
    count, name = Tally((), (), (), (), (a_pod("a"), a_pod("b"))), NodeName("n1")
    assert taken_over(count, name, None, at(60)) is None
    assert taken_over(Tally((), (), (), (), ()), name, NOON, at(60)) is None
    assert taken_over(count, name, NOON, at(TAKEOVER_SETTLE_S - 1)) is None
    assert takeover_at(count, NOON) == at(TAKEOVER_SETTLE_S)
    assert taken_over(count, name, NOON, at(TAKEOVER_SETTLE_S)) == Fail(
        "node_replaced",
        "node n1 was replaced by another node of that name, which runs default/a, default/b on; "
        "the new one is not touched",
    )

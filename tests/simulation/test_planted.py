"""A simulation that finds nothing proves nothing: every planted fault is caught."""

from collections.abc import Iterator, Mapping

import pytest

from tests.simulation.checkers.truth import ViolationError
from tests.simulation.planted import PLANTED
from tests.simulation.planted_named import NAMED
from tests.simulation.playing import play
from tests.simulation.test_seeds import SEEDS

SEEN_AT: Mapping[str, int] = {
    "gone_is_done": 4,
    "no_grace_where_none_was_chosen": 4,
    "cancel_is_not_heard": 20,
    "ends_before_answers": 134,
    "lease_is_ignored": 24,
    "memory_after_act": 24,
    "uncordon_is_overlooked": 133,
    "unknown_is_sent_again": 4,
    "late_reports_change_ends": 8,
    "fence_is_open": 12,
    "memory_is_lost_at_a_takeover": 24,
    "a_cancel_is_lost_at_a_takeover": 97,
    "a_deadline_that_passed_is_always_now": 13,
    "budgets_spent_twice": 15,
    "last_ready_is_taken": 19,
    "groups_are_counted_by_pods": 4,
    "what_is_learnt_counts_late": 307,
    "told_to_end_is_gone_on_a_silent_node": 43,
    "critical_pods_go_with_the_others": 19,
    "pace_is_ignored": 13,
    "force_is_not_asked_for": 13,
    "force_leaves_no_grace": 4,
    "a_node_is_taken_for_down": 13,
    "what_nobody_recreates_is_evicted": 22,
    "a_name_is_a_node": 4,
    "foreign_cordon_is_undone": 15,
    "what_others_changed_is_written_over": 41,
    "a_new_number_has_an_older_revision": 2,
    "the_others_are_not_waited_for": 132,
    "what_ends_is_gone": 21,
    "nobody_looks_at_the_time": 59,
}
"""Where each fault was last seen, to look there first; a fault that shows there no more is looked for in all seeds."""


def seeds(name: str) -> Iterator[int]:
    first = SEEN_AT.get(name, 0)
    yield first
    yield from (seed for seed in range(SEEDS) if seed != first)


@pytest.mark.parametrize("name", PLANTED)
def test_the_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[name](monkeypatch)
    # Caught by a checker, that is: a fault that only breaks down would prove nothing of them.
    assert any(isinstance(play(seed)[0], ViolationError) for seed in seeds(name)), (
        f"no seed shows that {PLANTED[name].__doc__}"
    )


@pytest.mark.parametrize("name", NAMED)
def test_the_fault_is_caught_by_the_test_that_names_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, test = NAMED[name]
    test()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        test()


def test_there_are_enough_of_them() -> None:
    assert len(PLANTED) + len(NAMED) >= 30

"""The life of an operation: a closed set of phases and one table of moves."""

from itertools import product

import pytest

from hangar.domain.operation import OPEN, TERMINAL, TRANSITIONS, IllegalTransitionError, Phase, check_transition


def test_the_phases_and_their_names_are_the_contracts() -> None:
    assert [phase.value for phase in Phase] == ["pending", "running", "succeeded", "failed", "cancelled"]
    assert TRANSITIONS.keys() == set(Phase)


def test_open_and_terminal_are_all_there_is() -> None:
    assert {Phase.PENDING, Phase.RUNNING} == OPEN
    assert {Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED} == TERMINAL


def test_only_what_ran_succeeds_and_nothing_comes_back() -> None:
    allowed = {(before, after) for before, after in product(Phase, Phase) if after in TRANSITIONS[before]}
    assert allowed == {
        (Phase.PENDING, Phase.RUNNING),
        (Phase.PENDING, Phase.FAILED),
        (Phase.PENDING, Phase.CANCELLED),
        (Phase.RUNNING, Phase.SUCCEEDED),
        (Phase.RUNNING, Phase.FAILED),
        (Phase.RUNNING, Phase.CANCELLED),
    }


@pytest.mark.parametrize(("before", "after"), list(product(Phase, Phase)))
def test_every_move_is_checked_against_the_table(before: Phase, after: Phase) -> None:
    if after in TRANSITIONS[before]:
        check_transition(before, after)
        return
    with pytest.raises(IllegalTransitionError, match=f"an operation that is {before} cannot become {after}"):
        check_transition(before, after)

"""Errands: what became of a write so far."""

import pytest

from hangar.domain.decision import (
    Accepted,
    Answer,
    Apply,
    BudgetFull,
    Busy,
    Denied,
    Gone,
    Namesake,
    SeveralBudgets,
    Unknown,
    Withheld,
)
from hangar.domain.limits import RETRY_FIRST_S
from hangar.domain.workloads.errands import Attempts, errand, errands, reductions
from hangar.domain.workloads.graph import Removal
from tests.domain.building import LLAMA, NOON, a_view, an_answer, at, desired

ERRAND = errand(desired(7))
STEP = Apply(LLAMA, "llama-uid", "1", 7, {"decode": 3})


def after(answer: Answer, seconds: float = 0) -> Attempts:
    return Attempts(a_view(answers=an_answer(STEP, answer, operation=ERRAND)), at(seconds))


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Accepted(), None),
        (Denied("no"), "refused"),
        (Busy("later"), "retry"),
        (Unknown("lost"), "retry"),
        (Withheld("late"), "retry"),
        (BudgetFull("none"), "retry"),
        (SeveralBudgets("two"), "retry"),
        (Gone(), "retry"),
        (Namesake(), "retry"),
    ],
    ids=repr,
)
def test_every_answer_but_one_says_why_it_is_not_written(answer: Answer, code: str | None) -> None:
    why = after(answer).trouble(ERRAND, STEP, 7)
    assert (why.code if why else None) == code
    assert why is None or (why.rev == 7 and why.why)


def test_a_step_that_was_never_tried_is_free() -> None:
    attempts = Attempts(a_view(), NOON)
    assert attempts.again_at(ERRAND, STEP) is None
    assert attempts.trouble(ERRAND, STEP, 7) is None
    assert not attempts.is_undone(ERRAND, STEP)


def test_only_what_was_accepted_a_moment_ago_and_is_still_to_be_done_is_undone() -> None:
    assert not after(Accepted()).is_undone(ERRAND, STEP)
    assert after(Accepted(), RETRY_FIRST_S).is_undone(ERRAND, STEP)
    assert not after(Denied("no"), RETRY_FIRST_S).is_undone(ERRAND, STEP)
    assert not after(Accepted(), RETRY_FIRST_S).is_undone(reductions(desired(7)), STEP), "that is another errand"


def test_all_errands_of_a_row_are_known_by_their_ids() -> None:
    assert errands(desired(7)) == {errand(desired(7)), reductions(desired(7))}
    assert errands(Removal(LLAMA, "u")) == {errand(Removal(LLAMA, "u"))}

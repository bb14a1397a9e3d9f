"""A simulation that finds nothing proves nothing: every planted fault is caught."""

import pytest

from tests.simulation.checkers.truth import ViolationError
from tests.simulation.planted import PLANTED
from tests.simulation.playing import play

SEEDS = 200
"""As many as every run of the tests plays: a fault that these do not show would go unseen."""


@pytest.mark.parametrize("name", PLANTED)
def test_the_fault_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[name](monkeypatch)
    # Caught by a checker, that is: a fault that only breaks down would prove nothing of them.
    assert any(isinstance(play(seed)[0], ViolationError) for seed in range(SEEDS)), (
        f"no seed shows that {PLANTED[name].__doc__}"
    )


def test_there_are_enough_of_them() -> None:
    assert len(PLANTED) >= 8

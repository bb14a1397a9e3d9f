"""A simulation that finds nothing proves nothing: every planted fault is caught."""

from collections.abc import Iterator, Mapping

import pytest

from tests.simulation.checkers.truth import ViolationError
from tests.simulation.planted import PLANTED
from tests.simulation.planted_named import NAMED
from tests.simulation.playing import play
from tests.simulation.test_seeds import SEEDS

SEEN_AT: Mapping[str, int] = {
    "a_cancel_is_lost_at_a_takeover": 2,
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

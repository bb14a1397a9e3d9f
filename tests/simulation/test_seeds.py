"""Fleets under faults, each from its seed, a quarter of them with workloads: nothing that must hold is ever broken."""

import pytest

from tests.simulation.playing import play

SEEDS = 220
IN_ONE_TEST = 10


@pytest.mark.parametrize("first", range(0, SEEDS, IN_ONE_TEST))
def test_nothing_breaks(first: int) -> None:
    for seed in range(first, first + IN_ONE_TEST):
        error, story = play(seed)
        if error is not None:
            pytest.fail(f"seed {seed} broke: {error}\n{story}\n\nplay it again: python -m tests.simulation {seed}")


def test_a_seed_always_tells_the_same_story() -> None:
    assert play(7)[1] == play(7)[1]

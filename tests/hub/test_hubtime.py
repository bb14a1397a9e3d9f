"""The hub's time: steady under a clock that jumps, and honest about when it was not listening."""

import pytest

from hangar.hub.hubtime import HubTime


class SteppedClock:
    """Two clocks that a test moves apart."""

    def __init__(self) -> None:
        self.wall_us = 1_000_000_000
        self.mono_s = 50.0

    def now_us(self) -> int:
        return self.wall_us

    def monotonic_s(self) -> float:
        return self.mono_s

    def pass_s(self, seconds: float) -> None:
        self.wall_us += round(seconds * 1_000_000)
        self.mono_s += seconds


def test_it_goes_on_with_the_monotonic_clock() -> None:
    clock = SteppedClock()
    time = HubTime(clock)
    clock.mono_s += 2.5
    assert time.now_us() == 1_002_500_000


@pytest.mark.parametrize("step_s", [-3600, -2, 2, 3600])
def test_a_clock_that_was_set_is_followed_and_the_hub_listens_anew(step_s: float) -> None:
    clock = SteppedClock()
    time = HubTime(clock)
    clock.pass_s(1)
    assert time.check() is None
    clock.wall_us += round(step_s * 1_000_000)
    assert time.now_us() == 1_001_000_000
    assert time.check() == f"the clock was set by {step_s:.1f} s"
    assert time.now_us() == time.started_us == clock.wall_us
    assert time.check() is None


def test_a_process_that_stood_still_listens_anew() -> None:
    clock = SteppedClock()
    time = HubTime(clock)
    for _ in range(10):
        clock.pass_s(4)
        assert time.check() is None
    assert time.started_us == 1_000_000_000
    clock.pass_s(30)
    assert time.check() == "this process stood still for 30.0 s"
    assert time.started_us == time.now_us() == clock.wall_us


def test_it_goes_by_the_databases_time_where_that_has_a_clock() -> None:
    clock = SteppedClock()
    time = HubTime(clock, 7_000_000_000)
    assert time.now_us() == time.started_us == 7_000_000_000
    clock.mono_s += 2
    time.follow(7_002_100_000)
    clock.mono_s += 1
    assert time.now_us() == 7_003_100_000
    assert time.started_us == 7_000_000_000
    assert time.check() is None


def test_its_own_machines_clock_may_then_be_set_as_anybody_likes() -> None:
    clock = SteppedClock()
    time = HubTime(clock, 7_000_000_000)
    clock.wall_us -= 5_000_000_000
    assert time.check() is None
    assert time.now_us() == 7_000_000_000


@pytest.mark.parametrize("step_s", [-3600, -2, 2, 3600])
def test_a_database_whose_clock_jumps_is_followed_and_the_hub_listens_anew(step_s: float) -> None:
    clock = SteppedClock()
    time = HubTime(clock, 7_000_000_000)
    clock.pass_s(1)
    stepped_us = 7_001_000_000 + round(step_s * 1_000_000)
    time.follow(stepped_us)
    assert time.now_us() == time.started_us == stepped_us
    assert time.check() == f"the clock was set by {step_s:.1f} s"
    assert time.check() is None


def test_a_process_that_stood_still_listens_anew_by_either_clock() -> None:
    clock = SteppedClock()
    time = HubTime(clock, 7_000_000_000)
    clock.pass_s(30)
    time.follow(7_030_000_000)
    assert time.check() == "this process stood still for 30.0 s"
    assert time.started_us == 7_030_000_000

"""The API server's time from the Date headers of its replies."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hangar.clock import to_us
from hangar.operator.cluster.kubernetes.server_clock import ServerClock

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass
class HandClock:
    """Stands still until it is set; its wall is an hour behind the server's."""

    seconds: float = 500.0

    def now_us(self) -> int:
        return to_us(NOON - timedelta(hours=1))

    def monotonic_s(self) -> float:
        return self.seconds


def test_before_any_reply_our_own_time_has_to_do() -> None:
    assert ServerClock(HandClock()).now() == NOON - timedelta(hours=1)


def test_one_reply_tells_the_time_to_half_a_second() -> None:
    own = HandClock()
    clock = ServerClock(own)
    clock.observe(NOON, own.seconds, own.seconds)
    assert clock.now() == NOON + timedelta(seconds=0.5)
    own.seconds += 10
    assert clock.now() == NOON + timedelta(seconds=10.5)


def test_many_replies_together_tell_it_better_than_any_of_them() -> None:
    own = HandClock()
    clock = ServerClock(own)
    for tenth in range(11):  # the server's second turns over between the 9th and the 10th
        own.seconds = 500.0 + tenth / 10
        true = NOON + timedelta(seconds=0.05 + tenth / 10)
        clock.observe(true.replace(microsecond=0), own.seconds, own.seconds)
    assert abs(clock.now() - (NOON + timedelta(seconds=1.05))) < timedelta(seconds=0.06)


def test_a_slow_reply_bounds_less_than_a_quick_one() -> None:
    own = HandClock()
    clock = ServerClock(own)
    clock.observe(NOON, 500.0, 500.0)
    own.seconds = 530.0
    clock.observe(NOON + timedelta(seconds=10), 501.0, 530.0)
    assert clock.now() > NOON + timedelta(seconds=29.9)


def test_time_never_runs_backwards_for_a_small_correction() -> None:
    own = HandClock()
    clock = ServerClock(own)
    clock.observe(NOON, 500.0, 500.0)
    before = clock.now()
    clock.observe(NOON - timedelta(seconds=1), 500.0, 500.0)
    assert clock.now() == before


def test_the_first_reply_turns_our_own_time_back_only_if_it_was_far_off() -> None:
    own = HandClock()
    clock = ServerClock(own)
    own_time = clock.now()
    clock.observe(own_time - timedelta(seconds=1), 500.0, 500.0)
    assert clock.now() == own_time
    clock.observe(own_time - timedelta(hours=1), 500.0, 500.0)
    assert clock.now() < own_time


def test_a_server_clock_that_is_set_is_followed() -> None:
    own = HandClock()
    clock = ServerClock(own)
    clock.observe(NOON, 500.0, 500.0)
    clock.now()
    for hours in (-3, 5):
        clock.observe(NOON + timedelta(hours=hours), 500.0, 500.0)
        assert clock.now() == NOON + timedelta(hours=hours, seconds=0.5)


def test_bounds_loosen_as_clocks_drift_apart() -> None:
    own = HandClock()
    clock = ServerClock(own)
    clock.observe(NOON, 500.0, 500.0)
    own.seconds = 500.0 + 3600
    late = NOON + timedelta(seconds=3601)  # the server's clock runs a little faster than ours
    clock.observe(late, own.seconds, own.seconds)
    assert abs(clock.now() - (late + timedelta(seconds=0.1))) < timedelta(seconds=0.5)

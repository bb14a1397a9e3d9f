"""HubTime: the hub's time, which runs with the monotonic clock and so never jumps under a lease."""

from dataclasses import dataclass

from hangar.clock import Clock
from hangar.domain.limits import CLOCK_STEP_MAX_S, LISTENING_GAP_MAX_S

SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class _Anchor:
    """What the time was when the monotonic clock showed `monotonic_s`; replaced as one, since two threads look."""

    us: int
    monotonic_s: float

    def now_us(self, monotonic_s: float) -> int:
        return self.us + round((monotonic_s - self.monotonic_s) * SECOND_US)


class HubTime:
    """Time that was read once and is carried on by the monotonic clock.

    It is the wall clock's, or the database's where several hubs go by that: `database_us` is then its time now, and
    `follow` is told it as each transaction begins. `started_us` is since when the hub has been listening: its start, or
    the last time that it was away or that the clock was set. Silence before that proves nothing about an operator.
    """

    def __init__(self, clock: Clock, database_us: int | None = None) -> None:
        self._clock = clock
        self._is_following = database_us is not None
        wall_us = clock.now_us() if database_us is None else database_us
        self._anchor = _Anchor(wall_us, clock.monotonic_s())
        self._checked_s = self._anchor.monotonic_s
        self._stepped_s = 0.0
        self.started_us = self._anchor.us

    def now_us(self) -> int:
        """Return the hub's time in microseconds since 1970, UTC."""
        return self._anchor.now_us(self._clock.monotonic_s())

    def follow(self, database_us: int) -> None:
        """Go by the database's time; where it jumped, the hub listens anew before it judges anybody's silence."""
        anchor = _Anchor(database_us, self._clock.monotonic_s())
        step_s = (database_us - self._anchor.now_us(anchor.monotonic_s)) / SECOND_US
        self._anchor = anchor
        if abs(step_s) > CLOCK_STEP_MAX_S:
            self._stepped_s = step_s
            self.started_us = database_us

    def check(self) -> str | None:
        """Look whether the hub was away or the clock was set; called with every sweep.

        Returns what happened, in words, where the hub has to listen anew before it may judge anybody's silence.
        """
        now_s = self._clock.monotonic_s()
        away_s, self._checked_s = now_s - self._checked_s, now_s
        if not self._is_following:
            step_s = (self._clock.now_us() - self.now_us()) / SECOND_US
            if abs(step_s) > CLOCK_STEP_MAX_S:
                self._anchor = _Anchor(self._clock.now_us(), now_s)
                self.started_us = self._anchor.us
                self._stepped_s = step_s
        step_s, self._stepped_s = self._stepped_s, 0.0
        if step_s:
            return f"the clock was set by {step_s:.1f} s"
        if away_s > LISTENING_GAP_MAX_S:
            self.started_us = self.now_us()
            return f"this process stood still for {away_s:.1f} s"
        return None

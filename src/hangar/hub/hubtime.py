"""HubTime: the hub's time, which runs with the monotonic clock and so never jumps under a lease."""

from hangar.clock import Clock
from hangar.domain.limits import CLOCK_STEP_MAX_S, LISTENING_GAP_MAX_S

SECOND_US = 1_000_000


class HubTime:
    """Wall time that was read once and is carried on by the monotonic clock.

    `started_us` is since when the hub has been listening: its start, or the last time that it was away or that the
    wall clock was set. Silence before that proves nothing about an operator.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall_us = clock.now_us()
        self._monotonic_s = clock.monotonic_s()
        self._checked_s = self._monotonic_s
        self.started_us = self._wall_us

    def now_us(self) -> int:
        """Return the hub's time in microseconds since 1970, UTC."""
        return self._wall_us + round((self._clock.monotonic_s() - self._monotonic_s) * SECOND_US)

    def check(self) -> str | None:
        """Look whether the hub was away or the clock was set; called with every sweep.

        Returns what happened, in words, where the hub has to listen anew before it may judge anybody's silence.
        """
        now_s = self._clock.monotonic_s()
        away_s, self._checked_s = now_s - self._checked_s, now_s
        step_s = (self._clock.now_us() - self.now_us()) / SECOND_US
        if abs(step_s) > CLOCK_STEP_MAX_S:
            self._wall_us, self._monotonic_s = self._clock.now_us(), now_s
            self.started_us = self._wall_us
            return f"the clock was set by {step_s:.1f} s"
        if away_s > LISTENING_GAP_MAX_S:
            self.started_us = self.now_us()
            return f"this process stood still for {away_s:.1f} s"
        return None

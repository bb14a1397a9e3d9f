"""The API server's time, known to a fraction of a second from the Date headers of its replies."""

from datetime import datetime, timedelta

from hangar.clock import Clock, from_us

DATE_RESOLUTION_S = 1.0
"""A Date header is cut down to whole seconds: the true time is up to a second later."""

DRIFT = 200e-6
"""How much faster or slower a bad clock runs than another: what was known loosens by as much."""

STEP_BACK_MAX_S = 2.0
"""A correction smaller than this never turns the time back, it only waits; a larger one means that the server's
own clock was set back."""


class ServerClock:
    """Aligns our monotonic clock to the server's.

    Every reply bounds the server's lead over our monotonic clock from both sides: the Date was written between
    our sending and our receiving. The bounds of many replies together are far tighter than any single one's.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._least_s = float("-inf")
        self._most_s = float("inf")
        self._bounded_at_s = 0.0
        self._last: datetime | None = None

    def monotonic_s(self) -> float:
        """Return our own monotonic clock, to be read around each request."""
        return self._clock.monotonic_s()

    def observe(self, date: datetime, sent_s: float, received_s: float) -> None:
        """Learn from one reply: its Date, and our monotonic clock before sending and after receiving."""
        server_s = date.timestamp()
        least_s, most_s = server_s - received_s, server_s + DATE_RESOLUTION_S - sent_s
        loosened_s = (received_s - self._bounded_at_s) * DRIFT
        both_least_s = max(least_s, self._least_s - loosened_s)
        both_most_s = min(most_s, self._most_s + loosened_s)
        if both_least_s > both_most_s:  # the server's clock was set: what was known before is worth nothing
            both_least_s, both_most_s = least_s, most_s
        self._least_s, self._most_s, self._bounded_at_s = both_least_s, both_most_s, received_s

    def now(self) -> datetime:
        """Return the server's time; before any reply, our own."""
        if self._most_s == float("inf"):
            now = from_us(self._clock.now_us())
        else:
            lead_s = (self._least_s + self._most_s) / 2
            now = from_us(round((lead_s + self._clock.monotonic_s()) * 1e6))
        if self._last is not None and timedelta(0) < self._last - now < timedelta(seconds=STEP_BACK_MAX_S):
            return self._last
        self._last = now
        return now

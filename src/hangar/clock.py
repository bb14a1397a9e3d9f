"""The one place that reads the time."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """Wall time for records, monotonic time for leases; virtual in tests."""

    def now_us(self) -> int:
        """Return the wall time in microseconds since 1970, UTC."""

    def monotonic_s(self) -> float:
        """Return seconds that never go backwards, from an arbitrary start."""


class SystemClock:
    """The machine's own clocks."""

    def now_us(self) -> int:
        """Return the wall time in microseconds since 1970, UTC."""
        return time.time_ns() // 1000

    def monotonic_s(self) -> float:
        """Return seconds that never go backwards, from an arbitrary start."""
        return time.monotonic()


def from_us(us: int) -> datetime:
    """Return the instant `us` microseconds after 1970, UTC."""
    return EPOCH + timedelta(microseconds=us)


def to_us(at: datetime) -> int:
    """Return an aware instant as microseconds since 1970, UTC."""
    return (at - EPOCH) // timedelta(microseconds=1)

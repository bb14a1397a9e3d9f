"""Pace: how many evictions the operator has sent within the last minute, or may be about to, and so how many are left.

One counts from its decision until a minute after its answer, since it may leave at any moment in between.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from hangar.domain.limits import EVICTIONS_WINDOW_S
from hangar.domain.view import StepKey

WINDOW = timedelta(seconds=EVICTIONS_WINDOW_S)


class Pace:
    """The operator's own bound on evictions, over all its operations; a restart begins with a clean sheet."""

    def __init__(self) -> None:
        self._under_way: set[StepKey] = set()
        self._answered: list[datetime] = []

    def decided(self, steps: Iterable[StepKey]) -> None:
        """Take in that these evictions were decided."""
        self._under_way.update(steps)

    def dropped(self, step: StepKey) -> None:
        """Take in that an eviction will never be sent, if it is one."""
        self._under_way.discard(step)

    def answered(self, step: StepKey, now: datetime) -> None:
        """Take in that an eviction was answered, if it is one."""
        if step in self._under_way:
            self._under_way.remove(step)
            self._answered.append(now)

    def left(self, evictions_max: int, now: datetime) -> tuple[int, datetime | None]:
        """Return how many more may be decided now, and when the first of those that are answered counts no more."""
        self._answered = [each for each in self._answered if now - each < WINDOW]
        left = max(0, evictions_max - len(self._under_way) - len(self._answered))
        return left, min(self._answered) + WINDOW if self._answered else None

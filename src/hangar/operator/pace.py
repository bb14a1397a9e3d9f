"""Pace: how many evictions the operator has decided within the last minute, and so how many more it may."""

from collections import deque
from datetime import datetime, timedelta

from hangar.domain.limits import EVICTIONS_WINDOW_S

WINDOW = timedelta(seconds=EVICTIONS_WINDOW_S)


class Pace:
    """The operator's own bound on evictions, over all its operations; a restart begins with a clean sheet."""

    def __init__(self) -> None:
        self._decided: deque[datetime] = deque()

    def decided(self, count: int, now: datetime) -> None:
        """Take in that so many evictions were decided."""
        self._decided.extend([now] * count)

    def left(self, evictions_max: int, now: datetime) -> tuple[int, datetime | None]:
        """Return how many more may be decided now, and, where none may, from when on one may again."""
        while self._decided and now - self._decided[0] >= WINDOW:
            self._decided.popleft()
        left = max(0, evictions_max - len(self._decided))
        return left, self._decided[0] + WINDOW if self._decided else None

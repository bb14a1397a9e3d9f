"""Whether one kind of objects can be read: since when not, why, and the line about it in the log."""

import asyncio
from collections.abc import Callable

import structlog

from hangar.operator.cluster.port import Watch

log = structlog.get_logger("hangar.operator.kubernetes")

BROKEN_AFTER_S = 5.0
"""A watch may break and come back within this without anybody being told: an API server restarts in about that."""


class Health:
    """The state of one kind's mirror.

    Args:
        name: The kind's name to people.
        changed: Told when `unreadable` may say something else.
    """

    def __init__(self, name: str, changed: Callable[[], None]) -> None:
        self._name = name
        self._changed = changed
        self._is_complete = False
        self._is_forbidden = False
        self._is_stale = True
        self._trouble: str | None = None
        self._broken_at_s = 0.0
        self._heard_at_s: float | None = None
        self._logged: str | None = None

    @property
    def is_complete(self) -> bool:
        """Tell whether all objects were read once."""
        return self._is_complete

    @property
    def is_settled(self) -> bool:
        """Tell whether there is nothing to wait for at a start: all objects were read, or reading was refused."""
        return self._is_complete or self._is_forbidden

    @property
    def is_troubled(self) -> bool:
        """Tell whether the last thing heard was trouble."""
        return self._trouble is not None

    def unreadable(self) -> str | None:
        """Return why the kind cannot be read now, in words; None while the mirror is true."""
        if self._trouble is None:
            return None if self._is_complete else f"{self._name}: not read yet"
        return f"{self._name}: {self._trouble}" if self._is_stale or self._is_broken_for_long() else None

    def heard(self) -> None:
        """Note that the API server said something about the kind, be it that there is nothing new."""
        self._heard_at_s = asyncio.get_running_loop().time()

    def watch(self) -> Watch:
        """Return how reading goes."""
        heard_at_s = self._heard_at_s
        age_s = None if heard_at_s is None else asyncio.get_running_loop().time() - heard_at_s
        return Watch(self._name, self.unreadable() is None, age_s)

    def broke(self, why: str, *, is_forbidden: bool, is_stale: bool) -> None:
        """Note trouble: `is_forbidden` where we are refused, `is_stale` where what is mirrored may be of no use."""
        if self._trouble is None:
            self._broken_at_s = asyncio.get_running_loop().time()
        self._trouble = why
        self._is_forbidden = is_forbidden
        self._is_stale = is_stale or is_forbidden
        if self.unreadable() is not None and why != self._logged:
            log.warning("cannot read", kind=self._name, why=why, for_s=round(self._broken_s(), 1))
            self._logged = why
        self._changed()

    def outdated(self) -> None:
        """Note that all has to be read anew: trouble on the way there is told at once."""
        self._is_stale = True

    def recovered(self) -> None:
        """Note that the mirror is true."""
        if self._trouble is None and self._is_complete:
            return
        if self._logged is not None:
            log.info("can read again", kind=self._name, after_s=round(self._broken_s(), 1))
            self._logged = None
        self._trouble = None
        self._is_forbidden = False
        self._is_complete = True
        self._changed()

    def _broken_s(self) -> float:
        return asyncio.get_running_loop().time() - self._broken_at_s

    def _is_broken_for_long(self) -> bool:
        return self._broken_s() >= BROKEN_AFTER_S

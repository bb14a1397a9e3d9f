"""Leases: the renewals of a moment are written together, and each counts once it is written."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

from hangar.domain.limits import RENEWALS_INTERVAL_S
from hangar.hub.store.tx import cluster_key
from hangar.hub.usecases.renew import Renewal

Write = Callable[[Collection[Renewal]], Awaitable[Collection[Renewal]]]


class Leases:
    """Gathers renewals for a moment and hands them to `write`, which returns those that took effect.

    No sync is acknowledged by what is only in this process: another hub on the same store, or this one after a crash,
    must never hold a lease for older than its operator does. Used in the event loop alone.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._due_s = float("-inf")
        self._gathered: set[Renewal] = set()
        self._wanted_now = asyncio.Event()
        self._written: asyncio.Task[Collection[Renewal]] | None = None

    async def renew(self, renewal: Renewal) -> bool:
        """Write a renewal; tell whether its session still has the cluster. Raises StoreUnavailableError."""
        self._gathered.add(renewal)
        if self._written is None:
            self._wanted_now = asyncio.Event()  # what hurried the last batch does not hurry this one
            self._written = asyncio.create_task(self._write_when_due(), name="renewals")
            self._written.add_done_callback(_heard)
        return renewal in await asyncio.shield(self._written)

    def hurry(self, woken: Collection[str]) -> None:
        """Write at once where there is news, by its keys, for an operator whose renewal is being gathered."""
        if any(cluster_key(each.cluster) in woken for each in self._gathered):
            self._wanted_now.set()

    async def _write_when_due(self) -> Collection[Renewal]:
        now_s = asyncio.get_running_loop().time
        try:
            if self._due_s > now_s():
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._due_s):
                        await self._wanted_now.wait()
            else:
                await asyncio.sleep(0)  # for those of the same moment
        finally:
            gathered, self._gathered, self._written = self._gathered, set(), None
        self._due_s = now_s() + RENEWALS_INTERVAL_S
        return await self._write(gathered)


def _heard(written: asyncio.Task[Collection[Renewal]]) -> None:
    """Take an error note of, where whoever asked has gone meanwhile."""
    if not written.cancelled():
        written.exception()

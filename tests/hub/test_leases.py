"""Renewals of a moment: written together, and acknowledged only once they are."""

import asyncio
from collections.abc import Collection

import pytest

from hangar.hub.leases import Leases
from hangar.hub.store.writer import StoreUnavailableError
from hangar.hub.usecases.renew import Renewal
from tests.virtual_loop import pass_time, run_virtual

FIRST = Renewal("iad-1", "ses_iad-1_1", 1)
SECOND = Renewal("ord-1", "ses_ord-1_1", 1)


class Written:
    """A store that notes what is written together; sessions in `lost` are over."""

    def __init__(self) -> None:
        self.batches: list[set[Renewal]] = []
        self.lost: set[Renewal] = set()
        self.trouble: StoreUnavailableError | None = None
        self.go = asyncio.Event()
        self.go.set()

    async def write(self, renewals: Collection[Renewal]) -> Collection[Renewal]:
        self.batches.append(set(renewals))
        await self.go.wait()
        if self.trouble is not None:
            raise self.trouble
        return set(renewals) - self.lost


def test_those_of_a_moment_are_written_together() -> None:
    async def talk() -> None:
        store = Written()
        leases = Leases(store.write)
        assert all(await asyncio.gather(*(leases.renew(each) for each in (FIRST, SECOND, FIRST))))
        assert store.batches == [{FIRST, SECOND}]

    run_virtual(talk())


def test_the_next_are_written_a_moment_later() -> None:
    async def talk() -> None:
        store = Written()
        leases = Leases(store.write)
        await leases.renew(FIRST)
        later = [asyncio.create_task(leases.renew(each)) for each in (FIRST, SECOND)]
        await pass_time(0.09)
        assert store.batches == [{FIRST}]
        await pass_time(0.02)
        assert store.batches == [{FIRST}, {FIRST, SECOND}]
        assert await asyncio.gather(*later) == [True, True]

    run_virtual(talk())


def test_news_for_one_of_them_lets_all_be_written_at_once() -> None:
    async def talk() -> None:
        store = Written()
        leases = Leases(store.write)
        await leases.renew(FIRST)
        later = [asyncio.create_task(leases.renew(each)) for each in (FIRST, SECOND)]
        await pass_time(0.01)
        leases.hurry(["cluster:fra-1", "operation:op_01"])
        await pass_time(0.01)
        assert store.batches == [{FIRST}]
        leases.hurry(["cluster:ord-1"])
        await pass_time(0.01)
        assert store.batches == [{FIRST}, {FIRST, SECOND}]
        assert await asyncio.gather(*later) == [True, True]

    run_virtual(talk())


def test_nothing_is_acknowledged_before_it_is_written() -> None:
    async def talk() -> None:
        store = Written()
        store.go.clear()
        waiting = asyncio.create_task(Leases(store.write).renew(FIRST))
        await pass_time(60)
        assert not waiting.done()
        store.go.set()
        assert await waiting

    run_virtual(talk())


def test_a_session_that_is_over_is_told_so() -> None:
    async def talk() -> None:
        store = Written()
        store.lost = {FIRST}
        leases = Leases(store.write)
        assert list(await asyncio.gather(leases.renew(FIRST), leases.renew(SECOND))) == [False, True]

    run_virtual(talk())


def test_trouble_is_told_to_all_who_wait_and_the_next_are_written_again() -> None:
    async def talk() -> None:
        store = Written()
        store.trouble = StoreUnavailableError("the disk is full")
        leases = Leases(store.write)
        outcomes = await asyncio.gather(leases.renew(FIRST), leases.renew(SECOND), return_exceptions=True)
        assert list(outcomes) == [store.trouble] * 2
        store.trouble = None
        assert await leases.renew(FIRST)

    run_virtual(talk())


def test_who_has_gone_takes_nobody_along() -> None:
    async def talk() -> None:
        store = Written()
        store.go.clear()
        leases = Leases(store.write)
        gone, waiting = asyncio.create_task(leases.renew(FIRST)), asyncio.create_task(leases.renew(SECOND))
        await pass_time(1)
        gone.cancel()
        store.go.set()
        assert await waiting
        with pytest.raises(asyncio.CancelledError):
            await gone

    run_virtual(talk())

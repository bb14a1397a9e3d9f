"""The follower: everything is told once and in order, whoever committed it; what was lost is noticed."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from sqlalchemy import insert

from hangar.hub.follower import Follower
from hangar.hub.messages import Message
from hangar.hub.store.notices import Notice
from hangar.hub.store.records import Position
from hangar.hub.store.store import Store
from hangar.hub.store.tables import operations, questions, runs
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.streams import Stream, Streams
from hangar.hub.tail import Tail
from hangar.hub.usecases.feed import EventFilters
from hangar.hub.usecases.recover import recover, recover_behind
from tests.databases import Databases
from tests.hub.world import NOON_US


@dataclass
class Hub:
    """One hub's follower over a store, and one reader of its streams."""

    store: Store
    tail: Tail = field(default_factory=Tail)
    streams: Streams = field(default_factory=Streams)
    lost: list[Position] = field(default_factory=list)
    forgotten: int = 0

    def __post_init__(self) -> None:
        self.follower = Follower(self.store, self.tail, self.streams, self._recover, self._forget)
        self.store.on_commit(self.follower.committed)
        self.reader: Stream = self.streams.open(EventFilters(), None)

    async def start(self) -> None:
        self.tail.start()
        await self.follower.start()
        self.reader.go_live()

    async def told(self, count: int) -> list[str]:
        """The next so many events: their objects' names; a reset is told by its reason."""
        names: list[str] = []
        while len(names) < count:
            told = await asyncio.wait_for(self.reader.next(lambda: self.follower.position), 10)
            names += [
                each.event.object.name if each.event else json.loads(each.text)["event"]["reason"] for each in told
            ]
        return names

    async def _recover(self, known: Position) -> None:
        self.lost.append(known)
        self.store.write(lambda tx: recover_behind(tx, known, NOON_US))

    def _forget(self) -> None:
        self.forgotten += 1


def _reason(reset: Message) -> str:
    return str(json.loads(reset.text)["event"]["reason"])


def note(tx: Tx, name: str, type_: EventType = EventType.CLUSTER_ADDED) -> None:
    data = {"id": "tok"} if type_ is EventType.TOKEN_REVOKED else {}
    tx.event(type_, Subject("cluster", name), NOON_US, data=data)


def touch(tx: Tx) -> None:
    """Take a revision without an event."""
    tx.touch_cluster("nowhere")


@pytest.fixture
def databases(postgres: Databases) -> Databases:
    return postgres


def alone(talk: Callable[[Hub], Awaitable[None]]) -> None:
    async def whole() -> None:
        hub = Hub(Store.in_memory())
        await hub.start()
        await talk(hub)

    asyncio.run(whole())


def test_a_hub_tells_its_own_commits_without_reading_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(hub: Hub) -> None:
        monkeypatch.setattr(hub.store, "read_async", None)
        for name in ("a", "b"):
            hub.store.write(lambda tx, name=name: note(tx, name))  # type: ignore[misc]
        hub.store.write(touch)
        hub.store.write(lambda tx: note(tx, "c"))
        assert await hub.told(3) == ["a", "b", "c"]
        assert hub.follower.position == hub.store.position()

    alone(talk)


def test_what_others_committed_is_read_and_told_in_its_place(databases: Databases) -> None:
    url = databases.empty()

    async def whole() -> None:
        mine, others = Store.open(url, has_threads=False), Store.open(url, has_threads=False)
        hub = Hub(mine)
        await hub.start()
        others.write(lambda tx: note(tx, "a"))
        mine.write(lambda tx: note(tx, "b"))
        others.write(lambda tx: note(tx, "c"))
        await hub.follower.look()
        mine.write(lambda tx: note(tx, "d"))
        assert await hub.told(4) == ["a", "b", "c", "d"]
        assert hub.follower.position == mine.position()
        for each in (mine, others):
            each.close()

    asyncio.run(whole())


def test_a_commit_after_somebody_elses_makes_it_look_at_once(databases: Databases) -> None:
    url = databases.empty()

    async def whole() -> None:
        mine, others = Store.open(url, has_threads=False), Store.open(url, has_threads=False)
        hub = Hub(mine)
        await hub.start()
        running = asyncio.create_task(hub.follower.run())
        others.write(lambda tx: note(tx, "a"))
        mine.write(lambda tx: note(tx, "b"))
        assert await hub.told(2) == ["a", "b"]
        others.write(lambda tx: note(tx, "c"))
        hub.follower.heard(Notice("another", []))
        assert await hub.told(1) == ["c"]
        running.cancel()
        for each in (mine, others):
            each.close()

    asyncio.run(whole())


def test_it_looks_again_and_again_whatever_it_hears(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.follower.FEED_POLL_S", 0.001)
    url = databases.empty()

    async def whole() -> None:
        mine, others = Store.open(url, has_threads=False), Store.open(url, has_threads=False)
        hub = Hub(mine)
        await hub.start()
        running = asyncio.create_task(hub.follower.run())
        for name in ("a", "b"):
            others.write(lambda tx, name=name: note(tx, name))  # type: ignore[misc]
            assert await hub.told(1) == [name]
        running.cancel()
        for each in (mine, others):
            each.close()

    asyncio.run(whole())


def test_waiters_are_woken_by_a_notice_and_without_one_by_a_look(databases: Databases) -> None:
    url = databases.empty()

    def change(tx: Tx) -> None:
        tx.touch_operation("op_1", "iad-1")
        tx.touch_question("q_1", "iad-1")
        tx.touch_run("op_2")

    def make(tx: Tx) -> None:
        row = {"id": "op_1", "type": "t", "kind_version": 1, "phase": "pending", "cluster": "iad-1", "target": "n"}
        row |= {"hold": "h", "params": {}, "created_by": "a", "created_us": 1}
        tx.connection.execute(insert(operations).values(row))
        tx.connection.execute(insert(runs).values(op_id="op_2", epoch=1, attempts=1, report_n=1))
        tx.connection.execute(insert(questions).values(id="q_1", cluster="iad-1", body={}, expires_us=1))

    async def whole() -> None:
        mine, others = Store.open(url, has_threads=False), Store.open(url, has_threads=False)
        hub = Hub(mine)
        others.write(make)
        await hub.start()
        keys = ["operation:op_1", "operation:op_2", "cluster:iad-1", "question:q_1"]
        with hub.tail.watch("other") as other:
            for key in keys:
                with hub.tail.watch(key) as changed:
                    others.write(change)
                    await hub.follower.look()
                    await asyncio.wait_for(changed.wait(), 10)
            with hub.tail.watch(keys[0]) as changed:
                hub.follower.heard(Notice("another", [keys[0]]))
                await asyncio.wait_for(changed.wait(), 10)
            assert not other.is_set()
        for each in (mine, others):
            each.close()

    asyncio.run(whole())


@pytest.mark.parametrize("rows_max", [1, 2, 500])
def test_many_are_read_in_parts(databases: Databases, monkeypatch: pytest.MonkeyPatch, rows_max: int) -> None:
    monkeypatch.setattr("hangar.hub.usecases.news.FEED_ROWS_MAX", rows_max)
    url = databases.empty()

    async def whole() -> None:
        mine, others = Store.open(url, has_threads=False), Store.open(url, has_threads=False)
        hub = Hub(mine)
        await hub.start()
        for name in "abcde":
            others.write(lambda tx, name=name: note(tx, name))  # type: ignore[misc]
        others.write(touch)
        await hub.follower.look()
        assert await hub.told(5) == list("abcde")
        assert hub.follower.position == mine.position()
        for each in (mine, others):
            each.close()

    asyncio.run(whole())


def test_a_token_that_was_revoked_anywhere_is_forgotten() -> None:
    async def talk(hub: Hub) -> None:
        hub.store.write(lambda tx: note(tx, "a"))
        hub.store.write(lambda tx: note(tx, "b", EventType.TOKEN_REVOKED))
        assert await hub.told(2) == ["a", "b"]
        assert hub.forgotten == 1

    alone(talk)


def test_a_feed_that_went_back_is_taken_up_and_everybody_starts_anew() -> None:
    async def talk(hub: Hub) -> None:
        for name in "abc":
            hub.store.write(lambda tx, name=name: note(tx, name))  # type: ignore[misc]
        assert await hub.told(3) == list("abc")
        known = hub.follower.position
        hub.store.write(lambda tx: tx.connection.exec_driver_sql("UPDATE feed SET rev = 1"))
        with hub.tail.watch("anything") as changed:
            await hub.follower.look()
            assert changed.is_set()
        assert hub.lost == [known]
        now = hub.store.position()
        assert hub.follower.position == now
        assert now.incarnation != known.incarnation
        assert now.rev > known.rev
        assert await hub.told(1) == ["restored"]
        assert hub.forgotten == 1
        hub.store.write(lambda tx: note(tx, "later"))
        assert await hub.told(1) == ["later"]

    alone(talk)


def test_what_another_hub_took_up_is_not_taken_up_twice() -> None:
    async def talk(hub: Hub) -> None:
        hub.store.write(lambda tx: recover(tx, NOON_US))
        await hub.follower.look()
        assert hub.lost == []
        assert hub.follower.position == hub.store.position()
        assert (await hub.told(1))[0] == "restored"

    alone(talk)

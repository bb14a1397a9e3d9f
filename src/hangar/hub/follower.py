"""Follower: the one reader of the feed in a hub, which tells waiters and streams what is new, whoever committed it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from hangar.domain.limits import FEED_POLL_S
from hangar.hub.messages import event_message
from hangar.hub.store.notices import Notice
from hangar.hub.store.records import Position, feed_position
from hangar.hub.store.store import Store
from hangar.hub.store.tx import Committed, EventType
from hangar.hub.store.writer import StoreUnavailableError
from hangar.hub.streams import Streams
from hangar.hub.tail import Tail
from hangar.hub.usecases.feed import event_from
from hangar.hub.usecases.news import read_news
from hangar.wire import shown

Recover = Callable[[Position], Awaitable[None]]
"""Called where the feed has gone back behind a position that was seen: what was between them is lost."""


class Follower:
    """Keeps a hub's place in the feed, and tells everything after it once and in order.

    A commit of this hub is told as it comes, if nobody else committed before it; all else is read from the store: four
    times a second, and at once for streams where another hub gives notice. Used in the event loop, but for `committed`.
    """

    def __init__(
        self, store: Store, tail: Tail, streams: Streams, recover: Recover, forget_tokens: Callable[[], None]
    ) -> None:
        self._store = store
        self._tail = tail
        self._streams = streams
        self._recover = recover
        self._forget_tokens = forget_tokens
        self._position = Position("", 0)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_wanted = asyncio.Event()
        self._looking = asyncio.Lock()

    @property
    def position(self) -> Position:
        """Return up to where everything has been told."""
        return self._position

    async def start(self) -> None:
        """Begin where the feed is now, in the running event loop."""
        self._position = await self._store.read_point(feed_position)
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """Take note of no more commits: the event loop is about to end."""
        self._loop = None

    async def run(self) -> None:
        """Look for what is new until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(FEED_POLL_S):
                    await self._is_wanted.wait()
            self._is_wanted.clear()
            with suppress(StoreUnavailableError):  # of which the sweep tells
                await self.look()

    def committed(self, committed: Committed) -> None:
        """Take note of a commit of this hub. Called after it, in the thread that made it."""
        self._tail.notify(committed.woken)
        loop = self._loop
        if committed.last_rev and loop is not None:
            loop.call_soon_threadsafe(self._follow_on, committed)

    def heard(self, notice: Notice) -> None:
        """Take note of a commit of another hub."""
        if notice.keys is not None:
            self._tail.notify(set(notice.keys))
        if notice.keys is None or self._streams.open_count:
            self._is_wanted.set()

    async def look(self) -> None:
        """Read what is new, and tell it. Raises StoreUnavailableError."""
        async with self._looking:
            is_all = await self._store.read_point(feed_position) == self._position
            while not is_all:
                before = self._position
                news = await self._store.read_async(lambda connection: read_news(connection, self._position.rev))
                if news.position.incarnation != before.incarnation:
                    self._begin_anew(news.position)
                elif news.position.rev < before.rev:
                    await self._recover(before)
                    continue
                elif news.position.rev > self._position.rev:
                    self._advance(news.position, news.events)
                    self._tail.notify(news.woken)
                is_all = news.is_all

    def _follow_on(self, committed: Committed) -> None:
        if committed.first_rev == self._position.rev + 1:
            position = Position(self._position.incarnation, committed.last_rev)
            self._advance(position, map(event_from, committed.events))
        elif self._streams.open_count:
            self._is_wanted.set()

    def _advance(self, position: Position, events: Iterable[shown.Event]) -> None:
        told_rev, self._position = self._position.rev, position
        news = [each for each in events if each.rev > told_rev]
        if any(each.type == EventType.TOKEN_REVOKED for each in news):
            self._forget_tokens()
        if news and self._streams.open_count:
            self._streams.publish([event_message(position.incarnation, each) for each in news], position)

    def _begin_anew(self, position: Position) -> None:
        self._position = position
        self._forget_tokens()
        self._streams.reset(position, "restored")
        self._tail.wake_all()

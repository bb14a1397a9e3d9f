"""Streams: everybody who follows the feed as it grows, each with a bounded queue of what it has not been told yet."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence

from hangar.domain.limits import (
    STREAM_HEARTBEAT_S,
    STREAM_QUEUE_ROWS_MAX,
    STREAMS_MAX,
)
from hangar.hub.messages import Message, heartbeat, reset_message
from hangar.hub.store.records import Position
from hangar.hub.usecases.feed import EventFilters, is_wanted
from hangar.wire.problems import Problem, ProblemCode

IsValid = Callable[[str | None], Awaitable[bool]]
"""Tells whether an Authorization header still lets somebody in."""


class Stream:
    """One reader. It is told nothing before `go_live`; what ends it is said by `why_over`."""

    def __init__(self, filters: EventFilters, authorization: str | None) -> None:
        self.filters = filters
        self.authorization = authorization
        self.why_over: str | None = None
        self.is_to_come_back = False
        self.was_reset = False
        self._is_live = False
        self._waiting: deque[Message] = deque()
        self._changed = asyncio.Event()

    def go_live(self) -> None:
        """Queue from now on what is published."""
        self._is_live = True

    def offer(self, messages: Iterable[Message], position: Position) -> None:
        """Queue those of the messages that the reader wants; one that is too slow is ended with a reset."""
        if not self._is_live or self.why_over is not None:
            return
        self._waiting.extend(each for each in messages if each.event is None or is_wanted(self.filters, each.event))
        if len(self._waiting) > STREAM_QUEUE_ROWS_MAX:
            self._waiting.clear()
            self._waiting.append(reset_message(position, "slow"))
            self.why_over = "too slow"
        if self._waiting:
            self._changed.set()

    def reset(self, position: Position, reason: str) -> None:
        """Tell the reader that what it knows is not to be relied on, and go on from a position."""
        self.was_reset = self._is_live = True
        self._waiting.clear()
        self._waiting.append(reset_message(position, reason))
        self._changed.set()

    def end(self, why: str, *, is_to_come_back: bool = False) -> None:
        """End the stream, without what still waits; the reader may be told to come back."""
        self._waiting.clear()
        self.why_over = why
        self.is_to_come_back = is_to_come_back
        self._changed.set()

    async def next(self, position: Callable[[], Position]) -> Sequence[Message]:
        """Return what is to be told next, a heartbeat where nothing happens; nothing once the stream is over."""
        while not self._waiting:
            if self.why_over is not None:
                return ()
            self._changed.clear()
            try:
                async with asyncio.timeout(STREAM_HEARTBEAT_S):
                    await self._changed.wait()
            except TimeoutError:
                return (heartbeat(position()),)
        told = tuple(self._waiting)
        self._waiting.clear()
        return told


class Streams:
    """All open streams of a hub. Used in its event loop alone."""

    def __init__(self) -> None:
        self._open: set[Stream] = set()
        self._is_closing = False

    @property
    def open_count(self) -> int:
        """Return how many are open."""
        return len(self._open)

    def open(self, filters: EventFilters, authorization: str | None) -> Stream:
        """Let one more reader in. Raises BUSY when there are too many."""
        if len(self._open) >= STREAMS_MAX:
            raise Problem(ProblemCode.BUSY, f"{STREAMS_MAX} streams are open already", retry_after_s=5)
        stream = Stream(filters, authorization)
        if self._is_closing:
            stream.end("the hub stops", is_to_come_back=True)
        self._open.add(stream)
        return stream

    def forget(self, stream: Stream) -> None:
        """Let go of a reader who has gone."""
        self._open.discard(stream)

    def publish(self, messages: Sequence[Message], position: Position) -> None:
        """Offer messages to everybody; the last of them is at `position`."""
        for each in self._open:
            each.offer(messages, position)

    def reset(self, position: Position, reason: str) -> None:
        """Reset everybody."""
        for each in self._open:
            each.reset(position, reason)

    def close(self) -> None:
        """End all streams, so that none holds up the end of the hub."""
        self._is_closing = True
        for each in self._open:
            each.end("the hub stops", is_to_come_back=True)

    async def check_tokens(self, is_valid: IsValid) -> None:
        """End the streams whose tokens are over or revoked; each token is looked up once."""
        for authorization in {each.authorization for each in self._open}:
            if not await is_valid(authorization):
                for each in self._open:
                    if each.authorization == authorization:
                        each.end("its token is over")

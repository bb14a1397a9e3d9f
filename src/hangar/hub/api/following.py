"""Following the feed for one reader: from a place in the past to now without a gap, and on as it grows."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import structlog
from starlette.websockets import WebSocketDisconnect

from hangar.domain.limits import FEED_ROWS_MAX, STREAM_BACK_REVS_MAX, STREAM_SEND_MAX_S
from hangar.hub.api.context import Hub
from hangar.hub.messages import Message, event_message, heartbeat, reset_message
from hangar.hub.store.records import Position
from hangar.hub.store.writer import StoreUnavailableError
from hangar.hub.streams import Stream
from hangar.hub.usecases.feed import REV_DIGITS_MAX, EventFilters, events_between
from hangar.hub.usecases.paging import raise_filters
from hangar.hub.usecases.recover import restored_rev
from hangar.wire.problems import FieldError

log = structlog.get_logger(__name__)

Send = Callable[[Sequence[Message]], Awaitable[None]]
"""Sends messages to a reader; it may take as long as the reader does."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the feed as a reader names it; the incarnation is None where a list gave only the revision."""

    incarnation: str | None
    rev: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader wants to be told: which events, and after which place in the feed; None is from now on."""

    filters: EventFilters
    after: Cursor | None


def cursor_from(text: str, path: str) -> Cursor:
    """Return the place that a reader names. Raises INVALID_FILTER, about what stood at `path`."""
    incarnation, dot, rev = text.rpartition(".")
    if not rev.isdecimal() or len(rev) > REV_DIGITS_MAX or (dot and not incarnation):
        what = "is no place in the feed: give the `as_of` of a list, or the id of a message"
        raise_filters([FieldError(path, what)])
    return Cursor(incarnation or None, int(rev))


async def tell(hub: Hub, asked: Asked, stream: Stream, send: Send, gone: Awaitable[None]) -> bool:
    """Tell a reader what it asked for until its stream is over; tell whether the reader is still there then."""
    sending = asyncio.create_task(_send_all(hub, asked, stream, send))
    leaving = asyncio.ensure_future(gone)
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return sending.done() and await sending
    finally:
        hub.streams.forget(stream)
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)
        log.debug("a stream is over", why=stream.why_over or "its reader has gone")


async def _send_all(hub: Hub, asked: Asked, stream: Stream, send: Send) -> bool:
    try:
        async with aclosing(_follow(hub, asked, stream)) as batches:
            async for messages in batches:
                async with asyncio.timeout(STREAM_SEND_MAX_S):
                    await send(messages)
    except StoreUnavailableError as error:
        stream.end(f"the store cannot serve: {error}", is_to_come_back=True)
    except (TimeoutError, OSError, WebSocketDisconnect):
        stream.end("its reader takes nothing")
        return False
    return True


async def _follow(hub: Hub, asked: Asked, stream: Stream) -> AsyncGenerator[Sequence[Message], None]:
    rev, first = await _beginning(hub, asked.after)
    yield (first,)
    # Far behind, what happens meanwhile is not queued yet: it is read with the rest.
    while hub.follower.position.rev - rev > FEED_ROWS_MAX:
        messages, rev = await _read(hub, asked.filters, rev, hub.follower.position)
        if stream.was_reset or stream.why_over is not None:
            break
        yield messages
    # What is published from here on is queued, and what was published before is in the store.
    stream.go_live()
    end = hub.follower.position
    while rev < end.rev and not stream.was_reset and stream.why_over is None:
        messages, rev = await _read(hub, asked.filters, rev, end)
        if not stream.was_reset:
            yield messages
    while messages := await stream.next(lambda: hub.follower.position):
        yield messages


async def _beginning(hub: Hub, after: Cursor | None) -> tuple[int, Message]:
    """Return the revision to go on after, and the message to begin with: a reset where that is not what was asked."""
    now = hub.follower.position
    if after is None:
        return now.rev, heartbeat(now)
    if after.rev > now.rev or after.incarnation not in (None, now.incarnation):
        await hub.follower.look()  # the reader may have been told by another hub
        now = hub.follower.position
    reason = await _why_reset(hub, after, now)
    if reason is not None:
        return now.rev, reset_message(now, reason)
    return after.rev, heartbeat(Position(now.incarnation, after.rev))


async def _why_reset(hub: Hub, after: Cursor, now: Position) -> str | None:
    if after.incarnation not in (None, now.incarnation):
        return "restored"
    if after.incarnation is None and after.rev < await hub.store.read_point(restored_rev):
        return "restored"
    if after.rev > now.rev:
        return "future"
    return "too_old" if now.rev - after.rev > STREAM_BACK_REVS_MAX else None


async def _read(hub: Hub, filters: EventFilters, rev: int, end: Position) -> tuple[Sequence[Message], int]:
    """Return some of the messages after a revision, and up to which revision they are all."""
    events = await hub.store.read_async(lambda c: events_between(c, filters, rev, end.rev, FEED_ROWS_MAX))
    told_rev = end.rev if len(events) < FEED_ROWS_MAX else events[-1].rev
    return [event_message(end.incarnation, each) for each in events], told_rev

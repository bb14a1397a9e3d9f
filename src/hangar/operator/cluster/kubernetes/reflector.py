"""Keeps one kind's mirror true: a consistent start, then every change, through all that can go wrong with watches."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Generic, TypeVar

import httpx2
import msgspec
from lightkube.core.exceptions import ConfigError

from hangar.domain.limits import RETRY_FIRST_S, RETRY_MAX_S
from hangar.operator.cluster.kubernetes.answers import Reply
from hangar.operator.cluster.kubernetes.api import Api, NoReplyError, NotSentError, Stream, described
from hangar.operator.cluster.kubernetes.envelopes import Bookmark, ListPage, Status, WatchEvent
from hangar.operator.cluster.kubernetes.health import Health
from hangar.operator.cluster.kubernetes.mirror import Entry, Mirror
from hangar.operator.cluster.kubernetes.watched import Watched

V = TypeVar("V")

START_S = 10.0
"""A watch that has not sent all initial objects within this is from a server that cannot: list instead."""

SILENCE_S = (75.0, 90.0)
"""Bookmarks come every minute: a longer silence is a connection that died without a word. Random, so that not all
kinds break at once."""

WATCH_S = (300.0, 600.0)
"""How long the server is asked to keep one watch open. Random for the same reason."""

LIST_TIMEOUT_S = 30.0
"""One page of a list; a server that needs longer is in trouble."""

PAGE_OBJECTS = 500
"""Objects a page: some megabytes of pods."""

STABLE_S = 1.0
"""A watch that ends well before this is as good as refused: the next one waits."""

Jitter = Callable[[float, float], float]
"""Returns a random number between two bounds."""


class _Expired(Exception):  # noqa: N818  (a turn of events, not an error)
    """The version is too old, or from another life of the cluster: all must be read again."""


class _CannotStart(Exception):  # noqa: N818
    """The server does not send initial objects in a watch: list them."""


class _Refused(Exception):  # noqa: N818
    """The server said no."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.text())
        self.reply = reply


_FORBIDDEN = (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)
_TROUBLE = (
    _Refused,
    NotSentError,
    NoReplyError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    ConfigError,
    msgspec.DecodeError,
    OSError,  # a TimeoutError is one
    ValueError,
)

_EVENT = msgspec.json.Decoder(WatchEvent)
_BOOKMARK = msgspec.json.Decoder(Bookmark)
_PAGE = msgspec.json.Decoder(ListPage)
_STATUS = msgspec.json.Decoder(Status)


class Reflector(Generic[V]):
    """Mirrors one kind.

    Args:
        watched: The kind.
        api: The API server.
        mirror: Where the objects go.
        health_changed: Told when `health` may say something else.
        jitter: Where randomness comes from.
    """

    def __init__(
        self, watched: Watched[V], api: Api, mirror: Mirror[V], health_changed: Callable[[], None], jitter: Jitter
    ) -> None:
        self._watched = watched
        self._api = api
        self._mirror = mirror
        self.health = Health(watched.plural, health_changed)
        self._jitter = jitter
        self._version: int | None = None
        self._uses_lists = False

    async def run(self) -> None:
        """Read until cancelled; trouble is waited out."""
        tries = 0
        while True:
            started_s = asyncio.get_running_loop().time()
            pause_s = 0.0
            try:
                await self._read()
            except _CannotStart:
                self._uses_lists = True
                continue
            except _Expired:
                self._version = None
                self.health.outdated()
            except _TROUBLE as error:
                self._broke(error)
                if isinstance(error, _Refused):
                    pause_s = error.reply.retry_after_s or 0.0
            if asyncio.get_running_loop().time() - started_s >= STABLE_S:
                tries = 0
                if not self.health.is_troubled:
                    continue
            longest_s = min(RETRY_FIRST_S * 2 ** min(tries, 10), RETRY_MAX_S)
            tries += 1
            await asyncio.sleep(max(pause_s, self._jitter(longest_s / 2, longest_s)))

    async def _read(self) -> None:
        if self._version is not None:
            await self._watch()
        elif self._uses_lists:
            await self._list()
            await self._watch()
        else:
            await self._start()

    def _broke(self, error: Exception) -> None:
        is_forbidden = isinstance(error, _Refused) and error.reply.code in _FORBIDDEN
        self.health.broke(_in_words(error), is_forbidden=is_forbidden, is_stale=self._version is None)

    def _complete(self, entries: Iterable[Entry[V]], version: int) -> None:
        self._mirror.replace(entries, version)
        self._version = version
        self.health.heard()
        self.health.recovered()

    # --- lists and watches --------------------------------------------------------------------------------------------

    async def _list(self) -> None:
        entries: list[Entry[V]] = []
        params = {"limit": str(PAGE_OBJECTS)}
        while True:
            reply = await self._api.call("GET", self._watched.path, params=params, timeout_s=LIST_TIMEOUT_S)
            if reply.code == HTTPStatus.GONE and "continue" in params:
                entries, params = [], {}  # too slow for pages: all at once
                continue
            if not reply.is_success:
                raise _Refused(reply)
            page = _PAGE.decode(reply.body)
            entries += [self._watched.read(item) for item in page.items or ()]
            if not page.metadata.continue_:
                break
            params = {**params, "continue": page.metadata.continue_}
        self._complete(entries, int(page.metadata.resource_version))

    async def _start(self) -> None:
        """Open a watch that begins with all objects, and follow it to its end."""
        initial: dict[str, Entry[V]] = {}
        has_begun = False
        params = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        try:
            async with asyncio.timeout(START_S) as watchdog, self._open(params) as stream:
                if stream.code in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY):
                    raise _CannotStart
                await _check(stream)
                has_begun = True
                async for line in lines(stream.chunks):
                    if self._version is None:
                        self._gather(_EVENT.decode(line), initial)
                    else:
                        self._follow(_EVENT.decode(line))
                    if self._version is not None:
                        self._hear(watchdog)
        except TimeoutError:
            if has_begun and self._version is None:
                raise _CannotStart from None
            raise

    async def _watch(self) -> None:
        """Follow all changes since the version we are at, until the watch ends."""
        async with asyncio.timeout(None) as watchdog:
            self._postpone(watchdog)
            async with self._open({"resourceVersion": str(self._version)}) as stream:
                await _check(stream)
                # An open stream is no proof: it may break at its first event, again and again.
                recovery = asyncio.get_running_loop().call_later(STABLE_S, self.health.recovered)
                try:
                    async for line in lines(stream.chunks):
                        self._hear(watchdog)
                        self._follow(_EVENT.decode(line))
                        self.health.recovered()
                finally:
                    recovery.cancel()

    def _open(self, params: dict[str, str]) -> AbstractAsyncContextManager[Stream]:
        common = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(int(self._jitter(*WATCH_S)))}
        return self._api.stream(self._watched.path, {**common, **params})

    def _hear(self, watchdog: asyncio.Timeout) -> None:
        self.health.heard()
        self._postpone(watchdog)

    def _postpone(self, watchdog: asyncio.Timeout) -> None:
        watchdog.reschedule(asyncio.get_running_loop().time() + self._jitter(*SILENCE_S))

    def _gather(self, event: WatchEvent, initial: dict[str, Entry[V]]) -> None:
        match event.type:
            case "ADDED" | "MODIFIED":
                entry = self._watched.read(event.object)
                initial[entry.uid] = entry
            case "DELETED":
                initial.pop(self._watched.read(event.object).uid, None)
            case "BOOKMARK":
                metadata = _BOOKMARK.decode(event.object).metadata
                if metadata.annotations.initial_events_end == "true":
                    self._complete(initial.values(), int(metadata.resource_version))
            case _:
                raise _failure(event)

    def _follow(self, event: WatchEvent) -> None:
        match event.type:
            case "ADDED" | "MODIFIED":
                entry = self._watched.read(event.object)
                self._mirror.put(entry)
                self._version = entry.version
            case "DELETED":
                entry = self._watched.read(event.object)
                self._mirror.drop(entry.uid, entry.version)
                self._version = entry.version
            case "BOOKMARK":
                self._version = int(_BOOKMARK.decode(event.object).metadata.resource_version)
                self._mirror.reached(self._version)
            case _:
                raise _failure(event)


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines of a stream, however they were cut into chunks; one may have megabytes."""
    pending: list[bytes] = []
    async for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            line = b"".join((*pending, end))
            pending.clear()
            if line:
                yield line
        if rest:
            pending.append(rest)


async def _check(stream: Stream) -> None:
    if stream.code == HTTPStatus.OK:
        return
    reply = await stream.rest()
    if reply.code == HTTPStatus.GONE or _is_of_the_future(reply.status()):
        raise _Expired
    raise _Refused(reply)


def _failure(event: WatchEvent) -> Exception:
    if event.type != "ERROR":
        return ValueError(f"a watch event of the unknown type {event.type!r}")
    status = _STATUS.decode(event.object)
    if status.code == HTTPStatus.GONE or _is_of_the_future(status):
        return _Expired()
    return _Refused(Reply(status.code, bytes(event.object)))


def _is_of_the_future(status: Status) -> bool:
    """Tell whether the server knows no version as high as ours: it was restored from a backup."""
    return any(each.reason == "ResourceVersionTooLarge" for each in status.details.causes)


def _in_words(error: Exception) -> str:
    match error:
        case _Refused() | NotSentError() | NoReplyError():
            return str(error)
        case TimeoutError():
            return "the API server is silent"
        case _:
            return described(error)

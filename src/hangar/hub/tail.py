"""Tail: wakes those who wait for something to change, after the commit that changed it."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

from starlette.requests import Request

from hangar.domain.limits import WAITERS_MAX
from hangar.wire.problems import Problem, ProblemCode

T = TypeVar("T")


class Tail:
    """All parked requests, by the key they wait for. It lives in one event loop; `notify` may be called anywhere.

    `on_news` is called in the loop with the keys of what changed, before those who wait for it are woken.
    """

    def __init__(self, on_news: Callable[[Collection[str]], None] = lambda _keys: None) -> None:
        self._on_news = on_news
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._shared: dict[str, asyncio.Future[object]] = {}
        self.waiting_count = 0
        self.is_closing = False

    def start(self) -> None:
        """Wake in the running event loop from now on."""
        self._loop = asyncio.get_running_loop()

    def notify(self, keys: set[str]) -> None:
        """Wake all who wait for one of the keys. Called after a commit, in the thread that made it.

        Whoever waits was entered before it read, so a look without a lock misses nobody.
        """
        waited_for = [key for key in keys if key in self._waiting]
        if waited_for and self._loop is not None:
            self._loop.call_soon_threadsafe(self._tell, waited_for)

    @contextmanager
    def watch(self, key: str) -> Iterator[asyncio.Event]:
        """Enter a waiter; the event is set by each change. Raises BUSY when too many wait."""
        if self.waiting_count >= WAITERS_MAX:
            raise Problem(ProblemCode.BUSY, f"{WAITERS_MAX} requests are waiting already", retry_after_s=1)
        changed = asyncio.Event()
        self._waiting.setdefault(key, set()).add(changed)
        self.waiting_count += 1
        try:
            yield changed
        finally:
            self.waiting_count -= 1
            self._waiting[key].discard(changed)
            if not self._waiting[key]:
                del self._waiting[key]
                self._shared.pop(key, None)

    async def shared(self, key: str, make: Callable[[], Coroutine[object, object, T]]) -> T:
        """Return what all waiters of a key see, made once after each change. Only while the key is watched."""
        made = self._shared.get(key)
        if made is None:
            made = asyncio.ensure_future(cast("Coroutine[object, object, object]", make()))
            self._shared[key] = made
            made.add_done_callback(lambda ended: self._forget_failed(key, ended))
        return cast("T", await asyncio.shield(made))

    def _forget_failed(self, key: str, made: asyncio.Future[object]) -> None:
        is_failed = made.cancelled() or made.exception() is not None
        if is_failed and self._shared.get(key) is made:
            del self._shared[key]

    def wake_all(self) -> None:
        """Wake everybody: what they know may not be so any more."""
        self._wake(list(self._waiting))

    def close(self) -> None:
        """Wake everybody, so that no parked request holds up the end of the hub."""
        self.is_closing = True
        self.wake_all()

    def _tell(self, keys: list[str]) -> None:
        self._on_news(keys)
        self._wake(keys)

    def _wake(self, keys: list[str]) -> None:
        for key in keys:
            self._shared.pop(key, None)
            for changed in self._waiting.get(key, ()):
                changed.set()


async def wait_for_change(request: Request, changed: asyncio.Event, timeout_s: float) -> bool:
    """Wait until the event is set, the time is over or the client has gone; tell whether the client is there."""
    news = asyncio.create_task(changed.wait())
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({news, gone}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        return not gone.done()
    finally:
        news.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass  # what is left of the request's body

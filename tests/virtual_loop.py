"""An event loop whose clock leaps to the next timer whenever nothing else is left to do: hours pass in no time."""

import asyncio
import math
import selectors
from collections.abc import Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from hangar.clock import to_us

T = TypeVar("T")

START_S = 1000.0
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs timers in their order without waiting for them; starts at START_S of its own time."""

    def __init__(self) -> None:
        self._now_s = START_S
        super().__init__(_LeapingSelector(self))

    def time(self) -> float:
        return self._now_s

    def leap(self, seconds: float) -> None:
        # Onto a whole microsecond, always: a wait too short to move the clock would be asked for again and again.
        self._now_s = math.ceil((self._now_s + seconds) * 1e6) / 1e6


class _LeapingSelector(selectors.BaseSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._real = selectors.DefaultSelector()

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise RuntimeError("the test waits for something that nothing will ever bring")
        self._loop.leap(timeout)
        return []

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()


class LoopClock:
    """The running loop's time as a clock; its start is noon."""

    def now_us(self) -> int:
        return to_us(NOON) + round((self.monotonic_s() - START_S) * 1e6)

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()


async def pass_time(seconds: float) -> None:
    """Let virtual time pass."""
    loop = asyncio.get_running_loop()
    passed = loop.create_future()
    timer = loop.call_later(seconds, passed.set_result, None)
    try:
        await passed
    finally:
        timer.cancel()


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)

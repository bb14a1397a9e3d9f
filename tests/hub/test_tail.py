"""The tail: who waits is woken by what it waits for, and by nothing else."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from hangar.hub.tail import Tail
from hangar.wire.problems import Problem, ProblemCode


def with_tail(talk: Callable[[Tail], Awaitable[None]]) -> None:
    async def whole() -> None:
        tail = Tail()
        tail.start()
        await talk(tail)

    asyncio.run(whole())


def test_a_waiter_is_woken_by_its_key_from_any_thread() -> None:
    async def talk(tail: Tail) -> None:
        with tail.watch("a") as mine, tail.watch("b") as other:
            await asyncio.to_thread(tail.notify, {"a", "c"})
            await mine.wait()
            assert not other.is_set()

    with_tail(talk)


def test_what_waiters_see_is_made_once_after_each_change() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        return made[-1]

    async def talk(tail: Tail) -> None:
        with tail.watch("a") as changed:
            assert [tail.shared("a", make) for _ in range(3)] == [0, 0, 0]
            tail.notify({"a"})
            await changed.wait()
            assert [tail.shared("a", make) for _ in range(3)] == [1, 1, 1]
        with tail.watch("a"):
            assert tail.shared("a", make) == 2

    with_tail(talk)


def test_nothing_is_left_of_those_who_have_gone() -> None:
    async def talk(tail: Tail) -> None:
        with pytest.raises(ZeroDivisionError), tail.watch("a"):
            _ = 1 // 0
        assert tail.waiting_count == 0
        tail.notify({"a"})

    with_tail(talk)


def test_so_many_may_wait_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.tail.WAITERS_MAX", 2)

    async def talk(tail: Tail) -> None:
        with tail.watch("a"), tail.watch("a"):
            with pytest.raises(Problem) as caught, tail.watch("b"):
                pass
            assert caught.value.code is ProblemCode.BUSY
        with tail.watch("b"):
            pass

    with_tail(talk)


def test_closing_wakes_everybody() -> None:
    async def talk(tail: Tail) -> None:
        with tail.watch("a") as first, tail.watch("b") as second:
            tail.close()
            await asyncio.gather(first.wait(), second.wait())
        assert tail.is_closing

    with_tail(talk)

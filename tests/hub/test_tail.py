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


def test_news_that_somebody_waits_for_is_told_before_he_is_woken() -> None:
    async def talk() -> None:
        told: list[tuple[list[str], bool]] = []
        tail = Tail(lambda keys: told.append((sorted(keys), changed.is_set())))
        tail.start()
        with tail.watch("a") as changed:
            tail.notify({"a", "nobody's"})
            await changed.wait()
        assert told == [(["a"], False)]

    asyncio.run(talk())


def test_what_waiters_see_is_made_once_after_each_change() -> None:
    made: list[int] = []

    async def make() -> int:
        made.append(len(made))
        return made[-1]

    async def talk(tail: Tail) -> None:
        with tail.watch("a") as changed:
            assert await asyncio.gather(*(tail.shared("a", make) for _ in range(3))) == [0, 0, 0]
            assert await tail.shared("a", make) == 0
            tail.notify({"a"})
            await changed.wait()
            assert await asyncio.gather(*(tail.shared("a", make) for _ in range(3))) == [1, 1, 1]
        with tail.watch("a"):
            assert await tail.shared("a", make) == 2

    with_tail(talk)


def test_what_is_being_made_while_something_changes_is_made_again() -> None:
    made: list[int] = []
    go = asyncio.Event()

    async def make() -> int:
        made.append(len(made))
        number = made[-1]
        await go.wait()
        return number

    async def talk(tail: Tail) -> None:
        with tail.watch("a") as changed:
            early = asyncio.create_task(tail.shared("a", make))
            await asyncio.sleep(0)
            tail.notify({"a"})
            await changed.wait()
            late = asyncio.create_task(tail.shared("a", make))
            go.set()
            assert (await early, await late) == (0, 1)

    with_tail(talk)


def test_what_could_not_be_made_is_tried_again_and_no_waiter_takes_others_along() -> None:
    outcomes = iter([Problem(ProblemCode.NOT_FOUND, "gone"), None])
    go = asyncio.Event()

    async def make() -> str:
        await go.wait()
        outcome = next(outcomes)
        if outcome is not None:
            raise outcome
        return "there"

    async def talk(tail: Tail) -> None:
        with tail.watch("a"):
            gone, told = (asyncio.create_task(tail.shared("a", make)) for _ in range(2))
            await asyncio.sleep(0)
            gone.cancel()
            go.set()
            with pytest.raises(Problem):
                await told
            assert await tail.shared("a", make) == "there"

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

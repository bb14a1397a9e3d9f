"""Streams: bounded queues, and ends that are told why."""

import pytest

from hangar.hub.messages import Message, event_message
from hangar.hub.store.records import Position
from hangar.hub.streams import Streams
from hangar.hub.usecases.feed import EventFilters
from hangar.wire import shown
from hangar.wire.problems import Problem, ProblemCode
from tests.virtual_loop import pass_time, run_virtual

ALL = EventFilters()


def at(rev: int) -> Position:
    return Position("f71b", rev)


def a_message(rev: int, name: str = "n01") -> Message:
    event = shown.Event(
        rev=rev,
        at="",
        type="node.ready",
        object=shown.EventObject(kind="node", name=name, cluster="iad-1"),
        operation=None,
        actor=None,
        message="",
        data={},
    )
    return event_message("f71b", event)


def test_nothing_is_queued_before_a_reader_is_live() -> None:
    async def talk() -> None:
        streams = Streams()
        stream = streams.open(ALL, None)
        streams.publish([a_message(1)], at(1))
        stream.go_live()
        streams.publish([a_message(2), a_message(3)], at(3))
        assert [each.text for each in await stream.next(lambda: at(3))] == [a_message(2).text, a_message(3).text]

    run_virtual(talk())


def test_a_message_is_shared_by_all_who_want_it() -> None:
    async def talk() -> None:
        streams = Streams()
        readers = [streams.open(filters, None) for filters in (ALL, ALL, EventFilters(object="n02"))]
        for each in readers:
            each.go_live()
        message = a_message(1)
        streams.publish([message, a_message(2, "n02")], at(2))
        told = [await each.next(lambda: at(2)) for each in readers]
        assert [len(each) for each in told] == [2, 2, 1]
        assert told[0][0] is told[1][0] is message

    run_virtual(talk())


def test_a_heartbeat_comes_after_a_while_without_news() -> None:
    async def talk() -> None:
        stream = Streams().open(ALL, None)
        stream.go_live()
        began = await _now()
        (beat,) = await stream.next(lambda: at(9))
        assert (await _now()) - began == 15.0
        assert '"f71b.9"' in beat.text

    run_virtual(talk())


async def _now() -> float:
    import asyncio

    await pass_time(0)
    return asyncio.get_running_loop().time()


def test_who_is_too_slow_gets_a_reset_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.streams.STREAM_QUEUE_ROWS_MAX", 2)

    async def talk() -> None:
        streams = Streams()
        slow, quick = streams.open(ALL, None), streams.open(ALL, None)
        for each in (slow, quick):
            each.go_live()
        for rev in (1, 2, 3, 4):
            streams.publish([a_message(rev)], at(rev))
            assert len(await quick.next(lambda: at(4))) == 1
        (reset,) = await slow.next(lambda: at(4))
        assert '"reset"' in reset.text
        assert '"as_of":3' in reset.text
        assert list(await slow.next(lambda: at(4))) == []
        assert (slow.why_over, quick.why_over) == ("too slow", None)

    run_virtual(talk())


def test_a_reset_replaces_what_waits() -> None:
    async def talk() -> None:
        streams = Streams()
        live, beginning = streams.open(ALL, None), streams.open(ALL, None)
        live.go_live()
        streams.publish([a_message(1)], at(1))
        streams.reset(Position("0a0a", 900), "restored")
        streams.publish([a_message(901)], Position("0a0a", 901))
        for each in (live, beginning):
            reset, later = await each.next(lambda: at(901))
            assert '"restored"' in reset.text
            assert later.event is not None
            assert each.was_reset

    run_virtual(talk())


def test_streams_end_with_their_tokens_and_each_token_is_looked_up_once() -> None:
    asked: list[str | None] = []

    async def is_valid(authorization: str | None) -> bool:
        asked.append(authorization)
        return authorization == "good"

    async def talk() -> None:
        streams = Streams()
        good, bad, bad_too = (streams.open(ALL, each) for each in ("good", "bad", "bad"))
        await streams.check_tokens(is_valid)
        assert sorted(map(str, asked)) == ["bad", "good"]
        assert good.why_over is None
        assert (bad.why_over, bad_too.why_over) == ("its token is over", "its token is over")
        assert not bad.is_to_come_back

    run_virtual(talk())


def test_closing_ends_all_and_lets_nobody_in_for_long() -> None:
    async def talk() -> None:
        streams = Streams()
        stream = streams.open(ALL, None)
        stream.go_live()
        streams.publish([a_message(1)], at(1))
        streams.close()
        late = streams.open(ALL, None)
        for each in (stream, late):
            assert list(await each.next(lambda: at(1))) == []
            assert (each.why_over, each.is_to_come_back) == ("the hub stops", True)

    run_virtual(talk())


def test_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.streams.STREAMS_MAX", 1)

    async def talk() -> None:
        streams = Streams()
        first = streams.open(ALL, None)
        with pytest.raises(Problem) as caught:
            streams.open(ALL, None)
        assert caught.value.code is ProblemCode.BUSY
        streams.forget(first)
        streams.forget(first)
        assert streams.open_count == 0
        streams.open(ALL, None)

    run_virtual(talk())

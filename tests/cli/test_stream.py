"""The feed of events: read as it comes, gone on with after a break, begun anew after a reset."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hangar.cli import stream
from hangar.cli.exits import Exit
from hangar.cli.failures import Failure
from hangar.cli.settings import Endpoint
from hangar.cli.stream import HEARTBEAT, RESET, Feed, Told, told_in
from tests.cli.samples import an_event
from tests.cli.scripted import Answer, ScriptedHub, problem

PATH = "/v1/stream"
OVER = problem(401, "unauthenticated", "the token has expired")


def message(rev: int, **changes: Any) -> bytes:
    """Return an event as the hub sends it."""
    event = an_event(rev=rev, **changes)
    return f"id: inc1.{rev}\nevent: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def reset(as_of: int, reason: str = "too_old") -> bytes:
    """Return the message that the feed goes on from a revision, with a gap before it."""
    return f"id: inc2.{as_of}\nevent: reset\ndata: {json.dumps({'reason': reason, 'as_of': as_of})}\n\n".encode()


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def slept() -> list[float]:
    return []


def feed(hub: ScriptedHub, notes: list[str], slept: list[float], **query: str) -> Feed:
    endpoint = Endpoint(hub.url, source="a test", token="hgr_secret")
    return Feed(endpoint, query, notes.append, sleep=slept.append)


def revs(told: Iterator[Told | None]) -> list[int]:
    """Return the revisions of what comes until the hub refuses."""
    found: list[int] = []
    with pytest.raises(Failure) as raised:
        found.extend(each.document["as_of" if each.type == RESET else "rev"] for each in told if each is not None)
    assert raised.value.code is Exit.REFUSED
    return found


def test_messages_are_read_as_they_are_written_down() -> None:
    lines = [
        b": hello\n",
        b"\n",
        b"id: a.1\n",
        b"event: node.ready\r\n",
        b'data: {"one":\n',
        b"data:1}\n",
        b"retry: 5\n",
        b"\n",
        b"event: forgotten\n",
        b"\n",
        b'data: {"two": 2}\n',
        b"\n",
        b": heartbeat\n",
        b"id: a.2\n",
        b"\n",
        b"\n",
        b'data: {"half": ',
    ]
    found = [(told.id, told.type, told.document) for told in told_in(lines)]
    assert found == [("a.1", "node.ready", {"one": 1}), ("a.1", "message", {"two": 2}), ("a.2", HEARTBEAT, {})]


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff"])
def test_what_is_no_document_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        list(told_in([b"data: " + data + b"\n", b"\n"]))


def test_it_begins_after_a_revision_with_the_filters(hub: ScriptedHub, notes: list[str], slept: list[float]) -> None:
    hub.on("GET", PATH, Answer(stream=[message(8), b": still there\n\n", message(9)]), OVER)
    assert revs(feed(hub, notes, slept, cluster="iad-1").follow(7)) == [8, 9]
    first = hub.requests[0]
    assert first.query == {"cluster": "iad-1", "after": "7"}
    assert first.headers["accept"] == "text/event-stream"
    assert first.headers["authorization"] == "Bearer hgr_secret"
    assert "last-event-id" not in first.headers
    assert notes == []


def test_after_an_end_in_order_it_goes_on_from_where_it_was(
    hub: ScriptedHub, notes: list[str], slept: list[float]
) -> None:
    hub.on("GET", PATH, Answer(stream=[message(8)]), Answer(stream=[message(9)]), OVER)
    assert revs(feed(hub, notes, slept).follow(7)) == [8, 9]
    assert [(each.query, each.headers.get("last-event-id")) for each in hub.requests] == [
        ({"after": "7"}, None),
        ({}, "inc1.8"),
        ({}, "inc1.9"),
    ]
    assert (notes, slept) == ([], [0.5, 0.5])


def test_a_break_is_told_once_and_waited_out(hub: ScriptedHub, notes: list[str], slept: list[float]) -> None:
    broken = Answer(stream=[message(8)], close_after=True)
    hub.on("GET", PATH, broken, Answer(hang_up=True), Answer(hang_up=True), Answer(stream=[message(9)]), OVER)
    assert revs(feed(hub, notes, slept).follow(7)) == [8, 9]
    assert hub.requests[3].headers["last-event-id"] == "inc1.8"
    assert [note.partition(": ")[0] for note in notes] == ["still watching", "still watching", "the hub answers again"]
    assert slept == [0.5, 1.0, 2.0, 0.5]


def test_a_busy_hub_is_waited_for_and_one_that_refuses_is_not(
    hub: ScriptedHub, notes: list[str], slept: list[float]
) -> None:
    hub.on("GET", PATH, problem(503, "busy", "later"), problem(400, "invalid_filter", "there is no such type"))
    with pytest.raises(Failure) as raised:
        list(feed(hub, notes, slept).follow(7))
    assert raised.value.code is Exit.USAGE
    assert (notes, slept) == (["still watching: later"], [0.5])


def test_a_reset_is_handed_on_and_the_feed_goes_on_after_it(
    hub: ScriptedHub, notes: list[str], slept: list[float]
) -> None:
    hub.on("GET", PATH, Answer(stream=[message(8), reset(90)]), Answer(stream=[reset(90), message(91)]), OVER)
    assert revs(feed(hub, notes, slept).follow(7)) == [8, 90, 90, 91]
    assert [each.headers.get("last-event-id") for each in hub.requests] == [None, "inc2.90", "inc1.91"]


def test_a_heartbeat_moves_the_point_to_go_on_from(hub: ScriptedHub, notes: list[str], slept: list[float]) -> None:
    hub.on("GET", PATH, Answer(stream=[message(8), b": heartbeat\nid: inc1.500\n\n"]), OVER)
    assert revs(feed(hub, notes, slept).follow(7)) == [8]
    assert hub.requests[1].headers["last-event-id"] == "inc1.500"


def test_a_stream_that_makes_no_sense_is_told(hub: ScriptedHub, notes: list[str], slept: list[float]) -> None:
    hub.on("GET", PATH, Answer(stream=[b"data: nonsense\n\n"]), OVER)
    assert revs(feed(hub, notes, slept).follow(7)) == []
    assert "does not stream like a hub" in notes[0]


def test_while_nothing_comes_one_may_look_around(
    hub: ScriptedHub, notes: list[str], slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "TICK_S", 0.001)
    looked: list[None] = []

    def pieces() -> Iterator[bytes]:
        yield message(8)
        while len(looked) < 3:
            yield b": still there\n\n"
        yield message(9)

    hub.on("GET", PATH, Answer(stream=pieces()), OVER)
    with pytest.raises(Failure):
        looked.extend(told for told in feed(hub, notes, slept).follow(7) if told is None)
    assert len(looked) >= 3


def test_nothing_is_left_reading_when_nobody_watches(hub: ScriptedHub, notes: list[str], slept: list[float]) -> None:
    def pieces() -> Iterator[bytes]:
        while True:
            yield message(8)

    hub.on("GET", PATH, Answer(stream=pieces()))
    told = feed(hub, notes, slept).follow(7)
    assert next(told) is not None
    assert isinstance(told, Iterator)
    told.close()  # type: ignore[attr-defined]

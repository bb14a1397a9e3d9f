"""What streams carry, as bytes."""

import json

from hangar.hub.messages import cursor_of, event_message, heartbeat, reset_message
from hangar.hub.store.records import Position
from hangar.wire import shown

AT = Position("f71b", 7)
EVENT = shown.Event(
    rev=7,
    at="2026-11-18T11:06:40.000Z",
    type="node.cordoned",
    object=shown.EventObject(kind="node", name="n01", cluster="iad-1"),
    operation=None,
    actor="kim",
    message="node n01 was cordoned by kim: ä\nb",
    data={"reason": "ä\nb"},
)


def test_an_event_is_three_lines_for_browsers_and_one_document_for_others() -> None:
    message = event_message("f71b", EVENT)
    lines = message.sse.decode().split("\n")
    assert lines[:2] == ["id: f71b.7", "event: node.cordoned"]
    assert lines[3:] == ["", ""]
    document = json.loads(lines[2].removeprefix("data: "))
    assert (document["rev"], document["data"], document["object"]["cluster"]) == (7, {"reason": "ä\nb"}, "iad-1")
    assert json.loads(message.text) == {"id": "f71b.7", "type": "node.cordoned", "event": document}
    assert message.event is EVENT


def test_a_reset_says_why_and_from_where_it_goes_on() -> None:
    message = reset_message(AT, "slow")
    assert message.sse == b'id: f71b.7\nevent: reset\ndata: {"reason":"slow","as_of":7}\n\n'
    assert json.loads(message.text) == {"id": "f71b.7", "type": "reset", "event": {"reason": "slow", "as_of": 7}}


def test_a_heartbeat_is_a_comment_that_moves_the_cursor_on() -> None:
    assert heartbeat(AT).sse == b": heartbeat\nid: f71b.7\n\n"
    assert json.loads(heartbeat(AT).text) == {"id": "f71b.7", "type": "heartbeat", "event": None}
    assert cursor_of(AT) == "f71b.7"

"""What streams carry: events, heartbeats and resets, each encoded once for all readers, in both forms."""

from dataclasses import dataclass

import msgspec

from hangar.hub.store.records import Position
from hangar.wire import shown
from hangar.wire.operator import JsonObject

RESET = "reset"
HEARTBEAT = "heartbeat"


@dataclass(frozen=True, slots=True)
class Message:
    """One message: as a server-sent event, as a WebSocket's text, and the event that it carries, if it does."""

    sse: bytes
    text: str
    event: shown.Event | None = None


def cursor_of(position: Position) -> str:
    """Return a position as readers of streams name it."""
    return f"{position.incarnation}.{position.rev}"


def event_message(incarnation: str, event: shown.Event) -> Message:
    """Return the message of an event."""
    return _message(Position(incarnation, event.rev), event.type, msgspec.json.encode(event), event)


def reset_message(position: Position, reason: str) -> Message:
    """Return the message that what a reader knows is not to be relied on; it goes on from `position`."""
    data: JsonObject = {"reason": reason, "as_of": position.rev}
    return _message(position, RESET, msgspec.json.encode(data))


def heartbeat(position: Position) -> Message:
    """Return the message that there has been nothing to tell up to a position: a comment, which moves the cursor."""
    cursor = cursor_of(position)
    text = msgspec.json.encode({"id": cursor, "type": HEARTBEAT, "event": None})
    return Message(f": {HEARTBEAT}\nid: {cursor}\n\n".encode(), text.decode())


def _message(position: Position, type_: str, data: bytes, event: shown.Event | None = None) -> Message:
    cursor = cursor_of(position)
    sse = b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor.encode(), type_.encode(), data)
    text = msgspec.json.encode({"id": cursor, "type": type_, "event": msgspec.Raw(data)})
    return Message(sse, text.decode(), event)

"""Routes of the feed as it grows: server-sent events, and the same over a WebSocket."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response, WebSocket
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from hangar.hub.api.authentication import Viewer, authorization_of, subprotocol_of
from hangar.hub.api.context import Hub, hub_of
from hangar.hub.api.following import Asked, cursor_from, tell
from hangar.hub.api.openapi import STREAM_ANSWER, WATCH_ANSWER
from hangar.hub.api.queries import known_parameters
from hangar.hub.messages import Message
from hangar.hub.streams import Stream
from hangar.hub.usecases.feed import EventFilters, check_event_filters
from hangar.wire.problems import Problem, ProblemCode

router = APIRouter(prefix="/v1", tags=["streams"], dependencies=[Depends(known_parameters)])

OVER = 1008
"""The code of a WebSocket that was closed for what its reader is, or does."""

COME_BACK = 1012
"""The code of a WebSocket that was closed because the hub stops or its store cannot serve."""


async def _asked(
    type: Annotated[str | None, Query(description="only of this type")] = None,  # noqa: A002 - the filter's name
    object: Annotated[  # noqa: A002 - the filter's name
        str | None, Query(description="only about this object: its name, or cluster/name")
    ] = None,
    cluster: Annotated[str | None, Query(description="only in this cluster")] = None,
    operation: Annotated[str | None, Query(description="only of this operation, by its id")] = None,
    after: Annotated[
        str | None, Query(description="go on after this: the `as_of` of a list, or the id of a message; else from now")
    ] = None,
    last_event_id: Annotated[
        str | None,
        Header(
            alias="Last-Event-ID",
            description="the id of the last message; it goes before `after`, as browsers send both",
        ),
    ] = None,
) -> Asked:
    """Return what is asked for. Raises INVALID_FILTER."""
    filters = EventFilters(type=type, object=object, cluster=cluster, operation=operation)
    check_event_filters(filters)
    if last_event_id:
        return Asked(filters, cursor_from(last_event_id, "header.Last-Event-ID"))
    return Asked(filters, None if after is None else cursor_from(after, "query.after"))


AskedFor = Annotated[Asked, Depends(_asked)]


class EventStream(Response):
    """An answer that goes on until its reader goes, or its stream is over."""

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, asked: Asked, stream: Stream) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._hub, self._asked, self._stream = hub, asked, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        """Send it."""

        async def send_all(messages: Sequence[Message]) -> None:
            body = b"".join(each.sse for each in messages)
            await send({"type": "http.response.body", "body": body, "more_body": True})

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass  # what is left of the request

        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        if await tell(self._hub, self._asked, self._stream, send_all, gone()):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@router.get(
    "/stream",
    status_code=200,
    summary="Follow the events, as server-sent events",
    response_class=EventStream,
    responses={200: STREAM_ANSWER},
)
async def stream(request: Request, _who: Viewer, asked: AskedFor) -> Response:
    """Send each event as it happens, until the reader goes, the token is over, or the hub stops."""
    hub = hub_of(request)
    return EventStream(hub, asked, hub.streams.open(asked.filters, authorization_of(request)))


@router.get(
    "/watch",
    status_code=101,
    summary="Follow the events, over a WebSocket",
    response_class=Response,
    responses={101: WATCH_ANSWER},
)
async def watch_without_upgrade(_who: Viewer, _asked_for: AskedFor) -> Response:
    """Switch to a WebSocket, and send on it what the stream of server-sent events has, a message each."""
    raise Problem(
        ProblemCode.INVALID_REQUEST,
        "/v1/watch is a WebSocket, and this request does not ask for one: GET /v1/stream has the same without",
    )


@router.websocket("/watch")
async def watch(socket: WebSocket, _who: Viewer, asked: AskedFor) -> None:
    """Send each event as it happens, a message each."""
    hub = hub_of(socket)
    opened = hub.streams.open(asked.filters, authorization_of(socket))

    async def send_all(messages: Sequence[Message]) -> None:
        for each in messages:
            await socket.send_text(each.text)

    async def gone() -> None:
        with suppress(WebSocketDisconnect):
            while True:
                await socket.receive_text()  # there is nothing for a reader to say

    try:
        with suppress(WebSocketDisconnect):  # it may go at any moment
            await socket.accept(subprotocol=subprotocol_of(socket))
            if await tell(hub, asked, opened, send_all, gone()):
                await socket.close(COME_BACK if opened.is_to_come_back else OVER, opened.why_over)
    finally:
        hub.streams.forget(opened)

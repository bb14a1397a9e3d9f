"""Around every request: it is heard out, and its id stands on the answer and on each log line."""

import asyncio
import re
from contextlib import suppress

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from ulid import ULID

from hangar.clock import Clock
from hangar.domain.limits import UNREAD_BYTES_MAX, UNREAD_WAIT_S
from hangar.hub.metrics import HubMetrics
from hangar.telemetry.logs import REQUEST

log = structlog.get_logger("hangar.hub.requests")

HEADER = b"x-request-id"
ACCEPTED = re.compile(rb"[\x21-\x7e]{1,128}")
"""A caller's own id is taken where it is visible ASCII of a sane length."""

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
"""Those that are counted by name: a caller may send any word as one."""


class RequestId:
    """ASGI middleware that names each request, and logs and counts how it ended."""

    def __init__(self, app: ASGIApp, clock: Clock, metrics: HubMetrics) -> None:
        self._app = app
        self._clock = clock
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (HEADER, request_id)]
            await send(message)

        began_s = self._clock.monotonic_s()
        with structlog.contextvars.bound_contextvars(**{REQUEST: request_id.decode()}):
            try:
                await self._app(scope, receive, send_with_id)
            finally:
                took_s = self._clock.monotonic_s() - began_s
                self._metrics.answered(_method(scope), _route(scope), status, took_s)
                # Reads and the operators' calls are many; what changes something or fails is what one looks for.
                is_routine = scope.get("state", {}).get("is_routine", False) or (
                    0 < status < 400 and (scope["method"] == "GET" or scope["path"].startswith("/v1/operator/"))
                )
                level = log.debug if is_routine else log.info
                level(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    took_ms=round(took_s * 1000, 1),
                )


class HearOut:
    """ASGI middleware that lets callers finish before they are refused: who still sends does not read the answer.

    Without it a caller with too large a body would see a broken connection instead of being told so.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or not _sends_a_body(scope):
            await self._app(scope, receive, send)
            return
        is_heard = False

        async def hear() -> Message:
            nonlocal is_heard
            message = await receive()
            is_heard = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        async def send_when_heard(message: Message) -> None:
            if message["type"] == "http.response.start":
                unread_bytes = 0
                with suppress(TimeoutError):
                    async with asyncio.timeout(UNREAD_WAIT_S):
                        while not is_heard and unread_bytes < UNREAD_BYTES_MAX:
                            unread_bytes += len((await hear()).get("body", b""))
            await send(message)

        await self._app(scope, hear, send_when_heard)


def _sends_a_body(scope: Scope) -> bool:
    """Tell whether a body is under way; with `Expect` the caller asks before he sends it."""
    headers = dict(scope["headers"])
    return (b"content-length" in headers or b"transfer-encoding" in headers) and b"expect" not in headers


def _method(scope: Scope) -> str:
    return str(scope["method"]) if scope["method"] in METHODS else "other"


def _route(scope: Scope) -> str:
    """Return the template of the route that took a request: what callers make up never becomes a label."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "other"


def _request_id(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == HEADER and ACCEPTED.fullmatch(value):
            return bytes(value)
    return str(ULID()).encode()

"""A listener for a handful of plain pages over HTTP/1.1: what a scraper and a liveness probe need, and no more."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

REQUEST_BYTES_MAX = 8192
"""A request has no more than its headers; more is somebody who is lost."""

REQUEST_S = 5.0
"""Whoever takes longer than this to ask, or to take the answer, is hung up on."""

TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Page:
    """What is answered to a request."""

    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = TEXT


Pages: TypeAlias = Mapping[str, Callable[[], Page]]
"""What makes each page, by its path."""


class ListenError(Exception):
    """The address cannot be had; the message says which and why."""


@asynccontextmanager
async def listening(host: str, port: int, pages: Pages) -> AsyncIterator[int]:
    """Serve pages until the block ends, and yield the port; port 0 takes a free one. Raises ListenError."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A caller who sends nonsense, says nothing or goes away is none of our business.
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(REQUEST_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(_answer(head, pages))
                await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, host, port, limit=REQUEST_BYTES_MAX)
    except OSError as error:
        raise ListenError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    async with server:
        yield int(server.sockets[0].getsockname()[1])


def _answer(head: bytes, pages: Pages) -> bytes:
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    if len(words) != 3:
        return _encoded(Page(b"this is no request\n", HTTPStatus.BAD_REQUEST), has_body=True)
    method, target, _ = words
    if method not in ("GET", "HEAD"):
        return _encoded(Page(b"ask with GET\n", HTTPStatus.METHOD_NOT_ALLOWED), has_body=True)
    make = pages.get(target.partition("?")[0])
    if make is None:
        there = f"nothing is served here but {', '.join(pages)}\n".encode()
        return _encoded(Page(there, HTTPStatus.NOT_FOUND), has_body=method == "GET")
    return _encoded(make(), has_body=method == "GET")


def _encoded(page: Page, *, has_body: bool) -> bytes:
    lines = (
        f"HTTP/1.1 {page.status.value} {page.status.phrase}",
        f"Content-Type: {page.content_type}",
        f"Content-Length: {len(page.body)}",
        "Connection: close",
        *(["Allow: GET, HEAD"] if page.status is HTTPStatus.METHOD_NOT_ALLOWED else []),
        "",
        "",
    )
    return "\r\n".join(lines).encode() + (page.body if has_body else b"")

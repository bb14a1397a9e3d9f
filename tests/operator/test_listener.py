"""The listener on a real socket: it answers what it has, and outlives whoever is lost, slow or gone."""

import asyncio
import http.client
from collections.abc import Awaitable, Callable
from contextlib import closing
from http import HTTPStatus
from typing import TypeVar

import pytest

from hangar.operator.listener import REQUEST_BYTES_MAX, ListenError, Page, Pages, listening
from tests.virtual_loop import run_virtual

T = TypeVar("T")


def ill() -> Page:
    return Page(b"ill\n", HTTPStatus.SERVICE_UNAVAILABLE)


PAGES: Pages = {"/metrics": lambda: Page(b"a 1\n", content_type="text/x"), "/healthz": ill}


def served(talk: Callable[[int], Awaitable[T]], run: Callable[..., T] = asyncio.run) -> T:
    async def whole() -> T:
        async with listening("127.0.0.1", 0, PAGES) as port:
            return await talk(port)

    return run(whole())


def asked(method: str, path: str) -> tuple[int, str | None, bytes]:
    def ask(port: int) -> tuple[int, str | None, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type"), answer.read()

    return served(lambda port: asyncio.to_thread(ask, port))


async def sent(port: int, data: bytes) -> bytes:
    """Send something and return all that comes until it is hung up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/metrics", (200, "text/x", b"a 1\n")),
        ("GET", "/metrics?of=all", (200, "text/x", b"a 1\n")),
        ("HEAD", "/metrics", (200, "text/x", b"")),
        ("GET", "/healthz", (503, "text/plain; charset=utf-8", b"ill\n")),
        ("GET", "/", (404, "text/plain; charset=utf-8", b"nothing is served here but /metrics, /healthz\n")),
        ("POST", "/metrics", (405, "text/plain; charset=utf-8", b"ask with GET\n")),
    ],
)
def test_a_request_is_answered(method: str, path: str, answer: tuple[int, str, bytes]) -> None:
    assert asked(method, path) == answer


@pytest.mark.parametrize(
    ("data", "beginning"),
    [
        (b"hello\r\n\r\n", b"HTTP/1.1 400"),
        (b"\x16\x03\x01\r\n\r\n", b"HTTP/1.1 400"),
        (b"x" * REQUEST_BYTES_MAX * 2, b""),
    ],
)
def test_nonsense_is_refused_or_hung_up_on_and_the_next_one_is_answered(data: bytes, beginning: bytes) -> None:
    async def talk(port: int) -> tuple[bytes, bytes]:
        try:
            first = await sent(port, data)
        except ConnectionError:
            first = b""
        return first, await sent(port, b"GET /metrics HTTP/1.1\r\n\r\n")

    first, second = served(talk)
    assert first[: len(beginning) or None] == beginning
    assert second.startswith(b"HTTP/1.1 200 OK\r\n")


def test_who_says_nothing_is_hung_up_on() -> None:
    # In virtual time: the seconds until then pass at once.
    assert served(lambda port: sent(port, b"GET /metrics"), run_virtual) == b""


def test_who_goes_away_in_mid_request_harms_nobody() -> None:
    async def talk(port: int) -> bytes:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /met")
        writer.close()
        await writer.wait_closed()
        return await sent(port, b"GET /metrics HTTP/1.1\r\n\r\n")

    assert served(talk).endswith(b"\r\n\r\na 1\n")


def test_an_address_that_is_taken_is_named() -> None:
    async def talk(port: int) -> None:
        with pytest.raises(ListenError, match=f"cannot listen on 127.0.0.1:{port}: .*in use"):
            async with listening("127.0.0.1", port, PAGES):
                pass

    served(talk)

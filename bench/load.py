"""Load on a hub: connections that cost next to nothing here, and requests that are sent when they are due."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

CONNECTIONS = 32
"""Connections that carry requests sent at a rate; more of them would only wait in the hub instead of here."""

BEGINS_AFTER_S = 0.5
"""Time enough to make the tasks of all requests before the first is due."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a hub answered."""

    status: int
    body: bytes

    def json(self) -> Any:
        """Return the document."""
        return json.loads(self.body)


class Connection:
    """One connection that is kept open, for one request at a time."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"Host: hub\r\nAuthorization: Bearer {token}\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, document: object = None) -> Answer:
        """Send a request and return its answer. Raises RuntimeError for what is no success."""
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        body = b"" if document is None else json.dumps(document).encode()
        kind = "Content-Type: application/json\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{kind}Content-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        status_line, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if line)
        answer = Answer(int(status_line.split()[1]), await self._reader.readexactly(int(headers["content-length"])))
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {answer.body.decode()}")
        return answer

    async def close(self) -> None:
        """Close it."""
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()


async def at_rate(
    port: int, token: str, per_s: float, count: int, send: Callable[[Connection, int], Awaitable[object]]
) -> list[float]:
    """Send so many requests at a rate; return how long after each was due its answer came, in ms.

    What waits here because the hub is slow counts as the hub's; that connections are opened does not.
    """
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        connection = Connection(port, token)
        await connection.ask("GET", "/healthz")
        free.put_nowait(connection)
    began_s = time.perf_counter() + BEGINS_AFTER_S
    took_ms: list[float] = []

    async def one(number: int) -> None:
        due_s = began_s + number / per_s
        await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
        connection = await free.get()
        await send(connection, number)
        took_ms.append((time.perf_counter() - due_s) * 1e3)
        free.put_nowait(connection)

    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            tasks.create_task(one(number))
    while not free.empty():
        await free.get_nowait().close()
    return took_ms


def p99(figures: Sequence[float]) -> float:
    """Return the 99th percentile, from above."""
    ordered = sorted(figures)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]

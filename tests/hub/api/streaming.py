"""Readers of streams in tests: the application itself, driven as a server drives it, without a network."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from hangar.hub.principals import Role
from hangar.hub.store.tx import EventType, Subject, Tx
from tests.hub.api.client import Api


@dataclass(frozen=True, slots=True)
class Told:
    """One message, whatever form it came in; `data` is None in a heartbeat."""

    id: str
    type: str
    data: Any

    @property
    def rev(self) -> int:
        """The revision in its id."""
        return int(self.id.rpartition(".")[2])


class Reader:
    """One open stream. `stop_reading` makes it take nothing more until `read_on`."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.close_code: int | None = None
        self.body = b""
        self._told: asyncio.Queue[Told | None] = asyncio.Queue()
        self._from_client: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()
        self._is_reading = asyncio.Event()
        self._is_reading.set()
        self._rest = ""

    async def next(self) -> Told:
        """Return the next message."""
        told = await self._told.get()
        assert told is not None, "the stream is over"
        return told

    async def events(self, count: int) -> list[Told]:
        """Return the next events, without the heartbeats between them."""
        found: list[Told] = []
        while len(found) < count:
            told = await self.next()
            if told.type != "heartbeat":
                found.append(told)
        return found

    async def rest(self) -> list[Told]:
        """Return what comes until the stream is over."""
        found: list[Told] = []
        while (told := await self._told.get()) is not None:
            found.append(told)
        return found

    def stop_reading(self) -> None:
        """Take nothing any more."""
        self._is_reading.clear()

    def read_on(self) -> None:
        """Take again what is sent."""
        self._is_reading.set()

    def leave(self, kind: str) -> None:
        """Break the connection off."""
        self._from_client.put_nowait({"type": f"{kind}.disconnect", "code": 1001})

    async def receive(self) -> MutableMapping[str, Any]:
        """Say what the client says next."""
        return await self._from_client.get()

    def say(self, message: MutableMapping[str, Any]) -> None:
        """Let the client say something."""
        self._from_client.put_nowait(message)

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Take what the application sends."""
        await self._is_reading.wait()
        match message["type"]:
            case "http.response.start" | "websocket.http.response.start":
                self.status = message["status"]
                self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            case "http.response.body" if self.headers.get("content-type", "").startswith("text/event-stream"):
                self._take_sse(message.get("body", b"").decode())
            case "http.response.body" | "websocket.http.response.body":
                self.body += message.get("body", b"")
            case "websocket.accept":
                self.status = 101
                self.headers = {"sec-websocket-protocol": message.get("subprotocol") or ""}
            case "websocket.send":
                document = json.loads(message["text"])
                self._told.put_nowait(Told(document["id"], document["type"], document["event"]))
            case "websocket.close":
                self.close_code = message["code"]
            case _:
                raise AssertionError(f"no server takes {message}")

    def over(self) -> None:
        """Note that nothing more comes."""
        self._told.put_nowait(None)

    def _take_sse(self, text: str) -> None:
        *blocks, self._rest = (self._rest + text).split("\n\n")
        for block in blocks:
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            data = json.loads(fields["data"]) if "data" in fields else None
            self._told.put_nowait(Told(fields["id"], fields.get("event", fields.get("", "")), data))


@asynccontextmanager
async def reading(app: FastAPI, form: str, query: str = "", **headers: str) -> AsyncIterator[Reader]:
    """Open `/v1/stream` (form `sse`) or `/v1/watch` (form `ws`); names of headers have _ for -."""
    reader = Reader()
    kind = "http" if form == "sse" else "websocket"
    path = "/v1/stream" if form == "sse" else "/v1/watch"
    protocols = headers.pop("protocols", "")
    scope = {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": kind[:4].replace("webs", "ws"),
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "subprotocols": [each.strip() for each in protocols.split(",") if each],
        "extensions": {"websocket.http.response": {}},
        "state": {},
    }
    if kind == "websocket":
        del scope["method"]
        reader.say({"type": "websocket.connect"})
    else:
        reader.say({"type": "http.request", "body": b"", "more_body": False})

    async def serve() -> None:
        try:
            await app(scope, reader.receive, reader.send)
        finally:
            reader.over()

    serving = asyncio.create_task(serve())
    try:
        yield reader
    finally:
        reader.leave(kind)
        reader.read_on()
        await serving


@asynccontextmanager
async def opened(api: Api, form: str, query: str = "", role: Role = Role.VIEWER, **more: str) -> AsyncIterator[Reader]:
    """Open a stream with the token of a role."""
    headers = {"Authorization": f"Bearer {api.secrets[role]}"} | more
    async with reading(api.app, form, query, **headers) as reader:
        yield reader


def run(api: Api, talk: Callable[[], Awaitable[None]]) -> None:
    """Run a conversation within the running application."""

    async def whole() -> None:
        async with api.app.router.lifespan_context(api.app):
            await asyncio.wait_for(talk(), 20)

    asyncio.run(whole())


def note(api: Api, name: str) -> int:
    """Let something happen; returns its revision."""

    def happen(tx: Tx) -> None:
        tx.event(EventType.CLUSTER_ADDED, Subject("cluster", name, name), api.world.now_us)

    api.world.store.write(happen)
    return api.world.store.position().rev


def objects(told: list[Told]) -> list[str]:
    """Return what events are about, by name."""
    return [each.data["object"]["name"] for each in told]

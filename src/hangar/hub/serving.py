"""Serving the hub on a socket, in an event loop that is there already."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from hangar.domain.limits import (
    KEEP_ALIVE_S,
    SHUTDOWN_GRACE_S,
    STREAM_HEARTBEAT_S,
    STREAM_MESSAGE_BYTES_MAX,
    STREAM_SEND_MAX_S,
)
from hangar.hub.app import hub_in

BACKLOG = 1024
"""Connections that may wait to be accepted: a fleet that comes back after an outage all at once."""


@dataclass(frozen=True, slots=True)
class Tls:
    """A certificate chain and its key, PEM files."""

    cert: Path
    key: Path


class _WebSockets(WebSocketsSansIOProtocol):
    """uvicorn's WebSockets, which do not take a refusal in the handshake for a fault."""

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True  # uvicorn forgets to note it, and then complains of it


class _Server(uvicorn.Server):
    """uvicorn's server, which leaves signals to the process and lets parked requests and streams end first."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self.up = asyncio.Event()
        self._hub = hub_in(app)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.tail.close()
        self._hub.streams.close()
        await super().shutdown(sockets)


@asynccontextmanager
async def serve(app: FastAPI, host: str, port: int, tls: Tls | None = None) -> AsyncIterator[int]:
    """Serve the hub until the block ends, and yield the port it listens on; port 0 takes a free one.

    At the end parked requests are answered, and others may take SHUTDOWN_GRACE_S. Raises OSError where the address
    cannot be had or the certificate cannot be read.
    """
    config = uvicorn.Config(
        app,
        http="httptools",
        ws=_WebSockets,
        ws_per_message_deflate=False,  # a message is encoded once for all who read it
        ws_max_size=STREAM_MESSAGE_BYTES_MAX,
        ws_ping_interval=STREAM_HEARTBEAT_S,
        ws_ping_timeout=STREAM_SEND_MAX_S,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=ceil(KEEP_ALIVE_S),
        timeout_graceful_shutdown=ceil(SHUTDOWN_GRACE_S),
        ssl_certfile=None if tls is None else tls.cert,
        ssl_keyfile=None if tls is None else str(tls.key),
    )
    config.load()
    listener = _listen(host, port)
    server = _Server(config, app)
    running = asyncio.create_task(server.serve(sockets=[listener]), name="http")
    started = asyncio.create_task(server.up.wait())
    try:
        await asyncio.wait({running, started}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
        yield int(listener.getsockname()[1])
    finally:
        started.cancel()
        server.should_exit = True
        await running


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener

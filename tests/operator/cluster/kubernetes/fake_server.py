"""An API server of a few lines: it replies what a test has written down, and keeps what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import httpx2
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import Cluster, User

from tests.virtual_loop import pass_time


@dataclass(frozen=True)
class Says:
    """A whole reply."""

    code: int
    document: Mapping[str, Any] | str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Streams:
    """A reply in pieces: bytes are sent, numbers are seconds of silence, an error breaks the connection.

    After the last piece the stream stays open in silence, unless it `ends`.
    """

    pieces: tuple[bytes | float | Exception, ...]
    ends: bool = False


@dataclass(frozen=True)
class Breaks:
    """No reply: the connection fails, before or after the request has left."""

    error: Exception
    has_left: bool = False


@dataclass(frozen=True)
class Stalls:
    """No reply for ever, though the request has left."""


Scripted: TypeAlias = Says | Streams | Breaks | Stalls


@dataclass(frozen=True)
class Asked:
    """One request."""

    at_s: float
    method: str
    path: str
    params: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


NO_GRAPHS = Says(404, "404 page not found")
"""What a server says to the question for a version of a group that it does not have."""


KEDA = "/apis/keda.sh/v1alpha1"
DEVICES = "/apis/resource.k8s.io/v1"


class FakeServer(httpx2.AsyncBaseTransport):
    """Replies from a script in its order; once it is through, requests hang.

    `kinds` are replies to the question what is served of a version of NVIDIA's group, or of another group by its path:
    they need no place in the script, and leave no trace.
    """

    def __init__(self, *script: Scripted) -> None:
        self.script = list(script)
        self.kinds: dict[str, Scripted] = dict.fromkeys(("v1beta1", "v1alpha1", KEDA, DEVICES), NO_GRAPHS)
        self.asked: list[Asked] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        content = await request.aread()
        version = request.url.path.removeprefix("/apis/nvidia.com/")
        if version in self.kinds:
            return await _replied(self.kinds[version])
        next_one = self.script.pop(0) if self.script else Stalls()
        if not (isinstance(next_one, Breaks) and not next_one.has_left):
            trace = request.extensions.get("trace")
            if trace is not None:
                await trace("http11.send_request_headers.started", {})
        self.asked.append(
            Asked(
                asyncio.get_running_loop().time(),
                request.method,
                request.url.path,
                dict(request.url.params),
                json.loads(content) if content else None,
                dict(request.headers),
            )
        )
        return await _replied(next_one)


async def _replied(scripted: Scripted) -> httpx2.Response:
    match scripted:
        case Says(code=code, document=document, headers=headers):
            if isinstance(document, str):
                return httpx2.Response(code, headers=dict(headers), text=document)
            return httpx2.Response(code, headers=dict(headers), json=document)
        case Streams():
            return httpx2.Response(200, content=_pieces(scripted))
        case Breaks(error=error):
            raise error
        case Stalls():
            return await _never()


async def _pieces(stream: Streams) -> AsyncIterator[bytes]:
    for piece in stream.pieces:
        match piece:
            case bytes():
                yield piece
            case Exception():
                raise piece
            case pause_s:
                await pass_time(pause_s)
    if not stream.ends:
        await _never()


async def _never() -> httpx2.Response:
    never: asyncio.Future[httpx2.Response] = asyncio.get_running_loop().create_future()
    return await never


def a_config() -> SingleConfig:
    """Return a configuration that leads nowhere: the fake server stands in for the network."""
    config = KubeConfig.from_one(cluster=Cluster(server="https://cluster.test", insecure=True), user=User()).get()
    assert config is not None
    return config


def middle(least: float, most: float) -> float:
    """A jitter without chance."""
    return (least + most) / 2

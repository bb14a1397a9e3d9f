"""Requests to one API server: single calls with a gate before them, and streams of bytes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2
from lightkube.config.client_adapter import ConnectionParams
from lightkube.config.kubeconfig import SingleConfig
from lightkube.core.exceptions import ConfigError
from lightkube.core.generic_client import BasicRequest, GenericAsyncClient

from hangar.operator.cluster.kubernetes.answers import Reply
from hangar.operator.cluster.kubernetes.server_clock import ServerClock
from hangar.operator.cluster.port import ClusterError, Gate

CALL_TIMEOUT_S = 8.0
"""A call that only reads may take as long as one that writes."""

CONNECT_TIMEOUT_S = 5.0
"""An API server that does not take a connection within this is not there."""

HEADERS_STARTED = "send_request_headers.started"
"""The last moment before anything leaves: the request holds its connection."""

UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""A compressed watch says nothing after its first objects: what follows does not reach the reader."""

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
JSON = "application/json"


class NotSentError(Exception):
    """Nothing has left: there was no connection, or (`lacks_credentials`) nothing to prove who we are with."""

    def __init__(self, message: str, *, lacks_credentials: bool = False) -> None:
        super().__init__(message)
        self.lacks_credentials = lacks_credentials


class NoReplyError(Exception):
    """The request has left, and no reply tells what became of it."""


class WithheldError(Exception):
    """The gate was closed; the message is its reason."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A reply that comes bit by bit."""

    code: int
    retry_after_s: float | None
    chunks: AsyncIterator[bytes]

    async def rest(self) -> Reply:
        """Read all that is left as one reply."""
        return Reply(self.code, b"".join([chunk async for chunk in self.chunks]), self.retry_after_s)


class Api:
    """One API server.

    Args:
        config: Where it is, and who we are.
        clock: Learns the server's time from every reply.
        transport: What carries requests instead of the network; tests alone give one.

    Raises:
        ClusterError: The configuration's certificates or credentials cannot be used.
    """

    def __init__(
        self, config: SingleConfig, clock: ServerClock, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._config = config
        self._clock = clock
        self._transport = transport
        self._files = _files(config)
        self._read_ns: tuple[int, ...] = ()
        self._read_ns = self._changed_ns()
        self._client = self._new_client()
        self._retired: list[GenericAsyncClient] = []

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = JSON,
        gate: Gate | None = None,
        timeout_s: float = CALL_TIMEOUT_S,
    ) -> Reply:
        """Send one request and return the reply, whatever its code.

        Args:
            method: The HTTP method.
            path: The path, from the server's root.
            params: The query.
            body: What is sent, encoded as JSON; None sends nothing.
            content_type: The media type of the body.
            gate: Asked at the last moment before the request leaves.
            timeout_s: How long all of it may take.

        Raises:
            WithheldError: The gate was closed; nothing was sent.
            NotSentError: Nothing was sent for any other reason.
            NoReplyError: It was sent, and there is no reply.
        """
        headers = {"Content-Type": content_type}
        departure = _Departure(gate)
        try:
            departure.ask()
            async with asyncio.timeout(timeout_s):
                request = self._request(BasicRequest(method, path, None, dict(params or {}), body, headers))
                request.extensions["trace"] = departure.trace
                sent_s = self._clock.monotonic_s()
                response = await self._sent(request)
                self._learn(response, sent_s)
                return Reply(response.status_code, response.content, _retry_after_s(response))
        except TimeoutError as error:
            raise departure.failure(f"no reply within {timeout_s:.2g} s") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ConfigError, OSError, ValueError) as error:
            lacks_credentials = isinstance(error, ConfigError)
            raise departure.failure(described(error), lacks_credentials=lacks_credentials) from error

    @contextlib.asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, str]) -> AsyncIterator[Stream]:
        """Open a GET whose reply is read as it comes; whoever reads it guards it against silence.

        Raises:
            httpx2.HTTPError: There is no connection, or it broke, also while the stream is read.
            ConfigError: There are no credentials.
        """
        timeout = httpx2.Timeout(CONNECT_TIMEOUT_S, read=None)
        sent_s = self._clock.monotonic_s()
        request = self._request(
            BasicRequest("GET", path, None, dict(params), headers=dict(UNCOMPRESSED), timeout=timeout)
        )
        response = await self._sent(request, stream=True)
        try:
            self._learn(response, sent_s)
            yield Stream(response.status_code, _retry_after_s(response), response.aiter_bytes())
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close all connections."""
        for client in (*self._retired, self._client):
            await client.close()  # type: ignore[no-untyped-call]  # the library leaves its types out here

    async def _sent(self, request: httpx2.Request, *, stream: bool = False) -> httpx2.Response:
        response: httpx2.Response = await self._client.send(request, stream=stream)  # type: ignore[no-untyped-call]
        return response

    def _request(self, request: BasicRequest) -> httpx2.Request:
        changed_ns = self._changed_ns()
        if changed_ns != self._read_ns:
            # Rotated: what is in flight ends on the old client, all else trusts and shows the new ones. Files that are
            # only half there are looked at again by the next request.
            with contextlib.suppress(ClusterError):
                fresh = self._new_client()
                self._retired.append(self._client)
                self._client = fresh
                self._read_ns = changed_ns
        return self._client.build_adapter_request(request)

    def _changed_ns(self) -> tuple[int, ...]:
        try:
            return tuple(each.stat().st_mtime_ns for each in self._files)
        except OSError:  # in the middle of being replaced: the next request will see it
            return self._read_ns

    def _new_client(self) -> GenericAsyncClient:
        # The environment's proxies are for the way to the hub; the API server is reached directly.
        timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S)
        params = ConnectionParams(timeout=timeout, trust_env=False)
        params.transport = self._transport  # type: ignore[assignment]  # declared for the blocking client alone
        try:
            return GenericAsyncClient(params, config=self._config)
        except (ConfigError, OSError, ValueError) as error:
            raise ClusterError(
                f"the credentials for {self._config.cluster.server} cannot be used: {described(error)}"
            ) from error

    def _learn(self, response: httpx2.Response, sent_s: float) -> None:
        date = response.headers.get("Date")
        if date is None:
            return
        try:
            self._clock.observe(parsedate_to_datetime(date), sent_s, self._clock.monotonic_s())
        except ValueError:  # no date at all: something else than an API server replies
            return


class _Departure:
    """Knows whether one request has left, and asks the gate just before it does."""

    def __init__(self, gate: Gate | None) -> None:
        self._gate = gate
        self._left = False

    def ask(self) -> None:
        """Raise WithheldError unless the gate is open."""
        if self._gate is not None and (why := self._gate()) is not None:
            raise WithheldError(why)

    async def trace(self, event: str, _: Mapping[str, object]) -> None:
        """Hear from the HTTP client how far the request is; a retry with fresh credentials leaves anew."""
        if event.endswith(HEADERS_STARTED):
            self.ask()
            self._left = True

    def failure(self, message: str, *, lacks_credentials: bool = False) -> NotSentError | NoReplyError:
        """Return the error of a request that has failed."""
        return NoReplyError(message) if self._left else NotSentError(message, lacks_credentials=lacks_credentials)


def _files(config: SingleConfig) -> tuple[Path, ...]:
    """Return the files of certificates and keys, which change while we run; tokens are read anew by the library."""
    user = config.user
    named = (config.cluster.certificate_auth, *((user.client_cert, user.client_key) if user is not None else ()))
    return tuple(Path(config.abs_file(each)) for each in named if each)


def described(error: Exception) -> str:
    """Return an error in one line, by its type where it has nothing to say."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _retry_after_s(response: httpx2.Response) -> float | None:
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None

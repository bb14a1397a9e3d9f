"""The operator's one way out: four calls to the hub over HTTPS."""

import asyncio
import secrets
import ssl
from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

import httpx2
import msgspec

from hangar.wire.operator import (
    InventoryAnswer,
    InventoryRequest,
    ReleaseRequest,
    ReportAnswer,
    ReportRequest,
    SessionGrant,
    SessionRequest,
    SyncAnswer,
    SyncRequest,
)

T = TypeVar("T")

CALL_TIMEOUT_S = 8.0
"""One call that is not a long poll; well inside the time after which the operator stops sending."""


OK, UNREACHABLE = "ok", "unreachable"
"""The outcomes of calls that are no problem's code."""

REQUEST_ID_BYTES = 8
"""Enough to find one call in a day's log."""

OnCall: TypeAlias = Callable[[str, str, float], None]
"""Told of each call: its name, its outcome (OK, UNREACHABLE or the problem's code), and the seconds it took."""


class HubError(Exception):
    """The hub could not be reached or refused a call; the message says which and why.

    `code` is the problem's; `request` is the id under which the hub's log has the call, if it came there.
    """

    def __init__(
        self, message: str, code: str = "", retry_after_s: float | None = None, request: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_s = retry_after_s
        self.request = request


class Channel(Protocol):
    """The hub, as an operator sees it."""

    async def open_session(self, request: SessionRequest) -> SessionGrant:
        """Ask for the right to act. Raises HubError, with code `standby` while another operator holds it."""

    async def release(self, request: ReleaseRequest) -> None:
        """Give the right to act back."""

    async def sync(self, request: SyncRequest) -> SyncAnswer:
        """Fetch all open operations; waits up to `request.wait_s` for news."""

    async def report(self, request: ReportRequest) -> ReportAnswer:
        """Say what became of operations."""

    async def inventory(self, request: InventoryRequest) -> InventoryAnswer:
        """Say what the nodes look like."""


class _ProblemDoc(msgspec.Struct):
    """What is read of a problem+json."""

    code: str = ""
    detail: str = ""
    retry_after_s: float | None = None


class HttpChannel:
    """The four calls over HTTP. One instance serves one operator; tests alone give it a transport.

    Each call has an id of ours, which the hub takes for its log: so one finds it there also where no answer came.
    """

    def __init__(
        self,
        server: str,
        token: str,
        ca_file: str | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        on_call: OnCall = lambda *_: None,
    ) -> None:
        self._server = server.rstrip("/")
        self._on_call = on_call
        verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=ca_file) if ca_file else True
        self._client = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            verify=verify,
            timeout=CALL_TIMEOUT_S,
            trust_env=False,
            transport=transport,
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def open_session(self, request: SessionRequest) -> SessionGrant:
        """Ask for the right to act."""
        return await self._call("session", request, SessionGrant)

    async def release(self, request: ReleaseRequest) -> None:
        """Give the right to act back."""
        await self._post("session:release", request, CALL_TIMEOUT_S)

    async def sync(self, request: SyncRequest) -> SyncAnswer:
        """Fetch all open operations."""
        return await self._call("sync", request, SyncAnswer, request.wait_s)

    async def report(self, request: ReportRequest) -> ReportAnswer:
        """Say what became of operations."""
        return await self._call("report", request, ReportAnswer)

    async def inventory(self, request: InventoryRequest) -> InventoryAnswer:
        """Say what the nodes look like."""
        return await self._call("inventory", request, InventoryAnswer)

    async def _call(self, name: str, request: msgspec.Struct, answer: type[T], wait_s: float = 0.0) -> T:
        body = await self._post(name, request, CALL_TIMEOUT_S + wait_s)
        try:
            return msgspec.json.decode(body, type=answer)
        except msgspec.DecodeError as error:
            raise HubError(f"{name}: the hub's answer cannot be read: {error}") from error

    async def _post(self, name: str, request: msgspec.Struct, timeout_s: float) -> bytes:
        id_ = secrets.token_hex(REQUEST_ID_BYTES)
        now_s = asyncio.get_running_loop().time
        began_s = now_s()
        try:
            response = await self._client.post(
                f"{self._server}/v1/operator/{name}",
                content=msgspec.json.encode(request),
                headers={"X-Request-Id": id_},
                timeout=timeout_s,
            )
        except httpx2.HTTPError as error:
            self._on_call(name, UNREACHABLE, now_s() - began_s)
            why = str(error) or type(error).__name__
            raise HubError(f"{name}: cannot reach the hub at {self._server}: {why}", request=id_) from error
        if response.is_success:
            self._on_call(name, OK, now_s() - began_s)
            return response.content
        refusal = _refusal(name, response, id_)
        self._on_call(name, refusal.code or f"status_{response.status_code}", now_s() - began_s)
        raise refusal


def _refusal(name: str, response: httpx2.Response, request: str) -> HubError:
    try:
        problem = msgspec.json.decode(response.content, type=_ProblemDoc)
    except msgspec.DecodeError:
        return HubError(f"{name}: the hub answered {response.status_code}", request=request)
    message = f"{name}: {problem.detail} ({response.status_code})"
    return HubError(message, problem.code, problem.retry_after_s, request)

"""The operator's one way out: four calls to the hub over HTTPS."""

import ssl
from typing import Protocol, TypeVar

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


class HubError(Exception):
    """The hub could not be reached or refused a call; the message says which and why. `code` is the problem's."""

    def __init__(self, message: str, code: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_s = retry_after_s


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
    """The four calls over HTTP. One instance serves one operator; tests alone give it a transport."""

    def __init__(
        self,
        server: str,
        token: str,
        ca_file: str | None = None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._server = server.rstrip("/")
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
        url = f"{self._server}/v1/operator/{name}"
        try:
            response = await self._client.post(url, content=msgspec.json.encode(request), timeout=timeout_s)
        except httpx2.HTTPError as error:
            raise HubError(
                f"{name}: cannot reach the hub at {self._server}: {str(error) or type(error).__name__}"
            ) from error
        if response.is_success:
            return response.content
        raise _refusal(name, response)


def _refusal(name: str, response: httpx2.Response) -> HubError:
    try:
        problem = msgspec.json.decode(response.content, type=_ProblemDoc)
    except msgspec.DecodeError:
        return HubError(f"{name}: the hub answered {response.status_code}")
    return HubError(f"{name}: {problem.detail} ({response.status_code})", problem.code, problem.retry_after_s)

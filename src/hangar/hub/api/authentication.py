"""Who sends a request: the bearer token, looked up by its digest and remembered for a moment."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from hangar.clock import Clock
from hangar.domain.limits import OPERATOR_TOKEN_CACHED_S, TOKEN_CACHED_S, TOKENS_CACHED_MAX
from hangar.hub.hubtime import HubTime
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.store import Store
from hangar.hub.usecases.tokens import FoundToken, digest, find_token
from hangar.wire.problems import Problem, ProblemCode

SCHEME = "Bearer"

SUBPROTOCOL = "bearer."
"""How a WebSocket's subprotocol begins that has a token in it, since browsers let nobody set a header there."""


@dataclass(frozen=True, slots=True)
class _Known:
    token: FoundToken
    until_s: float


class Authenticator:
    """Finds principals by their tokens. A valid token is looked up again after a moment, so revoking works."""

    def __init__(self, store: Store, clock: Clock, time: HubTime) -> None:
        self._store = store
        self._clock = clock
        self._time = time
        self._known: dict[str, _Known] = {}

    async def principal(self, authorization: str | None) -> Principal:
        """Return whose an Authorization header is. Raises UNAUTHENTICATED, StoreUnavailableError."""
        scheme, _, secret = (authorization or "").partition(" ")
        secret = secret.strip()
        if scheme.lower() != SCHEME.lower() or not secret:
            raise _unauthenticated("send a token: `Authorization: Bearer hgr_...`")
        sha256 = digest(secret)
        now_s = self._clock.monotonic_s()
        known = self._known.get(sha256)
        if known is None or known.until_s <= now_s:
            known = await self._look_up(sha256, now_s)
        if known.token.expires_us is not None and known.token.expires_us <= self._time.now_us():
            raise _unauthenticated("this token has expired: ask an admin for another")
        return known.token.principal

    def forget(self) -> None:
        """Look every token up again: one was revoked, here or by another hub."""
        self._known.clear()

    async def _look_up(self, sha256: str, now_s: float) -> _Known:
        self._known.pop(sha256, None)
        token = await self._store.read_point(lambda connection: find_token(connection, sha256))
        if token is None:
            raise _unauthenticated("this token is not known here, or was revoked")
        if len(self._known) >= TOKENS_CACHED_MAX:
            self._known.clear()
        is_operator = token.principal.role is Role.OPERATOR
        known = _Known(token, now_s + (OPERATOR_TOKEN_CACHED_S if is_operator else TOKEN_CACHED_S))
        self._known[sha256] = known
        return known


def _unauthenticated(detail: str) -> Problem:
    return Problem(ProblemCode.UNAUTHENTICATED, detail)


def authorization_of(connection: HTTPConnection) -> str | None:
    """Return how a caller says who he is: by a header, or where browsers open a WebSocket, by a subprotocol."""
    header = connection.headers.get("authorization")
    if header is None and (secret := _offered(connection)) is not None:
        return f"{SCHEME} {secret.removeprefix(SUBPROTOCOL)}"
    return header


def subprotocol_of(connection: HTTPConnection) -> str | None:
    """Return the subprotocol that a WebSocket is opened with: one that is no token, where there is one."""
    offered: list[str] = connection.scope.get("subprotocols", [])
    return next((each for each in offered if not each.startswith(SUBPROTOCOL)), _offered(connection))


def _offered(connection: HTTPConnection) -> str | None:
    offered: list[str] = connection.scope.get("subprotocols", [])
    return next((each for each in offered if each.startswith(SUBPROTOCOL)), None)


async def caller(connection: HTTPConnection) -> Principal:
    """Return who sends the request, of whatever role."""
    principal: Principal = await connection.app.state.hub.authenticator.principal(authorization_of(connection))
    return principal


async def viewer(who: Annotated[Principal, Depends(caller)]) -> Principal:
    """Return who sends the request, who may read."""
    require(who, Role.VIEWER)
    return who


async def maintainer(who: Annotated[Principal, Depends(caller)]) -> Principal:
    """Return who sends the request, who may operate."""
    require(who, Role.MAINTAINER)
    return who


async def admin(who: Annotated[Principal, Depends(caller)]) -> Principal:
    """Return who sends the request, who may give access."""
    require(who, Role.ADMIN)
    return who


def operated_cluster(who: Principal) -> str:
    """Return the cluster whose operator somebody is. Raises FORBIDDEN where it is none."""
    require(who, Role.OPERATOR)
    assert who.cluster is not None, "an operator's token has a cluster"
    return who.cluster


Caller = Annotated[Principal, Depends(caller)]
Viewer = Annotated[Principal, Depends(viewer)]
Maintainer = Annotated[Principal, Depends(maintainer)]
Admin = Annotated[Principal, Depends(admin)]

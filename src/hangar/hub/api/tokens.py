"""Routes of tokens, for admins; and whose the caller's own one is, for everybody."""

from fastapi import APIRouter, Depends, Request, Response

from hangar.hub.api.answers import json_response
from hangar.hub.api.authentication import Admin, Caller
from hangar.hub.api.bodies import CreateToken, read_model
from hangar.hub.api.context import hub_of
from hangar.hub.api.openapi import json_body
from hangar.hub.api.queries import PageOf, known_parameters
from hangar.hub.principals import Role
from hangar.hub.usecases.tokens import TokenRequest, create_token, list_tokens, revoke_token
from hangar.wire import shown
from hangar.wire.problems import FieldError, Problem, ProblemCode

router = APIRouter(prefix="/v1", tags=["tokens"], dependencies=[Depends(known_parameters)])


@router.post(
    "/tokens",
    status_code=201,
    summary="Create a token",
    responses={201: {"model": shown.NewToken}},
    openapi_extra=json_body(CreateToken, {}),
)
async def create(request: Request, who: Admin) -> Response:
    """Create a token; its secret is in this answer and nowhere else."""
    hub = hub_of(request)
    asked = await read_model(request, CreateToken)
    if asked.role not in tuple(Role):
        error = FieldError("role", f"{asked.role!r} is no role: there are {', '.join(Role)}")
        raise Problem(ProblemCode.INVALID_VALUE, f"role: {error.message}", (error,))
    wanted = TokenRequest(
        name=asked.name, role=Role(asked.role), cluster=asked.cluster, expires_in_s=asked.expires_in_s
    )
    now_us = hub.time.now_us()
    made = await hub.store.write_async(lambda tx: create_token(tx, who, wanted, now_us))
    return json_response(made, 201, {"Cache-Control": "no-store"})


@router.get("/tokens", summary="List tokens, newest first", responses={200: {"model": shown.Page[shown.Token]}})
async def list_(request: Request, who: Admin, page: PageOf) -> Response:
    """Return a page of tokens, revoked ones too."""
    return json_response(await hub_of(request).store.read_async(lambda c: list_tokens(c, who, page)))


@router.delete("/tokens/{id}", summary="Revoke a token", responses={200: {"model": shown.Token}})
async def revoke(request: Request, who: Admin, id: str) -> Response:  # noqa: A002 - the parameter's name
    """Revoke a token; it stops working within a second."""
    hub = hub_of(request)
    now_us = hub.time.now_us()
    token = await hub.store.write_async(lambda tx: revoke_token(tx, who, id, now_us))
    hub.authenticator.forget()
    return json_response(token)


@router.get("/whoami", summary="Tell whose the token is", responses={200: {"model": shown.Whoami}})
async def whoami(who: Caller) -> Response:
    """Return the principal behind the token that was sent, of whatever role."""
    return json_response(shown.Whoami(name=who.name, role=who.role.value, cluster=who.cluster))

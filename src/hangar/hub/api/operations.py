"""Routes of operations: create, list, get, wait, cancel, and their events."""

import asyncio
from datetime import datetime
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response
from structlog.contextvars import bind_contextvars

from hangar.domain.limits import QUESTION_TIMEOUT_S, WAIT_MAX_S
from hangar.domain.operation import TERMINAL
from hangar.hub import present
from hangar.hub.api.answers import json_response
from hangar.hub.api.authentication import Maintainer, Viewer
from hangar.hub.api.bodies import KEY_HEADER, CreateOperation, read_operation
from hangar.hub.api.context import Hub, hub_of
from hangar.hub.api.openapi import json_body
from hangar.hub.api.queries import PageOf, instant_us, known_parameters
from hangar.hub.ids import question_id
from hangar.hub.principals import Principal
from hangar.hub.store.tx import operation_key, question_key
from hangar.hub.tail import wait_for_change
from hangar.hub.usecases.cancel import cancel
from hangar.hub.usecases.feed import list_operation_events
from hangar.hub.usecases.foresee import ask, offline, read_answer
from hangar.hub.usecases.foresee_workload import foresee_workload
from hangar.hub.usecases.queries import OperationFilters, get_operation, list_operations
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.submit import submit
from hangar.wire import plans, shown

router = APIRouter(prefix="/v1/operations", tags=["operations"], dependencies=[Depends(known_parameters)])


class _Encoded(msgspec.Struct, frozen=True):
    """An operation, ready to be sent to everybody who waits for it."""

    version: int
    is_over: bool
    body: bytes


@router.post(
    "",
    status_code=202,
    summary="Create an operation",
    responses={
        202: {"model": shown.Operation},
        200: {
            "model": shown.Operation | plans.Plan | plans.WorkloadPlan,
            "description": "The key's operation; with dry_run the plan, of which the `type` tells what it is done to",
        },
    },
    openapi_extra=json_body(CreateOperation, {KEY_HEADER: "repeats of a request with one key are one operation"}),
)
async def create(
    request: Request,
    who: Maintainer,
    dry_run: Annotated[bool, Query(description="create nothing: answer 200 with the plan of what it would do")] = False,
) -> Response:
    """Create an operation; the answer is its record, pending."""
    hub = hub_of(request)
    asked, key = await read_operation(request, hub.catalogue)
    if dry_run:
        return json_response(await _plan(request, hub, who, asked))
    rules, now_us = hub.rules(), hub.time.now_us()
    submitted = await hub.store.write_async(lambda tx: submit(tx, who, asked, key, rules, now_us))
    bind_contextvars(operation=submitted.operation.id)
    headers = {"Location": f"/v1/operations/{submitted.operation.id}", "ETag": _etag(submitted.operation.version)}
    if submitted.is_replay:
        return json_response(submitted.operation, 200, headers | {"Idempotent-Replayed": "true"})
    return json_response(submitted.operation, 202, headers)


async def _plan(request: Request, hub: Hub, who: Principal, asked: OperationRequest) -> plans.Plan | plans.WorkloadPlan:
    """Return the plan: of its operator, or what the hub decides itself."""
    entry = hub.catalogue.entries.get(asked.type)
    if entry is None or entry.runs_in != "hub":
        return await _foresee(request, hub, who, asked)
    rules, now_us = hub.rules(), hub.time.now_us()
    return await hub.store.read_async(lambda c: foresee_workload(c, who, asked, rules, now_us))


async def _foresee(request: Request, hub: Hub, who: Principal, asked: OperationRequest) -> plans.Plan:
    """Return the operator's plan. Raises CLUSTER_OFFLINE where it does not come within QUESTION_TIMEOUT_S."""
    rules = hub.rules()
    id_ = question_id(hub.time.now_us(), rules.randbits)
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + QUESTION_TIMEOUT_S
    with hub.tail.watch(question_key(id_)) as changed:
        question = await hub.store.write_async(lambda tx: ask(tx, who, asked, id_, rules, hub.now_us(tx)))
        while True:
            changed.clear()
            plan = await hub.store.read_point(lambda c: read_answer(c, question, hub.time.now_us()))
            if plan is not None:
                return plan
            left_s = ends_s - now_s()
            if left_s <= 0 or hub.tail.is_closing or not await wait_for_change(request, changed, left_s):
                raise offline(question.cluster, f"has not answered within {QUESTION_TIMEOUT_S:g} s")


@router.get("", summary="List operations, newest first", responses={200: {"model": shown.Page[shown.Operation]}})
async def list_(
    request: Request,
    _who: Viewer,
    page: PageOf,
    type: Annotated[str | None, Query(description="only of this type")] = None,  # noqa: A002 - the filter's name
    phase: Annotated[str | None, Query(description="only in this phase")] = None,
    target: Annotated[str | None, Query(description="only on this target, by its bare name")] = None,
    cluster: Annotated[str | None, Query(description="only in this cluster")] = None,
    created_by: Annotated[str | None, Query(description="only those that this principal asked for")] = None,
    since: Annotated[datetime | None, Query(description="only those created then or later")] = None,
    until: Annotated[datetime | None, Query(description="only those created before")] = None,
) -> Response:
    """Return a page of operations."""
    hub = hub_of(request)
    filters = OperationFilters(
        type=type,
        phase=phase,
        target=target,
        cluster=cluster,
        created_by=created_by,
        since_us=instant_us(since, "since"),
        until_us=instant_us(until, "until"),
    )
    rules = hub.rules()
    return json_response(await hub.store.read_async(lambda c: list_operations(c, filters, page, rules)))


@router.get("/{id}", summary="Get an operation", responses={200: {"model": shown.Operation}, 304: {}})
async def get(request: Request, _who: Viewer, id: str) -> Response:  # noqa: A002 - the parameter's name
    """Return an operation; 304 where If-None-Match names its version."""
    bind_contextvars(operation=id)
    encoded = await _encoded(hub_of(request), id)
    if _matches(request.headers.get("if-none-match"), encoded.version):
        return Response(status_code=304, headers={"ETag": _etag(encoded.version)})
    return _answer(encoded)


@router.get("/{id}/wait", summary="Wait for an operation to change", responses={200: {"model": shown.Operation}})
async def wait(
    request: Request,
    _who: Viewer,
    id: str,  # noqa: A002 - the parameter's name
    timeout: Annotated[  # noqa: ASYNC109 - it is the caller's
        float, Query(ge=0, le=WAIT_MAX_S, description="how long to wait, in seconds")
    ] = WAIT_MAX_S,
    after_version: Annotated[
        int | None, Query(ge=0, lt=1 << 63, description="answer when the version is above this; else at its end")
    ] = None,
) -> Response:
    """Return an operation as soon as it is over or its version is above `after_version`, or as it is in the end."""
    bind_contextvars(operation=id)
    hub = hub_of(request)
    now_s = asyncio.get_running_loop().time
    ends_s = now_s() + timeout
    key = operation_key(id)
    with hub.tail.watch(key) as changed:
        while True:
            changed.clear()
            encoded = await hub.tail.shared(key, lambda: _encoded(hub, id))
            is_news = after_version is not None and encoded.version > after_version
            left_s = ends_s - now_s()
            if encoded.is_over or is_news or left_s <= 0 or hub.tail.is_closing:
                return _answer(encoded)
            if not await wait_for_change(request, changed, left_s):
                return Response(status_code=204)  # nobody is there to read it


@router.post(
    "/{id}:cancel",
    summary="Cancel an operation",
    responses={200: {"model": shown.Operation}, 202: {"model": shown.Operation, "description": "Its operator is told"}},
)
async def cancel_(request: Request, who: Maintainer, id: str) -> Response:  # noqa: A002 - the parameter's name
    """Cancel an operation: at once where it waits, by its operator where it runs."""
    bind_contextvars(operation=id)
    hub = hub_of(request)
    rules, now_us = hub.rules(), hub.time.now_us()
    operation = await hub.store.write_async(lambda tx: cancel(tx, who, id, rules, now_us))
    status = 200 if operation.phase in TERMINAL else 202
    return json_response(operation, status, {"ETag": _etag(operation.version)})


@router.get(
    "/{id}/events",
    summary="List an operation's events, oldest first",
    responses={200: {"model": shown.Page[shown.Event]}},
)
async def events(request: Request, _who: Viewer, id: str, page: PageOf) -> Response:  # noqa: A002 - its name
    """Return a page of what happened to an operation."""
    bind_contextvars(operation=id)
    hub = hub_of(request)
    return json_response(await hub.store.read_async(lambda c: list_operation_events(c, id, page)))


async def _encoded(hub: Hub, id_: str) -> _Encoded:
    record = await hub.store.read_point(lambda connection: get_operation(connection, id_))
    body = msgspec.json.encode(present.operation(record))
    return _Encoded(version=record.version, is_over=record.phase in TERMINAL, body=body)


def _answer(encoded: _Encoded) -> Response:
    return Response(encoded.body, headers={"ETag": _etag(encoded.version)}, media_type="application/json")


def _etag(version: int) -> str:
    return f'"{version}"'


def _matches(if_none_match: str | None, version: int) -> bool:
    if if_none_match is None:
        return False
    tags = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return "*" in tags or _etag(version) in tags

"""Routes of the operators: the cluster comes from the token.

They are plain routes: a thousand idle operators ask 333 times a second, and FastAPI's way to a handler costs more than
what the handler does. Nor are they in the OpenAPI document: the operators' protocol is versioned by itself.
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from structlog.contextvars import bind_contextvars

from hangar.hub.api.answers import json_response
from hangar.hub.api.authentication import operated_cluster
from hangar.hub.api.bodies import read_struct
from hangar.hub.api.context import Hub, hub_of
from hangar.hub.api.queries import no_parameters
from hangar.hub.store.tx import cluster_key
from hangar.hub.tail import wait_for_change
from hangar.hub.usecases.inventory import inventory
from hangar.hub.usecases.open_session import open_session
from hangar.hub.usecases.release_session import release_session
from hangar.hub.usecases.renew import Renewal, answer_if_online
from hangar.hub.usecases.report import report
from hangar.hub.usecases.sync import read_jobs, sync
from hangar.wire.operator import (
    InventoryRequest,
    ReleaseRequest,
    ReportRequest,
    SessionRequest,
    SyncAnswer,
    SyncRequest,
)
from hangar.wire.problems import Problem

Handler: TypeAlias = Callable[[Request, Hub, str], Awaitable[Response]]


async def _session(request: Request, hub: Hub, cluster: str) -> Response:
    """Ask for the right to act."""
    asked = await read_struct(request, SessionRequest)
    answer = await hub.store.write_async(lambda tx: open_session(tx, cluster, asked, hub.rules(), hub.now_us(tx)))
    if isinstance(answer, Problem):
        request.state.is_routine = True  # a standby asks every other second, and its event is in the log
        raise answer
    return json_response(answer)


async def _release(request: Request, hub: Hub, cluster: str) -> Response:
    """Give the right to act back."""
    asked = await read_struct(request, ReleaseRequest)
    await hub.store.write_async(lambda tx: release_session(tx, cluster, asked, hub.now_us(tx)))
    return Response(status_code=204)


async def _sync(request: Request, hub: Hub, cluster: str) -> Response:
    """Renew the lease, and fetch all open operations: at once when they changed, else when they do or time is over."""
    asked = await read_struct(request, SyncRequest)
    wait_s = min(asked.wait_s, hub.settings.sync_wait_s)
    with hub.tail.watch(cluster_key(cluster)) as changed:
        answer = await _heard(hub, cluster, asked)
        if answer.seen != asked.seen or wait_s <= 0 or hub.tail.is_closing:
            return json_response(answer)
        if not await wait_for_change(request, changed, wait_s):
            return Response(status_code=204)  # nobody is there to read it
        if not answer.jobs and not changed.is_set():
            return json_response(answer)  # nothing was there, and nothing came
        now_us = hub.time.now_us()
        return json_response(await hub.store.read_point(lambda c: read_jobs(c, cluster, asked, now_us)))


async def _heard(hub: Hub, cluster: str, asked: SyncRequest) -> SyncAnswer:
    """Renew the lease: together with others where that is all there is to write, else in a transaction of its own."""
    now_us = hub.time.now_us()
    answer = await hub.store.read_point(lambda connection: answer_if_online(connection, cluster, asked, now_us))
    if answer is not None and await hub.leases.renew(Renewal(cluster, asked.session, asked.epoch)):
        return answer
    return await hub.store.write_async(lambda tx: sync(tx, cluster, asked, hub.now_us(tx)))


async def _report(request: Request, hub: Hub, cluster: str) -> Response:
    """Say what became of operations."""
    asked = await read_struct(request, ReportRequest)
    return json_response(await hub.store.write_async(lambda tx: report(tx, cluster, asked, hub.now_us(tx))))


async def _inventory(request: Request, hub: Hub, cluster: str) -> Response:
    """Say what the nodes look like."""
    asked = await read_struct(request, InventoryRequest)
    return json_response(
        await hub.store.write_async(lambda tx: inventory(tx, cluster, asked, hub.rules(), hub.now_us(tx)))
    )


def _route(name: str, handler: Handler) -> Route:
    async def endpoint(request: Request) -> Response:
        request.scope["route"] = route  # by which requests are counted; FastAPI notes it for its own routes only
        hub = hub_of(request)
        cluster = operated_cluster(await hub.authenticator.principal(request.headers.get("authorization")))
        bind_contextvars(cluster=cluster)
        no_parameters(request)
        return await handler(request, hub, cluster)

    route = Route(f"/v1/operator/{name}", endpoint, methods=["POST"])
    return route


router = Router(
    [
        _route("sync", _sync),
        _route("report", _report),
        _route("inventory", _inventory),
        _route("session", _session),
        _route("session:release", _release),
    ]
)

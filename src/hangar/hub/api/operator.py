"""Routes of the operators: the cluster comes from the token."""

from fastapi import APIRouter, Depends, Request, Response

from hangar.hub.api.answers import json_response
from hangar.hub.api.authentication import OperatedCluster
from hangar.hub.api.bodies import read_struct
from hangar.hub.api.context import Hub, hub_of
from hangar.hub.api.queries import known_parameters
from hangar.hub.store.tx import Tx, cluster_key
from hangar.hub.tail import wait_for_change
from hangar.hub.usecases.inventory import inventory
from hangar.hub.usecases.open_session import open_session
from hangar.hub.usecases.release_session import release_session
from hangar.hub.usecases.renew import Renewal, answer_if_fresh, renew_leases
from hangar.hub.usecases.report import report
from hangar.hub.usecases.sync import read_jobs, sync
from hangar.wire.operator import (
    InventoryRequest,
    ReleaseRequest,
    ReportRequest,
    SessionGrant,
    SessionRequest,
    SyncAnswer,
    SyncRequest,
)
from hangar.wire.problems import Problem

router = APIRouter(
    prefix="/v1/operator", include_in_schema=False, dependencies=[Depends(known_parameters)]
)  # not in the schema: the operators' protocol is versioned by itself


@router.post("/session")
async def session_(request: Request, cluster: OperatedCluster) -> Response:
    """Ask for the right to act."""
    hub = hub_of(request)
    asked = await read_struct(request, SessionRequest)
    rules, now_us = hub.rules(), hub.time.now_us()
    renewal = hub.leases.of(cluster)

    def run(tx: Tx) -> SessionGrant | Problem:
        renew_leases(tx, [] if renewal is None else [renewal])
        return open_session(tx, cluster, asked, rules, now_us)

    answer = await hub.store.write_async(run)
    if isinstance(answer, Problem):
        raise answer
    return json_response(answer)


@router.post("/session:release")
async def release_(request: Request, cluster: OperatedCluster) -> Response:
    """Give the right to act back."""
    hub = hub_of(request)
    asked = await read_struct(request, ReleaseRequest)
    now_us = hub.time.now_us()
    await hub.store.write_async(lambda tx: release_session(tx, cluster, asked, now_us))
    return Response(status_code=204)


@router.post("/sync")
async def sync_(request: Request, cluster: OperatedCluster) -> Response:
    """Renew the lease, and fetch all open operations: at once when they changed, else when they do or time is over."""
    hub = hub_of(request)
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
        return json_response(hub.store.read(lambda connection: read_jobs(connection, cluster, asked, now_us)))


async def _heard(hub: Hub, cluster: str, asked: SyncRequest) -> SyncAnswer:
    """Renew the lease: in a transaction where it matters at once, else with others by the next sweep."""
    rules, now_us = hub.rules(), hub.time.now_us()
    known = hub.leases.of(cluster)
    answer = hub.store.read(lambda connection: answer_if_fresh(connection, cluster, asked, known, rules, now_us))
    if answer is None:
        return await hub.store.write_async(lambda tx: sync(tx, cluster, asked, now_us))
    hub.leases.keep(Renewal(cluster, asked.session, asked.epoch, now_us))
    return answer


@router.post("/report")
async def report_(request: Request, cluster: OperatedCluster) -> Response:
    """Say what became of operations."""
    hub = hub_of(request)
    asked = await read_struct(request, ReportRequest)
    now_us = hub.time.now_us()
    return json_response(await hub.store.write_async(lambda tx: report(tx, cluster, asked, now_us)))


@router.post("/inventory")
async def inventory_(request: Request, cluster: OperatedCluster) -> Response:
    """Say what the nodes look like."""
    hub = hub_of(request)
    asked = await read_struct(request, InventoryRequest)
    now_us = hub.time.now_us()
    return json_response(await hub.store.write_async(lambda tx: inventory(tx, cluster, asked, now_us)))

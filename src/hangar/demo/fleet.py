"""The fleet in one process: the real hub and real operators over real HTTP, on simulated clusters."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from hangar.clock import Clock, from_us
from hangar.demo.scenario import ClusterScenario, Scenario
from hangar.domain.view import ClusterSettings
from hangar.hub.app import create_app
from hangar.hub.principals import Principal, Role
from hangar.hub.serving import serve
from hangar.hub.settings import HubSettings
from hangar.hub.store.store import Store
from hangar.hub.store.tx import Committed, Tx
from hangar.hub.usecases.fleet import list_clusters
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.projects import apply_project
from hangar.hub.usecases.show_workloads import WorkloadFilters, list_workloads
from hangar.hub.usecases.tokens import TokenRequest, create_token
from hangar.hub.usecases.workloads import apply_workload
from hangar.kinds import KINDS
from hangar.operator.channel import HttpChannel
from hangar.operator.cluster.simulated.adapter import SimulatedCluster
from hangar.operator.conductor import Conductor
from hangar.operator.loop import Operator
from hangar.operator.session import session_request

READY_WITHIN_S = 30.0
"""All nodes are in the hub by then; it takes a second."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """A running fleet: where its hub is, and a token to come in with."""

    server: str
    admin_token: str
    node_count: int
    cluster_count: int


@asynccontextmanager
async def running(scenario: Scenario, folder: Path, clock: Clock, port: int) -> AsyncIterator[Fleet]:
    """Run a fleet until the block ends; its record is kept in `folder`. Raises OSError, TimeoutError."""
    store = Store.open(folder / "hub.db")
    try:
        admin = _token(store, clock, TokenRequest(name="admin", role=Role.ADMIN))
        async with serve(create_app(store, clock, HubSettings()), "127.0.0.1", port) as bound:
            server = f"http://127.0.0.1:{bound}"
            async with asyncio.TaskGroup() as tasks:
                operators = [
                    tasks.create_task(_operate(each, server, _operator_token(store, clock, each.name), clock))
                    for each in scenario.clusters
                ]
                count = sum(len(each.nodes) for each in scenario.clusters)
                async with asyncio.timeout(READY_WITHIN_S):
                    await _until(store, lambda: _nodes_told(store) == count)
                    await _serve_workloads(store, scenario, clock)
                yield Fleet(server, admin, count, len(scenario.clusters))
                for each in operators:
                    each.cancel()
    finally:
        store.close()


async def _operate(scenario: ClusterScenario, server: str, token: str, clock: Clock) -> None:
    cluster = SimulatedCluster(scenario.build(from_us(clock.now_us())), clock)
    channel = HttpChannel(server, token)
    try:
        request = session_request(await cluster.identity(), scenario.allowed)
        conductor = Conductor(KINDS, scenario.allowed, ClusterSettings())
        await Operator(cluster, channel, conductor, request, clock).run()
    finally:
        await channel.close()


async def _until(store: Store, is_so: Callable[[], bool]) -> None:
    """Wait until something is so in the store, looking after each commit."""
    loop, committed = asyncio.get_running_loop(), asyncio.Event()

    def wake(_: Committed) -> None:
        loop.call_soon_threadsafe(committed.set)

    store.on_commit(wake)
    while not is_so():
        await committed.wait()
        committed.clear()


def _nodes_told(store: Store) -> int:
    clusters = store.read(lambda connection: list_clusters(connection, PageRequest()))
    return sum(each.nodes for each in clusters.items)


async def _serve_workloads(store: Store, scenario: Scenario, clock: Clock) -> None:
    """Add projects and workloads, and wait until every graph carries what is wanted of it: all that runs is adopted."""

    def declare(tx: Tx) -> None:
        who, now_us = Principal("admin", Role.ADMIN), clock.now_us()
        for project, quotas in scenario.projects.items():
            apply_project(tx, who, project, quotas, now_us)
        for name, request in scenario.workloads.items():
            apply_workload(tx, who, name, request, now_us)

    await store.write_async(declare)
    await _until(store, lambda: _are_settled(store))


def _are_settled(store: Store) -> bool:
    found = store.read(lambda connection: list_workloads(connection, WorkloadFilters(), PageRequest()))
    return all(each.state == "running" for each in found.items)


def _operator_token(store: Store, clock: Clock, cluster: str) -> str:
    return _token(store, clock, TokenRequest(name=f"{cluster}-operator", role=Role.OPERATOR, cluster=cluster))


def _token(store: Store, clock: Clock, request: TokenRequest) -> str:
    return store.write(lambda tx: create_token(tx, None, request, clock.now_us())).secret

"""A real operator on a simulated cluster, for what lies between a request and what is done about it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.load import Connection
from hangar.clock import SystemClock, from_us
from hangar.domain.decision import Accepted, Answer, Step
from hangar.domain.view import ClusterSettings
from hangar.kinds import KINDS
from hangar.operator.channel import HttpChannel
from hangar.operator.cluster.port import Gate
from hangar.operator.cluster.simulated.adapter import SimulatedCluster
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, PodTemplate, WorkloadSpec
from hangar.operator.cluster.simulated.world import World
from hangar.operator.conductor import Conductor
from hangar.operator.loop import Operator
from hangar.operator.session import session_request

ALLOWED = frozenset({"cordon", "drain"})
PODS_A_NODE = 30
SPARES = 4
DRAINED_S = 1.0
"""How long a drain goes on before it is cancelled: its budget lets it take far longer."""


class Watched(SimulatedCluster):
    """A simulated cluster that notes when it last did something for its operator."""

    acted_at_s = 0.0

    async def perform(self, step: Step, gate: Gate) -> Answer:
        """Take a step."""
        answer = await super().perform(step, gate)
        if isinstance(answer, Accepted):
            self.acted_at_s = time.perf_counter()
        return answer


async def operated(port: int, admin: str, token: str, cluster: str, rounds: int) -> tuple[list[float], list[float]]:
    """Drain nodes and cancel it; return how long each took from asked to running, and from cancelled to the last act.

    Both in seconds.
    """
    started_s, acted_s = [], []
    hub = Connection(port, admin)
    async with _operating(port, token, cluster, rounds) as watched:
        await _told(hub, cluster, rounds + SPARES)
        for number in range(rounds):
            body = {"type": "node.drain", "target": f"{cluster}/full-{number}"}
            asked_at_s = time.perf_counter()
            created = (await hub.ask("POST", "/v1/operations", body)).json()
            document = created
            while document["phase"] == "pending":
                path = f"/v1/operations/{created['id']}/wait?after_version={document['version']}"
                document = (await hub.ask("GET", path)).json()
            started_s.append(time.perf_counter() - asked_at_s)
            await asyncio.sleep(DRAINED_S)
            cancelled_at_s = time.perf_counter()
            await hub.ask("POST", f"/v1/operations/{created['id']}:cancel")
            ended = (await hub.ask("GET", f"/v1/operations/{created['id']}/wait")).json()
            if ended["phase"] != "cancelled":
                raise RuntimeError(f"not the drain that was to be cancelled: {ended}")
            acted_s.append(max(0.0, watched.acted_at_s - cancelled_at_s))
    await hub.close()
    return started_s, acted_s


async def _told(hub: Connection, cluster: str, nodes: int) -> None:
    """Return when the hub knows all nodes."""
    while True:
        page = (await hub.ask("GET", f"/v1/nodes?cluster={cluster}")).json()
        if len(page["items"]) == nodes:
            return
        await asyncio.sleep(0.1)


@asynccontextmanager
async def _operating(port: int, token: str, cluster: str, rounds: int) -> AsyncIterator[Watched]:
    clock = SystemClock()
    watched = Watched(_world(cluster, rounds, clock), clock)
    channel = HttpChannel(f"http://127.0.0.1:{port}", token)
    request = session_request(await watched.identity(), ALLOWED)
    operator = Operator(watched, channel, Conductor(KINDS, ALLOWED, ClusterSettings()), request, clock)
    running = asyncio.create_task(operator.run())
    try:
        yield watched
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await channel.close()


def _world(cluster: str, rounds: int, clock: SystemClock) -> World:
    world = World(from_us(clock.now_us()), uid=f"{cluster}-uid")
    for number in range(rounds):
        world.add_node(NodeSpec(f"full-{number}"))
    for number in range(SPARES):
        world.add_node(NodeSpec(f"spare-{number}"))
    for number in range(rounds):
        template = PodTemplate(requests={"cpu": 1000}, labels={"app": f"app-{number}"}, ready_after_s=0.1)
        pinned = (f"full-{number}",) * PODS_A_NODE
        world.add_workload(WorkloadSpec("Deployment", f"app-{number}", PODS_A_NODE, template, pinned=pinned))
        world.add_budget(BudgetSpec(f"app-{number}", {"app": f"app-{number}"}, max_unavailable=1))
    return world

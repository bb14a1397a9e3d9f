"""Whoever hears that an operation is over finds its node in the hub as the operation left it."""

import asyncio
import random

import pytest
from sqlalchemy import select

from hangar.domain.view import ClusterSettings
from hangar.hub.store.tables import nodes, operations
from hangar.hub.store.tx import Committed
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.submit import submit
from hangar.kinds import KINDS
from hangar.operator.cluster.port import Identity
from hangar.operator.conductor import Conductor
from hangar.operator.loop import Operator
from hangar.operator.session import session_request
from hangar.wire.operator import InventoryAnswer, InventoryRequest
from tests.simulation.faulty import FaultyCluster, LiveWorld, Trouble
from tests.simulation.fleet import a_world
from tests.simulation.net import SimulatedChannel, SimulatedHub, Weather
from tests.simulation.solo import ALL
from tests.virtual_loop import LoopClock, pass_time, run_virtual


class SlowToTell(SimulatedChannel):
    """A channel on which reports overtake inventories."""

    async def inventory(self, request: InventoryRequest) -> InventoryAnswer:
        """Say what the nodes look like, a second late."""
        await pass_time(1.0)
        return await super().inventory(request)


async def _cordoned_at_the_end(kind: str, *, was_cordoned: bool) -> list[bool]:
    """Run one operation on n1; return what the hub says of n1's cordon in the very commit that ends it."""
    dice = random.Random(1)
    hub = SimulatedHub(dice.getrandbits)
    hub.add_cluster("c0")
    live = LiveWorld(a_world())
    live.world.now = live.now()
    if was_cordoned:
        live.world.cordon_by_hand("n1")
    channel = SlowToTell(hub, "c0", Weather(), dice)
    operator = Operator(
        FaultyCluster(live, Trouble(), dice),
        channel,
        Conductor(KINDS, ALL, ClusterSettings()),
        session_request(Identity(live.world.uid, "simulated"), ALL),
        LoopClock(),
    )
    seen: list[bool] = []

    def look(_: Committed) -> None:
        over = select(nodes.c.cordoned).join(operations, operations.c.target == nodes.c.name)
        over = over.where(operations.c.phase == "succeeded")
        seen.extend(row.cordoned for row in hub.store.read(lambda connection: connection.execute(over).all()))

    tasks = [asyncio.create_task(live.live()), asyncio.create_task(operator.run())]
    await pass_time(5.0)
    hub.store.on_commit(look)
    request = OperationRequest(type=kind, target="n1", cluster="c0", params={}, reason=None)
    hub.do(lambda tx: submit(tx, hub.admin, request, None, hub.rules, hub.now_us()))
    await pass_time(20.0)
    for task in tasks:
        task.cancel()
    return seen[:1]


@pytest.mark.parametrize(
    ("kind", "was_cordoned", "is_cordoned"),
    [("node.uncordon", True, False), ("node.cordon", False, True), ("node.drain", False, True)],
)
def test_the_node_is_told_before_the_end(kind: str, was_cordoned: bool, is_cordoned: bool) -> None:
    assert run_virtual(_cordoned_at_the_end(kind, was_cordoned=was_cordoned)) == [is_cordoned]

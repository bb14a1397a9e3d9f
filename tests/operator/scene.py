"""One operator between a hub and a cluster that a test has in its hands, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from hangar.domain.decision import Evict
from hangar.domain.view import ClusterSettings
from hangar.kinds import KINDS
from hangar.operator.cluster.port import Identity
from hangar.operator.cluster.simulated.world import World
from hangar.operator.conductor import Conductor
from hangar.operator.loop import Operator
from hangar.operator.session import session_request
from tests.operator.fake_hub import FakeHub, Stumbling
from tests.simulation.fleet import a_world, an_app
from tests.virtual_loop import NOON, LoopClock, run_virtual

ALLOWED = frozenset({"cordon", "drain", "scale", "deploy"})


def an_operator(hub: FakeHub, cluster: Stumbling) -> Operator:
    """Return an operator that has not begun."""
    request = session_request(Identity(cluster.world.uid, "v1"), ALLOWED)
    return Operator(cluster, hub, Conductor(KINDS, ALLOWED, ClusterSettings()), request, LoopClock())


def a_cluster() -> Stumbling:
    """Return a cluster of three nodes at noon."""
    world = a_world()
    world.now = NOON
    return Stumbling(world)


@dataclass
class Scene:
    """One operator between a hub and a cluster of three nodes, with two pods of api on n1."""

    hub: FakeHub
    cluster: Stumbling
    operator: Operator
    task: asyncio.Task[None]

    @property
    def world(self) -> World:
        """Return what the cluster truly is."""
        return self.cluster.world

    def evictions(self) -> list[float]:
        """Return when each eviction left."""
        return [at for at, step in self.cluster.sent if isinstance(step, Evict)]

    def stop(self) -> None:
        """Do what SIGTERM does."""
        self.task.cancel()


@asynccontextmanager
async def a_scene(prepare: Callable[[FakeHub, Stumbling], None] = lambda hub, cluster: None) -> AsyncIterator[Scene]:
    """Run an operator while a test goes on."""
    hub, cluster = FakeHub(), a_cluster()
    cluster.world.add_workload(an_app(2, on=("n1", "n1")))
    prepare(hub, cluster)
    operator = an_operator(hub, cluster)
    task = asyncio.create_task(operator.run())
    try:
        yield Scene(hub, cluster, operator, task)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def played(
    play: Callable[[Scene], Awaitable[None]], prepare: Callable[[FakeHub, Stumbling], None] | None = None
) -> None:
    """Play a scene to its end in virtual time."""

    async def main() -> None:
        async with a_scene(prepare or (lambda hub, cluster: hub.submit("node.drain"))) as scene:
            await play(scene)

    run_virtual(main())

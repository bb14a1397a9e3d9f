"""The simulated cluster as a stage, in virtual time."""

import asyncio
from contextlib import suppress

from hangar.clock import from_us
from hangar.domain.snapshot import PodRef
from hangar.operator.cluster.simulated.adapter import SimulatedCluster
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, PodTemplate, WorkloadSpec
from hangar.operator.cluster.simulated.world import World
from tests.contracts.cluster_stage import Scene
from tests.virtual_loop import LoopClock, run_virtual


class SimulatedStage:
    """One world, brought to the present before anybody changes it."""

    def __init__(self) -> None:
        clock = LoopClock()
        self._world = World(from_us(clock.now_us()))
        self._simulated = SimulatedCluster(self._world, clock)
        self.cluster = self._simulated
        self.changed = asyncio.Event()

    async def add_node(self, spec: NodeSpec) -> None:
        self._simulated.touch()
        self._world.add_node(spec)

    async def replace_node(self, spec: NodeSpec) -> None:
        self._simulated.touch()
        self._world.remove_node(spec.name)
        self._world.add_node(spec)

    async def cordon_by_hand(self, name: str, manager: str, *, on: bool = True) -> None:
        self._simulated.touch()
        self._world.cordon_by_hand(name, manager, on=on)

    async def add_workload(self, spec: WorkloadSpec) -> None:
        self._simulated.touch()
        self._world.add_workload(spec)

    async def add_bare_pod(self, name: str, node: str, template: PodTemplate) -> None:
        self._simulated.touch()
        self._world.add_bare_pod(name, node, template)

    async def add_budget(self, spec: BudgetSpec) -> None:
        self._simulated.touch()
        self._world.add_budget(spec)

    async def scale(self, kind: str, name: str, replicas: int) -> None:
        self._simulated.touch()
        (workload,) = (
            each for each in self._world.workloads.values() if (each.spec.kind, each.spec.name) == (kind, name)
        )
        self._world.scale(workload.top.uid, replicas)

    async def remove_pod(self, pod: PodRef) -> None:
        self._simulated.touch()
        self._world.remove_pod(pod.uid)


def play(scene: Scene) -> None:
    """Play one scene on a new world."""

    async def main() -> None:
        stage = SimulatedStage()
        living = asyncio.create_task(stage.cluster.run(stage.changed))
        try:
            await scene(stage)
        finally:
            living.cancel()
            with suppress(asyncio.CancelledError):
                await living

    run_virtual(main())

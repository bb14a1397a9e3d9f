"""The simulated cluster as a stage, in virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from hangar.clock import from_us
from hangar.domain.snapshot import PodRef
from hangar.domain.workloads.graph import GraphRef
from hangar.operator.cluster.simulated.adapter import SimulatedCluster
from hangar.operator.cluster.simulated.spec import (
    BudgetSpec,
    ClaimSpec,
    GraphSpec,
    NodeSpec,
    PodTemplate,
    QuotaSpec,
    VolumeSpec,
    WebhookSpec,
    WorkloadSpec,
)
from hangar.operator.cluster.simulated.world import QUARANTINE_S, World
from testbed.dynamo_crds import Version
from tests.virtual_loop import LoopClock, run_virtual


class SimulatedStage:
    """One world, brought to the present before anybody changes it."""

    def __init__(self) -> None:
        clock = LoopClock()
        self._world = World(from_us(clock.now_us()))
        self._simulated = SimulatedCluster(self._world, clock)
        self.cluster = self._simulated
        self.changed = asyncio.Event()
        self.version: Version = "v1beta1"

    async def add_node(self, spec: NodeSpec) -> None:
        self._simulated.touch()
        self._world.add_node(spec)

    async def replace_node(self, spec: NodeSpec) -> None:
        self._simulated.touch()
        self._world.remove_node(spec.name, quarantine_s=QUARANTINE_S)
        self._world.add_node(spec)

    async def cordon_by_hand(self, name: str, manager: str, *, on: bool = True) -> None:
        self._simulated.touch()
        self._world.cordon_by_hand(name, manager, on=on)

    async def add_workload(self, spec: WorkloadSpec) -> None:
        self._simulated.touch()
        self._world.add_workload(spec)

    async def add_bare_pod(self, name: str, node: str, template: PodTemplate, namespace: str = "default") -> None:
        self._simulated.touch()
        self._world.add_bare_pod(name, node, template, namespace)

    async def add_budget(self, spec: BudgetSpec) -> None:
        self._simulated.touch()
        self._world.add_budget(spec)

    async def add_quota(self, spec: QuotaSpec) -> None:
        self._simulated.touch()
        self._world.add_quota(spec)

    async def add_volume(self, spec: VolumeSpec) -> None:
        self._simulated.touch()
        self._world.add_volume(spec)

    async def add_claim(self, spec: ClaimSpec) -> None:
        self._simulated.touch()
        self._world.add_claim(spec)

    async def add_webhook(self, spec: WebhookSpec, pod: PodRef) -> None:
        self._world.webhooks.add(spec)

    async def remove_webhook(self, name: str) -> None:
        self._world.webhooks.drop(name)

    async def remove_namespace(self, name: str) -> None:
        self._simulated.touch()
        self._world.remove_namespace(name)

    async def silence(self, node: str) -> None:
        self._simulated.touch()
        self._world.silence(node, noticed_after_s=0.0)

    async def hear(self, node: str) -> None:
        self._simulated.touch()
        self._world.hear(node)

    async def crash(self, pod: PodRef, reason: str, message: str) -> None:
        self._simulated.touch()
        self._world.crash(pod.uid, f"main: {reason}: {message}")

    async def scale(self, kind: str, name: str, replicas: int) -> None:
        self._simulated.touch()
        (workload,) = (
            each for each in self._world.workloads.values() if (each.spec.kind, each.spec.name) == (kind, name)
        )
        self._world.scale(workload.top.uid, replicas)

    async def remove_pod(self, pod: PodRef) -> None:
        self._simulated.touch()
        self._world.remove_pod(pod.uid)

    async def add_graph(self, spec: GraphSpec) -> None:
        self._simulated.touch()
        self._world.add_graph(spec)

    async def remove_graph(self, ref: GraphRef) -> None:
        self._simulated.touch()
        self._world.remove_graph(ref)

    async def scale_graph_by_hand(self, ref: GraphRef, component: str, replicas: int, manager: str) -> None:
        self._simulated.touch()
        self._world.scale_graph_by_hand(ref, component, replicas, manager)

    async def pause_graph_by_hand(self, ref: GraphRef) -> None:
        self._simulated.touch()
        self._world.pause_graph_by_hand(ref)

    async def add_namespace(self, name: str) -> None:
        """Do nothing: every namespace is there."""

    async def let_operate(self) -> None:
        """Do nothing: the graphs' operator always works."""

    async def scale_adapter_by_hand(self, ref: GraphRef, component: str, replicas: int, manager: str) -> None:
        self._simulated.touch()
        self._world.scale_graph_by_hand(ref, component, replicas, manager)

    async def remove_adapter(self, ref: GraphRef, component: str) -> None:
        self._simulated.touch()
        self._world.remove_adapter(ref, component)


def play(scene: Callable[["SimulatedStage"], Awaitable[None]]) -> None:
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

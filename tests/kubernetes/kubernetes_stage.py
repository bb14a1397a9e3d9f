"""A real cluster as a stage: what scenes declare becomes manifests, and kwok's annotations say how long things take."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from hangar.clock import SystemClock
from hangar.domain.snapshot import PodRef
from hangar.operator.cluster.kubernetes.adapter import KubernetesCluster
from hangar.operator.cluster.kubernetes.connect import load
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, PodTemplate, WorkloadSpec
from testbed import manifests
from testbed.bed import Bed
from testbed.kube import until
from tests.contracts.cluster_stage import Scene

MERGE_PATCH = "application/merge-patch+json"


class KubernetesStage:
    """One bed with the real adapter on it, as the user of a kubeconfig."""

    def __init__(self, bed: Bed, kubeconfig: Path) -> None:
        self.bed = bed
        self.kubernetes = KubernetesCluster(load(kubeconfig), SystemClock())
        self.cluster = self.kubernetes
        self.changed = asyncio.Event()

    def read(self) -> None:
        """Begin to keep the snapshot fresh."""
        self._reading = asyncio.create_task(self.kubernetes.run(self.changed))

    async def stop_reading(self) -> None:
        """Close all watches; the snapshot stays as it was last seen."""
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading

    async def create(self, document: dict[str, Any]) -> None:
        await asyncio.to_thread(self.bed.kube.create, document)

    async def add_node(self, spec: NodeSpec) -> None:
        await self.create(_node(spec))

    async def replace_node(self, spec: NodeSpec) -> None:
        kube = self.bed.kube
        await asyncio.to_thread(kube.delete, "Node", spec.name)
        await asyncio.to_thread(until, "the node is gone", lambda: kube.get("Node", spec.name) is None)
        await self.create(_node(spec))

    async def cordon_by_hand(self, name: str, manager: str, *, on: bool = True) -> None:
        path = f"/api/v1/nodes/{name}?fieldManager={manager}"
        patch = {"spec": {"unschedulable": True if on else None}}
        await asyncio.to_thread(self.bed.kube.call, "PATCH", path, patch, MERGE_PATCH)

    async def add_workload(self, spec: WorkloadSpec) -> None:
        template = _template(spec.template)
        match spec.kind:
            case "Deployment":
                document = manifests.deployment(spec.name, spec.replicas, template)
            case "StatefulSet":
                document = manifests.statefulset(spec.name, spec.replicas, template)
            case "DaemonSet":
                document = manifests.daemonset(spec.name, template)
            case "Job":
                document = manifests.job(spec.name, spec.replicas, spec.replicas, template)
            case _:
                raise ValueError(f"no such workload on the bed: {spec.kind}")
        await self.create(document)

    async def add_bare_pod(self, name: str, node: str, template: PodTemplate) -> None:
        await self.create(manifests.pod(name, _template(template), on=node))

    async def add_budget(self, spec: BudgetSpec) -> None:
        await self.create(
            manifests.budget(
                spec.name,
                selector={"matchLabels": dict(spec.selector)},
                min_available=spec.min_available,
                max_unavailable=spec.max_unavailable,
            )
        )

    async def scale(self, kind: str, name: str, replicas: int) -> None:
        await asyncio.to_thread(self.bed.kube.patch, kind, name, {"spec": {"replicas": replicas}})

    async def remove_pod(self, pod: PodRef) -> None:
        await asyncio.to_thread(self.bed.kube.delete, "Pod", pod.name, pod.namespace, 0)


RealScene: TypeAlias = Callable[[KubernetesStage], Awaitable[None]]


def play(scene: Scene | RealScene, bed: Bed, kubeconfig: Path) -> None:
    """Play one scene with the adapter as the user of a kubeconfig."""

    async def main() -> None:
        stage = KubernetesStage(bed, kubeconfig)
        stage.read()
        try:
            await scene(stage)
        finally:
            await stage.stop_reading()
            await stage.kubernetes.close()

    asyncio.run(main())


def _node(spec: NodeSpec) -> dict[str, Any]:
    taints = tuple({"key": each.key, "value": each.value, "effect": each.effect} for each in spec.taints)
    amounts = _quantities(spec.resources)
    document = manifests.node(spec.name, labels=spec.labels, taints=taints)
    document["status"] = {"capacity": amounts, "allocatable": amounts}
    return document


def _template(template: PodTemplate) -> manifests.Template:
    tolerations = tuple(
        {"key": each.key, "operator": each.operator, "value": each.value, "effect": each.effect}
        for each in template.tolerations
    )
    return manifests.Template(
        requests=_quantities(template.requests),
        ready_after=f"{template.ready_after_s:g}s" if template.ready_after_s else None,
        terminate_after=f"{template.terminate_after_s:g}s",
        grace_s=template.grace_s,
        labels=template.labels,
        node_selector=template.node_selector,
        tolerations=tolerations,
    )


def _quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    return {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in amounts.items()}

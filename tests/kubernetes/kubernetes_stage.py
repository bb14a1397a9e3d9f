"""A real cluster as a stage: what scenes declare becomes manifests, and kwok's annotations say how long things take."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeAlias

from hangar.clock import SystemClock
from hangar.domain.devices import GPU
from hangar.domain.snapshot import PodRef
from hangar.domain.workloads.graph import GraphRef, RivalKind
from hangar.operator.cluster.kubernetes.adapter import KubernetesCluster
from hangar.operator.cluster.kubernetes.connect import load
from hangar.operator.cluster.simulated.spec import (
    BudgetSpec,
    ClaimSpec,
    ComponentSpec,
    GraphSpec,
    NodeSpec,
    PodTemplate,
    QuotaSpec,
    VolumeSpec,
    WebhookSpec,
    WorkloadSpec,
)
from testbed import manifests
from testbed.bed import Bed
from testbed.dynamo_adapters import Adapters, autoscaler, name_of
from testbed.dynamo_crds import Version
from testbed.dynamo_graphs import Graphs, Part
from testbed.dynamo_operator import DynamoOperator
from testbed.illness import crash, hear, silence
from testbed.kube import KubeError, until
from testbed.webhook import Answer, Webhook, allow, deny
from tests.contracts.cluster_stage import Scene
from tests.kubernetes.demand_manifests import node_selector, ports_of, spec_of

MERGE_PATCH = "application/merge-patch+json"


class KubernetesStage:
    """One bed with the real adapter on it, as the user of a kubeconfig; `version` is that of the graphs it serves."""

    def __init__(self, bed: Bed, kubeconfig: Path, version: Version = "v1beta1") -> None:
        self.bed = bed
        self.kubernetes = KubernetesCluster(load(kubeconfig), SystemClock())
        self.cluster = self.kubernetes
        self.changed = asyncio.Event()
        self.webhooks: dict[str, Webhook] = {}
        self.version = version
        self.graphs = Graphs(bed.kube, version)
        self.adapters = Adapters(bed.kube, version)
        self.operating = ExitStack()

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

    async def add_bare_pod(self, name: str, node: str, template: PodTemplate, namespace: str = "default") -> None:
        await self.add_namespace(namespace)
        await self.create(manifests.pod(name, _template(template), namespace=namespace, on=node))

    async def add_budget(self, spec: BudgetSpec) -> None:
        await self.create(
            manifests.budget(
                spec.name,
                selector={"matchLabels": dict(spec.selector)},
                min_available=spec.min_available,
                max_unavailable=spec.max_unavailable,
            )
        )

    async def add_quota(self, spec: QuotaSpec) -> None:
        hard = {name: f"{amount}m" if name.endswith("cpu") else str(amount) for name, amount in spec.hard.items()}
        await asyncio.to_thread(put_quota, self.bed, manifests.quota(spec.name, hard))

    async def add_volume(self, spec: VolumeSpec) -> None:
        await self.create(manifests.volume(spec.name, node_selector(spec.node_terms) if spec.node_terms else None))

    async def add_claim(self, spec: ClaimSpec) -> None:
        mode = "ReadWriteOnce" if spec.once else "ReadWriteMany"
        await self.create(manifests.claim(spec.name, spec.volume or "", mode=mode))

    async def add_webhook(self, spec: WebhookSpec, pod: PodRef) -> None:
        webhook = Webhook(
            self.bed,
            spec.name,
            self._verdict(spec),
            timeout_s=max(1, int(spec.timeout_s)),
            lets_pass=spec.lets_pass,
        )
        self.webhooks[spec.name] = webhook
        await asyncio.to_thread(webhook.open)
        await asyncio.to_thread(webhook.wait_known, pod.name, pod.namespace)

    async def remove_webhook(self, name: str) -> None:
        webhook = self.webhooks.pop(name)
        await asyncio.to_thread(webhook.close)

    def _verdict(self, spec: WebhookSpec) -> Answer:
        """Return what a webhook answers, as it is specified."""
        kube = self.bed.kube

        def answer(request: dict[str, Any]) -> dict[str, Any] | None:
            name, namespace = request["name"], request["namespace"]
            pod = kube.get("Pod", name, namespace)
            if pod is None or not spec.selector.items() <= pod["metadata"]["labels"].items():
                return allow(request)
            if spec.is_slow:
                return None
            if spec.moves_after_s is not None and not request.get("dryRun"):
                threading.Timer(spec.moves_after_s, kube.delete, ("Pod", name, namespace)).start()
            return deny(spec.message)(request)

        return answer

    async def remove_namespace(self, name: str) -> None:
        kube = self.bed.kube
        await asyncio.to_thread(kube.delete, "Namespace", name)
        await asyncio.to_thread(until, "nothing is let in", lambda: _is_closed(self.bed, name))

    async def silence(self, node: str) -> None:
        await asyncio.to_thread(silence, self.bed, node)

    async def hear(self, node: str) -> None:
        await asyncio.to_thread(hear, self.bed, node)

    async def crash(self, pod: PodRef, reason: str, message: str) -> None:
        await asyncio.to_thread(crash, self.bed, pod.name, reason, message)

    async def scale(self, kind: str, name: str, replicas: int) -> None:
        await asyncio.to_thread(self.bed.kube.patch, kind, name, {"spec": {"replicas": replicas}})

    async def remove_pod(self, pod: PodRef) -> None:
        await asyncio.to_thread(self.bed.kube.delete, "Pod", pod.name, pod.namespace, 0)

    # --- graphs -------------------------------------------------------------------------------------------------------

    async def add_namespace(self, name: str) -> None:
        if await asyncio.to_thread(self.bed.kube.get, "Namespace", name) is None:
            await self.create(manifests.namespace(name))

    async def add_graph(self, spec: GraphSpec) -> None:
        await self.add_namespace(spec.namespace)
        parts = {each.name: _part(each) for each in spec.components}
        graph = await asyncio.to_thread(self.graphs.create, spec.name, parts, spec.namespace)
        for name, part in parts.items():
            if part.has_adapter:
                await asyncio.to_thread(self.adapters.create, graph, name, part.replicas or 0)
        for rival in spec.rivals:
            if rival.kind is not RivalKind.HPA or rival.component is None:
                raise ValueError(f"no such rival on the bed: {rival}")
            await self.add_autoscaler(GraphRef(spec.namespace, spec.name), rival.component, rival.name)

    async def remove_graph(self, ref: GraphRef) -> None:
        await asyncio.to_thread(self.graphs.delete, ref.name, ref.namespace)
        await asyncio.to_thread(until, "the graph is gone", lambda: self.graphs.get(ref.name, ref.namespace) is None)

    async def scale_graph_by_hand(self, ref: GraphRef, component: str, replicas: int, manager: str) -> None:
        graph = self.graphs.get(ref.name, ref.namespace)
        assert graph is not None
        await asyncio.to_thread(self.graphs.scale, graph, component, replicas, manager)

    async def pause_graph_by_hand(self, ref: GraphRef) -> None:
        await asyncio.to_thread(self.graphs.annotate, ref.name, {"nvidia.com/paused": "true"}, ref.namespace)

    async def let_operate(self) -> None:
        self.operating.enter_context(DynamoOperator(self.bed.kube, self.version, observes_after_s=0.0))

    async def scale_adapter_by_hand(self, ref: GraphRef, component: str, replicas: int, manager: str) -> None:
        name = name_of(ref.name, component)
        await asyncio.to_thread(self.adapters.scale, name, replicas, manager, ref.namespace)

    async def remove_adapter(self, ref: GraphRef, component: str) -> None:
        name = name_of(ref.name, component)
        await asyncio.to_thread(self.adapters.delete, name, ref.namespace)
        await asyncio.to_thread(until, "it is gone", lambda: self.adapters.get(name, ref.namespace) is None)

    async def add_autoscaler(self, ref: GraphRef, component: str, name: str) -> None:
        await self.create(autoscaler(name, name_of(ref.name, component), self.version, ref.namespace))


RealScene: TypeAlias = Callable[[KubernetesStage], Awaitable[None]]


def play(scene: Scene | RealScene, bed: Bed, kubeconfig: Path, version: Version = "v1beta1") -> None:
    """Play one scene with the adapter as the user of a kubeconfig; `version` is that of the graphs it serves."""

    async def main() -> None:
        stage = KubernetesStage(bed, kubeconfig, version)
        stage.read()
        try:
            await scene(stage)
        finally:
            await stage.stop_reading()
            await stage.kubernetes.close()
            for name in list(stage.webhooks):
                await stage.remove_webhook(name)
            stage.operating.close()

    asyncio.run(main())


def _part(spec: ComponentSpec) -> Part:
    gpus = spec.template.requests.get(GPU, 0)
    return Part(spec.role.value, spec.replicas, gpus, spec.node_count, spec.has_adapter)


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
    if template.stuck_on is not None or template.priority:
        raise ValueError("the bed's pods always start, and have no priority")
    spec = spec_of(template.demands)
    if template.runtime_class is not None:
        spec["runtimeClassName"] = template.runtime_class
    return manifests.Template(
        requests=_quantities(template.requests),
        ports=tuple(ports_of(template.demands)),
        spec=spec,
        ready_after=f"{template.ready_after_s:g}s" if template.ready_after_s else None,
        terminate_after=f"{template.terminate_after_s:g}s",
        grace_s=template.grace_s,
        labels=template.labels,
        node_selector=template.node_selector,
        tolerations=tolerations,
    )


def _quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    return {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in amounts.items()}


def put_quota(bed: Bed, quota: dict[str, Any]) -> None:
    """Add a quota that allows no QUOTA_PROBE, and wait until it counts; or raise it.

    A quota that its controller has not counted yet holds nothing back: the API server lets in whatever comes.
    """
    name, hard = quota["metadata"]["name"], quota["spec"]["hard"]
    kube = bed.kube
    if kube.get("ResourceQuota", name) is not None:
        kube.patch("ResourceQuota", name, {"spec": {"hard": hard}})
        return
    kube.create(quota)
    metadata = {"name": "probe", "namespace": "default"}
    probe = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": {}}

    def counts() -> bool:
        try:
            kube.call("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases?dryRun=All", probe)
        except KubeError as error:
            return f"exceeded quota: {name}" in str(error)
        return False

    until(f"quota {name} counts", counts)


def _is_closed(bed: Bed, namespace: str) -> bool:
    probe = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "probe", "namespace": namespace}}
    try:
        bed.kube.create(probe)
    except KubeError as error:
        return error.code == 403
    bed.kube.delete("ServiceAccount", "probe", namespace)
    return False

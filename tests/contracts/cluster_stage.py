"""What a contract test needs of a cluster: to arrange it as people and controllers would, and to wait for a sight."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol, TypeAlias, TypeVar

from hangar.domain.decision import Answer, Step
from hangar.domain.ids import NodeName, OperationId
from hangar.domain.snapshot import CordonMark, Node, Pod, PodRef, Snapshot
from hangar.operator.cluster.port import Cluster
from hangar.operator.cluster.simulated.spec import (
    BudgetSpec,
    ClaimSpec,
    NodeSpec,
    PodTemplate,
    QuotaSpec,
    VolumeSpec,
    WebhookSpec,
    WorkloadSpec,
)

T = TypeVar("T")

SEEN_WITHIN_S = 30.0

QUOTA_PROBE = "count/leases.coordination.k8s.io"
"""What a quota of a scene allows none of beside the rest: refused, it shows a stage that the quota counts."""

MARK = CordonMark(OperationId("op_01"), "kim", "firmware upgrade", prior_unschedulable=False)


class Stage(Protocol):
    """An empty cluster and the adapter under test. `changed` is the event that the adapter sets."""

    changed: asyncio.Event

    @property
    def cluster(self) -> Cluster:
        """The adapter under test."""

    async def add_node(self, spec: NodeSpec) -> None:
        """Add a node."""

    async def replace_node(self, spec: NodeSpec) -> None:
        """Delete a node and add another one under its name."""

    async def cordon_by_hand(self, name: str, manager: str, *, on: bool = True) -> None:
        """Cordon or uncordon a node as another field manager would."""

    async def add_workload(self, spec: WorkloadSpec) -> None:
        """Add a workload; its pods are labelled app=NAME beside their own labels."""

    async def add_bare_pod(self, name: str, node: str, template: PodTemplate, namespace: str = "default") -> None:
        """Add a pod that no controller owns, placed on a node; its namespace is made if it has to be."""

    async def add_budget(self, spec: BudgetSpec) -> None:
        """Add a disruption budget."""

    async def add_quota(self, spec: QuotaSpec) -> None:
        """Add a quota that allows no QUOTA_PROBE, and wait until it counts; or raise it."""

    async def add_volume(self, spec: VolumeSpec) -> None:
        """Add a volume."""

    async def add_claim(self, spec: ClaimSpec) -> None:
        """Add a volume claim."""

    async def add_webhook(self, spec: WebhookSpec, pod: PodRef) -> None:
        """Add a webhook, and wait until evictions of a pod are asked about."""

    async def remove_webhook(self, name: str) -> None:
        """Take a webhook away, and wait until nobody is asked any more."""

    async def remove_namespace(self, name: str) -> None:
        """Delete a namespace, and wait until nothing is let into it."""

    async def silence(self, node: str) -> None:
        """Let a node's kubelet fall silent, and let that be noticed."""

    async def hear(self, node: str) -> None:
        """Let a silent kubelet come back."""

    async def crash(self, pod: PodRef, reason: str, message: str) -> None:
        """Let a pod's container stop for a reason."""

    async def scale(self, kind: str, name: str, replicas: int) -> None:
        """Change how many pods a workload wants."""

    async def remove_pod(self, pod: PodRef) -> None:
        """Take a pod away at once, as its controller's garbage collector could."""


Scene: TypeAlias = Callable[[Stage], Awaitable[None]]
SCENES: list[Scene] = []


def scene(each: Scene) -> Scene:
    """Add a scene to the contract."""
    SCENES.append(each)
    return each


def a_template(**parts: object) -> PodTemplate:
    """Return pods that start at once and end quickly."""
    return replace(PodTemplate(ready_after_s=0.0, terminate_after_s=1.0), **parts)  # type: ignore[arg-type]


def a_deployment(name: str = "web", replicas: int = 2, **parts: object) -> WorkloadSpec:
    """Return a Deployment whose pods are labelled app=NAME."""
    return WorkloadSpec("Deployment", name, replicas, a_template(labels={"app": name}, **parts))


async def until(stage: Stage, what: str, look: Callable[[Snapshot], T | None]) -> T:
    """Look at the snapshot on each change until there is something other than None or False, and return it."""
    try:
        async with asyncio.timeout(SEEN_WITHIN_S):
            while True:
                stage.changed.clear()
                snapshot = stage.cluster.snapshot()
                seen = look(snapshot) if snapshot is not None else None
                if seen is not None and seen is not False:
                    return seen
                await stage.changed.wait()
    except TimeoutError:
        raise AssertionError(f"not seen within {SEEN_WITHIN_S:g} s: {what}\n{stage.cluster.snapshot()}") from None


def now_shown(stage: Stage) -> Snapshot:
    """Return the snapshot as it is, without waiting for anything."""
    snapshot = stage.cluster.snapshot()
    assert snapshot is not None
    return snapshot


async def take(stage: Stage, step: Step) -> Answer:
    """Take a step with the gate open."""
    return await stage.cluster.perform(step, lambda: None)


async def a_node(stage: Stage, name: str = "n1", **labels: str) -> Node:
    """Add a node and wait until it can take pods."""
    await stage.add_node(NodeSpec(name, labels=labels))
    return await until(stage, f"node {name} takes pods", lambda snapshot: _open_node(snapshot, name))


def _open_node(snapshot: Snapshot, name: str) -> Node | None:
    node = snapshot.nodes.get(NodeName(name))
    return node if node is not None and node.ready and not node.taints else None


async def guard(stage: Stage, spec: BudgetSpec) -> None:
    """Add a budget and wait until its controller has computed it."""
    await stage.add_budget(spec)

    def look(snapshot: Snapshot) -> bool:
        return any(each.name == spec.name and each.is_current for each in snapshot.budgets.values())

    await until(stage, f"budget {spec.name} counts", look)


def pods_of(snapshot: Snapshot, app: str) -> list[Pod]:
    """Return the pods labelled app=`app`, by name."""
    pods = (pod for pod in snapshot.pods.values() if pod.labels.get("app") == app)
    return sorted(pods, key=lambda pod: pod.ref)


async def serving(stage: Stage, app: str, count: int) -> list[Pod]:
    """Wait until `count` pods of an app serve, none is on its way out and its budget says as much; return them."""

    def look(snapshot: Snapshot) -> list[Pod] | None:
        pods = pods_of(snapshot, app)
        budgets = [budget for pod in pods for budget in snapshot.budgets_of(pod)]
        has_settled = all(budget.healthy == count and not budget.has_disrupted for budget in budgets)
        return pods if len(pods) == count and all(pod.serves for pod in pods) and has_settled else None

    return await until(stage, f"{count} serving pods of {app}", look)


async def gone(stage: Stage, pod: Pod) -> None:
    """Wait until a pod is gone by its UID."""
    await until(stage, f"pod {pod.ref} is gone", lambda snapshot: pod.ref.uid not in snapshot.pods)

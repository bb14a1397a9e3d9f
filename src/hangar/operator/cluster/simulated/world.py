"""World: the state of a simulated cluster and the clock that drives it.

Everything happens at an instant: `advance` takes the world to one, doing on the way all that falls due, in order.
The same seed of calls gives the same world.
"""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from hangar.domain.ids import BudgetUid, NodeName, NodeUid, OwnerUid, PodUid
from hangar.domain.index import ClusterIndex
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import (
    Budget,
    Node,
    Owner,
    OwnerRef,
    Pod,
    PodPhase,
    PodRef,
    Snapshot,
)
from hangar.operator.cluster.simulated import scheduler
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, PodTemplate, WorkloadSpec

CONTROLLER_LAG_S = 0.05
"""From a change to what a controller makes of it."""

BUDGET_LAG_S = 0.03
"""From a change of pods to the budget's status."""

JOB_BACKOFF_S = 10.0
"""From a Job's pod that was ended to the next one."""


class PodFate(Protocol):
    """What becomes of a pod's deletion; replaced in tests by what a dead kubelet does."""

    def __call__(self, pod: Pod, template: PodTemplate) -> float | None:
        """Return in how many seconds the pod is gone, or None for never."""


@dataclass(slots=True)
class Workload:
    """A workload as the world keeps it: what it wants, and the controllers above its pods."""

    spec: WorkloadSpec
    replicas: int
    top: OwnerRef
    controller: OwnerRef
    made: int = 0


@dataclass(slots=True)
class _BudgetState:
    spec: BudgetSpec
    uid: BudgetUid
    disrupted: set[PodUid]
    version: int = 0


class World:
    """A simulated cluster. All of its methods take effect at `now`."""

    def __init__(self, now: datetime, uid: str = "simulated") -> None:
        self.now = now
        self.uid = uid
        self.index = ClusterIndex()
        self.workloads: dict[OwnerUid, Workload] = {}
        self.templates: dict[PodUid, PodTemplate] = {}
        self.on_change: Callable[[], None] = lambda: None
        self.fate: PodFate = lambda pod, template: min(template.terminate_after_s, pod.grace_s)
        self.budget_lag_s = BUDGET_LAG_S
        self._due: list[tuple[datetime, int, Callable[[], None]]] = []
        self._serial = 0
        self._budgets: dict[BudgetUid, _BudgetState] = {}
        self._stale_budgets: set[BudgetUid] = set()

    # --- time ---------------------------------------------------------------------------------------------------------

    def at(self, delay_s: float, act: Callable[[], None]) -> None:
        """Let something happen `delay_s` seconds from now."""
        self._serial += 1
        heapq.heappush(self._due, (self.now + timedelta(seconds=delay_s), self._serial, act))

    def next_at(self) -> datetime | None:
        """Return when the next thing happens by itself, or None."""
        return self._due[0][0] if self._due else None

    def advance(self, to: datetime) -> None:
        """Take the world to an instant."""
        while self._due and self._due[0][0] <= to:
            self.now, _, act = heapq.heappop(self._due)
            act()
        self.now = max(self.now, to)

    def snapshot(self) -> Snapshot:
        """Return the cluster as it is now."""
        return self.index.snapshot()

    def new_uid(self, kind: str) -> str:
        """Return a UID that no other object of this world has."""
        self._serial += 1
        return f"{self.uid}-{kind}-{self._serial}"

    # --- building -----------------------------------------------------------------------------------------------------

    def add_node(self, spec: NodeSpec) -> Node:
        """Add a node; waiting pods may be placed on it."""
        node = Node(
            NodeName(spec.name),
            NodeUid(self.new_uid("node")),
            ready=spec.is_ready,
            unschedulable=False,
            taints=spec.taints,
            labels=spec.labels,
            capacity=spec.resources,
            allocatable=spec.resources,
        )
        self.put_node(node)
        for workload in self.workloads.values():
            if workload.spec.kind == "DaemonSet":
                self.at(CONTROLLER_LAG_S, lambda each=workload: self.reconcile(each))  # type: ignore[misc]
        return node

    def add_workload(self, spec: WorkloadSpec) -> OwnerRef:
        """Add a workload whose pods are placed and ready at once; return its top controller."""
        top = OwnerRef(spec.kind, spec.name, OwnerUid(self.new_uid("owner")))
        controller = top
        if spec.kind in ("Deployment", "StatefulSet", "Job", "DaemonSet"):
            self.index.put_owner(Owner(top, spec.namespace, spec.replicas))
        if spec.kind == "Deployment":
            controller = OwnerRef("ReplicaSet", f"{spec.name}-rs", OwnerUid(self.new_uid("owner")))
            self.index.put_owner(Owner(controller, spec.namespace, spec.replicas, parent=top))
        workload = Workload(spec, spec.replicas, top, controller)
        self.workloads[top.uid] = workload
        names = spec.pinned or (None,) * spec.replicas
        nodes = self.snapshot().nodes if spec.kind == "DaemonSet" else names
        for name in nodes:
            self._make(workload, NodeName(name) if name is not None else None, is_ready=True)
        self.reconcile(workload)
        return top

    def add_bare_pod(self, name: str, node: str, template: PodTemplate, namespace: str = "default") -> Pod:
        """Add a pod that no controller owns, ready at once."""
        unplaced = self._pod(namespace, name, None, template)
        self.templates[unplaced.ref.uid] = template
        pod = replace(unplaced, node=NodeName(node), phase=PodPhase.RUNNING, ready=True)
        self.put_pod(pod)
        return pod

    def add_budget(self, spec: BudgetSpec) -> BudgetUid:
        """Add a budget with its status computed at once."""
        uid = BudgetUid(self.new_uid("budget"))
        self._budgets[uid] = _BudgetState(spec, uid, set())
        self.sync_budget(uid)
        return uid

    def change_budget(self, uid: BudgetUid, spec: BudgetSpec) -> None:
        """Replace a budget's spec; its status follows."""
        self._budgets[uid].spec = spec
        self._budget_changed(uid)

    # --- changes by people and machines -------------------------------------------------------------------------------

    def put_node(self, node: Node) -> None:
        """Replace a node's state; waiting pods are looked at again."""
        self.index.put_node(node)
        self.place_waiting()
        self.on_change()

    def cordon_by_hand(self, name: str, manager: str = "kubectl", *, on: bool = True) -> None:
        """Cordon or uncordon a node as somebody else would: the flag changes, our annotation stays."""
        node = self.snapshot().nodes[NodeName(name)]
        self.put_node(replace(node, unschedulable=on, cordon_manager=manager if on else None, cordon_is_ours=False))

    def remove_node(self, name: str) -> None:
        """Delete a node; the garbage collector ends its pods."""
        gone = [pod.ref.uid for pod in self.snapshot().pods_on(NodeName(name))]
        self.index.drop_node(NodeName(name))
        for uid in gone:
            self.at(CONTROLLER_LAG_S, lambda each=uid: self.remove_pod(each))  # type: ignore[misc]
        self.on_change()

    def scale(self, owner: OwnerUid, replicas: int) -> None:
        """Change how many pods a workload wants."""
        workload = self.workloads[owner]
        workload.replicas = replicas
        self.put_owner_failure(workload, None)
        self.at(CONTROLLER_LAG_S, lambda: self.reconcile(workload))

    def put_owner_failure(self, workload: Workload, failure: str | None) -> None:
        """Set or clear a controller's word on why it cannot create pods."""
        for ref, parent in {workload.controller: workload.top, workload.top: None}.items():
            if ref.uid in self.snapshot().owners:
                above = parent if parent != ref else None
                self.index.put_owner(Owner(ref, workload.spec.namespace, workload.replicas, above, failure))
        self.on_change()

    def delete_pod(self, uid: PodUid, grace_s: int | None = None) -> None:
        """Begin a pod's deletion."""
        pod = self.snapshot().pods.get(uid)
        if pod is None or pod.is_terminating:
            return
        grace = pod.grace_s if grace_s is None else grace_s
        pod = replace(pod, deletion_at=self.now + timedelta(seconds=grace), grace_s=grace)
        self.put_pod(pod)
        ends_in_s = self.fate(pod, self.templates[uid])
        if ends_in_s is not None:
            self.at(ends_in_s, lambda: self.remove_pod(uid))

    def remove_pod(self, uid: PodUid) -> None:
        """Take a pod's object away; its room is free and its controller sees it."""
        pod = self.snapshot().pods.get(uid)
        if pod is None:
            return
        self.index.drop_pod(uid)
        self.templates.pop(uid, None)
        self._follow(pod)
        self.place_waiting()
        self.on_change()

    def put_pod(self, pod: Pod) -> None:
        """Replace a pod's state; its controller and its budgets see it."""
        self.index.put_pod(pod)
        self._follow(pod)
        self.on_change()

    # --- controllers --------------------------------------------------------------------------------------------------

    def _follow(self, pod: Pod) -> None:
        for uid, state in self._budgets.items():
            if _budget_of(state, self.index.snapshot()).guards(pod):
                self._budget_changed(uid)
        for workload in self.workloads.values():
            if pod.controller == workload.controller:
                lag_s = JOB_BACKOFF_S if workload.spec.kind == "Job" else CONTROLLER_LAG_S
                self.at(lag_s, lambda each=workload: self.reconcile(each))  # type: ignore[misc]

    def reconcile(self, workload: Workload) -> None:
        """Make or end pods until a workload has what it wants."""
        snapshot = self.snapshot()
        pods = sorted(snapshot.pods_of(workload.controller.uid), key=lambda pod: (pod.created_at, pod.ref))
        alive = [pod for pod in pods if not pod.is_terminating and not pod.is_finished]
        if workload.spec.kind == "DaemonSet":
            for name in snapshot.nodes.keys() - {pod.node for pod in pods}:
                self._make(workload, name)
            return
        if workload.spec.kind == "StatefulSet":
            taken = {pod.ref.name for pod in pods}
            for ordinal in range(workload.replicas):
                if f"{workload.spec.name}-{ordinal}" not in taken:
                    self._make(workload, None, ordinal=ordinal)
            surplus = [pod for pod in alive if int(pod.ref.name.rsplit("-", 1)[1]) >= workload.replicas]
        else:
            for _ in range(workload.replicas - len(alive)):
                self._make(workload, None)
            surplus = alive[workload.replicas :]
        for pod in surplus:
            self.delete_pod(pod.ref.uid)

    def _make(
        self, workload: Workload, node: NodeName | None, *, is_ready: bool = False, ordinal: int | None = None
    ) -> None:
        number = workload.made if ordinal is None else ordinal
        workload.made += 1
        spec = workload.spec
        name = f"{spec.name}-{number}" if spec.kind == "StatefulSet" else f"{workload.controller.name}-{number:05d}"
        pod = self._pod(spec.namespace, name, workload.controller, spec.template)
        self.templates[pod.ref.uid] = spec.template
        self.index.put_pod(pod)
        if node is not None:
            self._place(pod, node, is_ready=is_ready)
        else:
            self._schedule(pod, is_ready=is_ready)

    def _pod(self, namespace: str, name: str, controller: OwnerRef | None, template: PodTemplate) -> Pod:
        return Pod(
            PodRef(namespace, name, PodUid(self.new_uid("pod"))),
            node=None,
            phase=PodPhase.PENDING,
            ready=False,
            created_at=self.now.replace(microsecond=0),
            labels=template.labels,
            controller=controller,
            requests=template.requests,
            tolerations=template.tolerations,
            node_selector=template.node_selector,
            grace_s=template.grace_s,
            has_disk_empty_dir=template.has_disk_empty_dir,
        )

    # --- the scheduler and the kubelets -------------------------------------------------------------------------------

    def place_waiting(self) -> None:
        """Look again for room for every pod that waits for it."""
        waiting = [pod for pod in self.snapshot().pods.values() if pod.node is None and not pod.is_terminating]
        for pod in sorted(waiting, key=lambda each: (each.created_at, each.ref)):
            self._schedule(pod)

    def _schedule(self, pod: Pod, *, is_ready: bool = False) -> None:
        found = scheduler.place(pod, self.snapshot())
        if isinstance(found, scheduler.NoRoom):
            since = pod.unschedulable_since or self.now
            self.put_pod(replace(pod, unschedulable_since=since, waiting=found.message))
        else:
            self._place(pod, found, is_ready=is_ready)

    def _place(self, pod: Pod, node: NodeName, *, is_ready: bool) -> None:
        placed = replace(pod, node=node, unschedulable_since=None, waiting="starting")
        if is_ready:
            self.put_pod(replace(placed, phase=PodPhase.RUNNING, ready=True, waiting=None))
            return
        self.put_pod(placed)
        self.at(self.templates[pod.ref.uid].ready_after_s, lambda: self._started(pod.ref.uid))

    def _started(self, uid: PodUid) -> None:
        pod = self.snapshot().pods.get(uid)
        if pod is not None and not pod.is_terminating:
            self.put_pod(replace(pod, phase=PodPhase.RUNNING, ready=True, waiting=None))

    # --- the disruption controller ------------------------------------------------------------------------------------

    def _budget_changed(self, uid: BudgetUid) -> None:
        if uid not in self._stale_budgets:
            self._stale_budgets.add(uid)
            self.at(self.budget_lag_s, lambda: self.sync_budget(uid))

    def sync_budget(self, uid: BudgetUid) -> None:
        """Compute a budget's status from the pods as they are."""
        self._stale_budgets.discard(uid)
        state = self._budgets[uid]
        snapshot = self.snapshot()
        pods = [
            pod for pod in snapshot.pods.values() if _budget_of(state, snapshot).guards(pod) and not pod.is_finished
        ]
        state.disrupted &= {pod.ref.uid for pod in pods if not pod.is_terminating}
        state.version += 1
        healthy = sum(1 for pod in pods if pod.serves and pod.ref.uid not in state.disrupted)
        expected = self._expected(pods)
        bound = state.spec.min_available
        desired = bound if bound is not None else max(0, expected - (state.spec.max_unavailable or 0))
        budget = replace(
            _budget_of(state, snapshot),
            expected=expected,
            healthy=healthy,
            desired_healthy=desired,
            allowed=max(0, healthy - desired) if expected else 0,
            has_disrupted=bool(state.disrupted),
        )
        self.index.put_budget(budget)
        self.on_change()

    def _expected(self, pods: list[Pod]) -> int:
        controllers = {pod.controller for pod in pods if pod.controller is not None}
        bare = sum(1 for pod in pods if pod.controller is None)
        return bare + sum(each.replicas for each in self.workloads.values() if each.controller in controllers)

    def spend_budget(self, budget: Budget, pod: Pod) -> None:
        """Take one disruption off a budget's status at once, as the eviction API does."""
        state = self._budgets[budget.uid]
        state.disrupted.add(pod.ref.uid)
        state.version += 1
        spent = replace(budget, allowed=budget.allowed - 1, has_disrupted=True, version=str(state.version))
        self.index.put_budget(spent)
        self._budget_changed(budget.uid)


def _budget_of(state: _BudgetState, snapshot: Snapshot) -> Budget:
    """Return a budget with its selector and last known status."""
    known = snapshot.budgets.get(state.uid)
    selector = _selector(state.spec.selector)
    if known is None:
        return Budget(state.spec.namespace, state.spec.name, state.uid, selector, 0, 0, 0, 0, "0")
    return replace(known, selector=selector, version=str(state.version))


def _selector(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    return tuple(Requirement(key, SelectorOp.IN, frozenset({value})) for key, value in sorted(labels.items()))

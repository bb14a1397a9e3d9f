"""World: a simulated cluster, put together of its parts, and all that people and machines can do to it.

Everything happens at an instant: `advance` takes the world to one, doing on the way all that falls due, in order.
The same seed of calls gives the same world.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from hangar.domain.ids import BudgetUid, NodeName, NodeUid, OwnerUid, PodUid
from hangar.domain.index import ClusterIndex
from hangar.domain.placing import HOST_NAME, Volume, VolumeClaim
from hangar.domain.snapshot import Budget, Node, OwnerRef, Pod, PodPhase, Snapshot
from hangar.domain.workloads.graph import GraphRef
from hangar.operator.cluster.simulated.admission import Admission
from hangar.operator.cluster.simulated.budgets import Budgets
from hangar.operator.cluster.simulated.controllers import Controllers, new_pod
from hangar.operator.cluster.simulated.dynamo import Dynamo
from hangar.operator.cluster.simulated.kubelets import PATIENCE_S, UNHEARD_AFTER_S, Kubelets, PodFate
from hangar.operator.cluster.simulated.scheduler import Scheduler
from hangar.operator.cluster.simulated.spec import (
    BudgetSpec,
    ClaimSpec,
    GraphSpec,
    NodeSpec,
    PodTemplate,
    QuotaSpec,
    VolumeSpec,
    WorkloadSpec,
)
from hangar.operator.cluster.simulated.state import CONTROLLER_LAG_S, State
from hangar.operator.cluster.simulated.webhooks import Webhooks
from hangar.operator.cluster.simulated.workload import Workload

QUARANTINE_S = 40.0
"""How long a node has to be away before Kubernetes collects its pods; back within it, it keeps them."""


class World:
    """A simulated cluster. All of its methods take effect at `now`.

    Attributes:
        uid: What pins it, as the UID of a real cluster's kube-system does.
        workloads: By the UID of the controller at the top; a live view.
        admission, webhooks: What the API server asks before it acts.
        dynamo: What keeps the graphs.
    """

    def __init__(self, now: datetime, uid: str = "simulated") -> None:
        self.uid = uid
        self._state = State(now, uid)
        self._kubelets = Kubelets(self._state)
        self._scheduler = Scheduler(self._state, self._kubelets.start)
        self.admission = Admission(self._state)
        self._controllers = Controllers(self._state, self.admission, self._scheduler, self._kubelets)
        self._budgets = Budgets(self._state, self._controllers.wanted)
        self.webhooks = Webhooks(self._state, self._kubelets.delete)
        self.workloads = self._controllers.workloads
        self.dynamo = Dynamo(self._state, self._controllers)

    # --- time and sight -----------------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The instant that the world is at."""
        return self._state.now

    @now.setter
    def now(self, now: datetime) -> None:
        self._state.now = now

    @property
    def index(self) -> ClusterIndex:
        """All objects, for whoever changes them past the world's own rules."""
        return self._state.index

    @property
    def on_change(self) -> Callable[[], None]:
        """Called after every change that a reader could see."""
        return self._state.on_change

    @on_change.setter
    def on_change(self, tell: Callable[[], None]) -> None:
        self._state.on_change = tell

    @property
    def fate(self) -> PodFate:
        """What becomes of pods' deletions."""
        return self._kubelets.fate

    @fate.setter
    def fate(self, fate: PodFate) -> None:
        self._kubelets.fate = fate

    @property
    def budget_lag_s(self) -> float:
        """From a change of pods to the status of a budget that knows it."""
        return self._budgets.lag_s

    @budget_lag_s.setter
    def budget_lag_s(self, lag_s: float) -> None:
        self._budgets.lag_s = lag_s

    def at(self, delay_s: float, act: Callable[[], None]) -> None:
        """Let something happen `delay_s` seconds from now."""
        self._state.at(delay_s, act)

    def next_at(self) -> datetime | None:
        """Return when the next thing happens by itself, or None."""
        return self._state.next_at()

    def advance(self, to: datetime) -> None:
        """Take the world to an instant."""
        self._state.advance(to)

    def snapshot(self) -> Snapshot:
        """Return the cluster as it is now."""
        return self._state.snapshot()

    # --- building -----------------------------------------------------------------------------------------------------

    def add_node(self, spec: NodeSpec) -> Node:
        """Add a node; waiting pods may be placed on it."""
        node = Node(
            NodeName(spec.name),
            NodeUid(self._state.new_uid("node")),
            ready=spec.is_ready,
            unschedulable=False,
            taints=spec.taints,
            labels={HOST_NAME: spec.name, **spec.labels},
            capacity=spec.resources,
            allocatable=spec.resources,
        )
        self.put_node(node)
        self._controllers.node_added()
        return node

    def add_workload(self, spec: WorkloadSpec) -> OwnerRef:
        """Add a workload whose pods are placed and ready at once; return its top controller."""
        return self._controllers.add(spec)

    def add_graph(self, spec: GraphSpec) -> GraphRef:
        """Add a graph whose pods are placed and ready at once."""
        return self.dynamo.add(spec)

    def add_bare_pod(self, name: str, node: str, template: PodTemplate, namespace: str = "default") -> Pod:
        """Add a pod that no controller owns, ready at once."""
        pod = new_pod(self._state, namespace, name, template)
        self._state.add_pod(pod, template)
        self._kubelets.start(pod, NodeName(node), is_ready=True)
        return self.snapshot().pods[pod.ref.uid]

    def add_budget(self, spec: BudgetSpec) -> BudgetUid:
        """Add a budget with its status computed at once."""
        return self._budgets.add(spec)

    def change_budget(self, uid: BudgetUid, spec: BudgetSpec) -> None:
        """Replace a budget's spec; its status follows."""
        self._budgets.change(uid, spec)

    def add_quota(self, spec: QuotaSpec) -> None:
        """Add a quota, or replace it; what it does not let in is made once it does."""
        self.admission.add_quota(spec)

    def add_volume(self, spec: VolumeSpec) -> None:
        """Add a volume."""
        self.index.put_volume(Volume(spec.name, spec.node_terms))
        self.on_change()

    def add_claim(self, spec: ClaimSpec) -> None:
        """Add a volume claim, which pods may have waited for."""
        self.index.put_claim(VolumeClaim(spec.namespace, spec.name, spec.volume, spec.once))
        self._state.tell_of_room()
        self.on_change()

    # --- nodes --------------------------------------------------------------------------------------------------------

    def put_node(self, node: Node) -> None:
        """Replace a node's state; waiting pods are looked at again."""
        self._state.put_node(node)

    def cordon_by_hand(self, name: str, manager: str = "kubectl", *, on: bool = True) -> None:
        """Cordon or uncordon a node as somebody else would: the flag changes, our annotation stays."""
        node = self.snapshot().nodes[NodeName(name)]
        self.put_node(replace(node, unschedulable=on, cordon_manager=manager if on else None, cordon_is_ours=False))

    def remove_node(self, name: str, *, quarantine_s: float = 0.0) -> None:
        """Delete a node; its pods are collected, unless within the quarantine a node of that name takes them over."""
        gone = [pod.ref.uid for pod in self.snapshot().pods_on(NodeName(name))]
        self.index.drop_node(NodeName(name))
        self.at(
            quarantine_s or CONTROLLER_LAG_S, lambda: self._collect(NodeName(name), gone, is_final=not quarantine_s)
        )
        self.on_change()

    def _collect(self, name: NodeName, pods: list[PodUid], *, is_final: bool) -> None:
        if is_final or name not in self.snapshot().nodes:
            for uid in pods:
                self.remove_pod(uid)

    def silence(self, name: str, noticed_after_s: float = UNHEARD_AFTER_S, patience_s: float = PATIENCE_S) -> None:
        """Let a node's kubelet fall silent; what is deleted there from now on stays."""
        self._kubelets.silence(NodeName(name), noticed_after_s, patience_s)

    def hear(self, name: str) -> None:
        """Let a silent kubelet come back."""
        self._kubelets.hear(NodeName(name))

    # --- workloads and pods -------------------------------------------------------------------------------------------

    def scale(self, owner: OwnerUid, replicas: int) -> None:
        """Change how many pods (or groups) a workload wants."""
        self._controllers.scale(owner, replicas)

    def remove_workload(self, owner: OwnerUid) -> None:
        """Delete a workload; its pods follow."""
        self._controllers.remove(owner)

    def reconcile(self, workload: Workload) -> None:
        """Let a workload's controller look at it now."""
        self._controllers.reconcile(workload)

    def put_owner_failure(self, workload: Workload, failure: str | None) -> None:
        """Set or clear a controller's word on why it cannot create pods."""
        self._controllers.put_failure(workload, failure)

    def remove_namespace(self, namespace: str) -> None:
        """Delete a namespace: nothing new is let in, and all that is in it goes."""
        self.admission.terminate(namespace)
        self._budgets.drop_all(namespace)
        self.dynamo.drop_all(namespace)
        for owner, workload in list(self.workloads.items()):
            if workload.spec.namespace == namespace:
                self.remove_workload(owner)
        bare = [pod for pod in self.snapshot().pods.values() if pod.ref.namespace == namespace]
        for pod in bare:
            self.at(CONTROLLER_LAG_S, lambda each=pod: self.delete_pod(each.ref.uid))  # type: ignore[misc]
        self.on_change()

    def remove_graph(self, ref: GraphRef) -> None:
        """Delete a graph; its pods follow."""
        self.dynamo.drop(ref)

    def scale_graph_by_hand(self, ref: GraphRef, component: str, replicas: int, manager: str = "kubectl") -> None:
        """Ask for another count of a component as somebody else would, by its adapter if it has one."""
        self.dynamo.ask(ref, {component: replicas}, manager)

    def remove_adapter(self, ref: GraphRef, component: str) -> None:
        """Delete a component's scaling adapter, which nobody makes again."""
        self.dynamo.adapters.remove(ref, component)

    def pause_graph_by_hand(self, ref: GraphRef, *, on: bool = True) -> None:
        """Mark a graph so that its operator leaves it alone, or take the mark off."""
        self.dynamo.pause(ref, on=on)

    def delete_pod(self, uid: PodUid, grace_s: int | None = None) -> None:
        """Begin a pod's deletion."""
        self._kubelets.delete(uid, grace_s)

    def remove_pod(self, uid: PodUid) -> None:
        """Take a pod's object away; its room is free and its controller sees it."""
        self._state.drop_pod(uid)

    def put_pod(self, pod: Pod) -> None:
        """Replace a pod's state; its controller and its budgets see it."""
        self._state.put_pod(pod)

    def crash(self, uid: PodUid, waiting: str, phase: PodPhase = PodPhase.RUNNING) -> None:
        """Make a pod unready for a reason, in its kubelet's words, such as `main: CrashLoopBackOff: back-off 5m0s`."""
        self._kubelets.crash(uid, waiting, phase)

    def mend(self, uid: PodUid) -> None:
        """Make a pod ready."""
        self._kubelets.mend(uid)

    def spend_budget(self, budget: Budget, pod: Pod) -> None:
        """Take one disruption off a budget's status at once, as the eviction API does."""
        self._budgets.spend(budget, pod)

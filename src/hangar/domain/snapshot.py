"""A cluster as seen at one moment: nodes, pods, what owns the pods, and what guards them.

Quantities are integers in the smallest unit that is used: CPU in millicores, memory and storage in
bytes, everything else (GPUs, MIG slices, pods) in pieces. A resource is always known by its full
name; two resources are never added together.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar, cast

from hangar.domain.devices import DeviceClaim, DeviceSlice
from hangar.domain.groups import Group, group_of
from hangar.domain.ids import BudgetUid, NodeName, NodeUid, OperationId, OwnerUid, PodUid
from hangar.domain.placing import NO_DEMANDS, Demands, Quota, Requirement, Volume, VolumeClaim
from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.domain.workloads.members import Part, part_of

T = TypeVar("T")

EMPTY: Mapping[str, str] = MappingProxyType({})
NO_AMOUNTS: Mapping[str, int] = MappingProxyType({})

UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's taint; `effect` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod's toleration; an empty key with operator Exists tolerates everything, an empty effect all effects."""

    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, taint: Taint) -> bool:
        """Tell whether a pod with this toleration may be placed on a node with that taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.operator == "Exists":
            return self.key in ("", taint.key)
        # Operators that compare (Gt, Lt) are not weighed: a pod that may be let in is never said to be kept out.
        return self.key == taint.key and (self.value == taint.value or self.operator not in ("", "Equal"))


@dataclass(frozen=True, slots=True)
class CordonMark:
    """What our annotation on a node says: whose cordon it is, and how the node was before.

    `prior_unschedulable` is true when the node was already cordoned, so that nothing automatic ever undoes it.
    """

    operation: OperationId
    actor: str
    reason: str | None
    prior_unschedulable: bool


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `cordon_manager` is the field manager that owns spec.unschedulable, None when nobody does.

    `is_heard` is false while its kubelet is silent (condition Ready is Unknown): then nothing there confirms anything.
    """

    name: NodeName
    uid: NodeUid
    ready: bool
    unschedulable: bool
    mark: CordonMark | None = None
    cordon_manager: str | None = None
    cordon_is_ours: bool = False  # the field manager named above is Wingsmith's operator
    taints: tuple[Taint, ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    capacity: Mapping[str, int] = field(default_factory=lambda: NO_AMOUNTS)
    allocatable: Mapping[str, int] = field(default_factory=lambda: NO_AMOUNTS)
    is_heard: bool = True


@dataclass(frozen=True, slots=True, order=True)
class OwnerRef:
    """The controller that a pod or a ReplicaSet names as its owner."""

    kind: str
    name: str
    uid: OwnerUid


class PodPhase(StrEnum):
    """Kubernetes' own pod phases."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True, order=True)
class PodRef:
    """One pod, for ever: its name may be taken again, its UID never."""

    namespace: str
    name: str
    uid: PodUid

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod. `node` is None until it is placed; `deletion_at` already contains the grace period.

    `ready_at` is since when it is ready, `runtime_class` its runtimeClassName.
    """

    ref: PodRef
    node: NodeName | None
    phase: PodPhase
    ready: bool
    created_at: datetime
    deletion_at: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    controller: OwnerRef | None = None
    requests: Mapping[str, int] = field(default_factory=lambda: NO_AMOUNTS)
    tolerations: tuple[Toleration, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    priority: int = 0  # pods of a lower one have to give way where there is no room
    grace_s: int = 30
    is_mirror: bool = False
    has_disk_empty_dir: bool = False
    unschedulable_since: datetime | None = None  # PodScheduled=False, reason Unschedulable
    waiting: str | None = None  # why it does not run or is not ready, in the cluster's own words
    ready_at: datetime | None = None
    runtime_class: str | None = None
    demands: Demands = NO_DEMANDS

    @property
    def group(self) -> Group | None:
        """Return the group without which it does not serve, None where it serves by itself."""
        return group_of(self.ref.namespace, self.labels)

    @property
    def part(self) -> Part | None:
        """Return which component of which graph it is of, None where it is of none."""
        return part_of(self.ref.namespace, self.labels, None if self.controller is None else self.controller.kind)

    @property
    def is_finished(self) -> bool:
        """Tell whether its containers ran to their end."""
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)

    @property
    def is_terminating(self) -> bool:
        """Tell whether its deletion has begun."""
        return self.deletion_at is not None

    @property
    def serves(self) -> bool:
        """Tell whether it is ready and stays so."""
        return self.ready and self.deletion_at is None and not self.is_finished


@dataclass(frozen=True, slots=True)
class Owner:
    """A controller of pods. `desired` is how many pods it wants, None where we cannot read that.

    `failure` is the controller's own word on why it could not create pods (ReplicaFailure), `parent`
    the controller above it (a Deployment above its ReplicaSet).
    """

    ref: OwnerRef
    namespace: str
    desired: int | None
    parent: OwnerRef | None = None
    failure: str | None = None

    def __str__(self) -> str:
        return f"{self.ref.kind.lower()} {self.namespace}/{self.ref.name}"


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget with its status. An empty selector guards every pod of the namespace.

    `version` changes whenever the object does (its resourceVersion). `is_current` is false while the
    status is behind the spec. `sync_failure` is the controller's word on why it cannot compute it.
    """

    namespace: str
    name: str
    uid: BudgetUid
    selector: tuple[Requirement, ...]
    expected: int
    healthy: int
    desired_healthy: int
    allowed: int
    version: str
    is_current: bool = True
    always_allow_unready: bool = False
    has_disrupted: bool = False
    sync_failure: str | None = None

    def guards(self, pod: Pod) -> bool:
        """Tell whether the budget selects the pod."""
        if self.namespace != pod.ref.namespace:
            return False
        for each in self.selector:  # noqa: SIM110  (asked for every pod of a namespace: half the time of `all`)
            if not each.matches(pod.labels):
                return False
        return True

    def __str__(self) -> str:
        return f"pdb {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All of a cluster that decisions read. Built by ClusterIndex, which keeps the buckets in step.

    `unreadable` says in words what cannot be read now; while it is not empty nothing counts as gone.
    `graphs_unreadable` says why graphs cannot: then `graphs` are those last seen, and may be none at all.
    `device_claims` None: they cannot be read, so that it is not known which published devices are taken.
    """

    nodes: Mapping[NodeName, Node] = field(default_factory=dict)
    pods: Mapping[PodUid, Pod] = field(default_factory=dict)
    owners: Mapping[OwnerUid, Owner] = field(default_factory=dict)
    budgets: Mapping[BudgetUid, Budget] = field(default_factory=dict)
    pods_by_node: Mapping[NodeName, tuple[PodUid, ...]] = field(default_factory=dict)
    pods_by_controller: Mapping[OwnerUid, tuple[PodUid, ...]] = field(default_factory=dict)
    owners_by_parent: Mapping[OwnerUid, tuple[OwnerUid, ...]] = field(default_factory=dict)
    budgets_by_pod: Mapping[PodUid, tuple[BudgetUid, ...]] = field(default_factory=dict)
    pods_by_budget: Mapping[BudgetUid, tuple[PodUid, ...]] = field(default_factory=dict)
    claims: Mapping[tuple[str, str], VolumeClaim] = field(default_factory=dict)  # by namespace and name
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    quotas: Mapping[tuple[str, str], Quota] = field(default_factory=dict)  # by namespace and name
    graphs: Mapping[GraphRef, Graph] = field(default_factory=dict)
    device_slices: Mapping[str, DeviceSlice] = field(default_factory=dict)  # by name
    device_claims: Mapping[tuple[str, str], DeviceClaim] | None = None  # by namespace and name
    unreadable: tuple[str, ...] = ()
    graphs_unreadable: str | None = None
    _found_out: dict[Callable[["Snapshot"], object], object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def once(self, find_out: Callable[["Snapshot"], T]) -> T:
        """Return what a function makes of this snapshot, found out once: all drains of a turn ask for the same."""
        if find_out not in self._found_out:
            self._found_out[find_out] = find_out(self)
        return cast("T", self._found_out[find_out])

    def pods_on(self, node: NodeName) -> Iterator[Pod]:
        """Yield the pods placed on a node, finished and terminating ones too."""
        return (self.pods[uid] for uid in self.pods_by_node.get(node, ()))

    def budgets_of(self, pod: Pod) -> tuple[Budget, ...]:
        """Return the budgets that guard a pod, in the order of their names."""
        return tuple(self.budgets[uid] for uid in self.budgets_by_pod.get(pod.ref.uid, ()))

    def top_owner(self, pod: Pod) -> OwnerRef | None:
        """Return the controller at the top of a pod's chain: the Deployment, not its ReplicaSet.

        For a pod of a group it is the controller that keeps the groups, whatever keeps their parts.
        """
        group = pod.group
        if group is not None:
            return OwnerRef(group.kind, group.name, group.owner_uid)
        ref = pod.controller
        while ref is not None and (owner := self.owners.get(ref.uid)) is not None and owner.parent is not None:
            ref = owner.parent
        return ref

    def pods_of(self, owner: OwnerUid) -> tuple[Pod, ...]:
        """Return all pods below a controller, at any depth."""
        known = self.once(_pods_below)
        if owner not in known:
            own = (self.pods[uid] for uid in self.pods_by_controller.get(owner, ()))
            below = (pod for child in self.owners_by_parent.get(owner, ()) for pod in self.pods_of(child))
            known[owner] = (*own, *below)
        return known[owner]


def _pods_below(_snapshot: Snapshot) -> dict[OwnerUid, tuple[Pod, ...]]:
    """Return where the pods below each controller are kept, as they are asked for."""
    return {}

"""The few fields of Kubernetes' objects that we read (pods' are in `resources_pod`); all others are skipped unseen."""

from datetime import datetime
from typing import Protocol

import msgspec

CORDON_ANNOTATION = "wingsmith.dev/cordon"


class Metadata(Protocol):
    """What every mirrored object says of itself."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def uid(self) -> str:
        """Its UID."""

    @property
    def resource_version(self) -> str:
        """The version of its last change."""


class Object(Protocol):
    """Any mirrored object."""

    @property
    def metadata(self) -> Metadata:
        """What it says of itself."""


# --- what they have in common -----------------------------------------------------------------------------------------


class OwnerReference(msgspec.Struct, frozen=True, rename="camel"):
    """One owner of an object."""

    kind: str
    name: str
    uid: str
    controller: bool = False


class Condition(msgspec.Struct, frozen=True, rename="camel"):
    """One condition of a status."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class ObjectMeta(msgspec.Struct, frozen=True, rename="camel"):
    """An object's metadata."""

    name: str
    uid: str
    resource_version: str
    namespace: str = ""
    generation: int = 0
    deletion_timestamp: datetime | None = None
    owner_references: tuple[OwnerReference, ...] = ()


class Expression(msgspec.Struct, frozen=True, rename="camel"):
    """One expression of a label selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class LabelSelector(msgspec.Struct, frozen=True, rename="camel"):
    """A label selector: all of its labels and expressions must match."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[Expression, ...] = ()


# --- nodes ------------------------------------------------------------------------------------------------------------


class NodeAnnotations(msgspec.Struct, frozen=True, rename="camel"):
    """The one annotation of a node that we read: our own."""

    cordon: str | None = msgspec.field(default=None, name=CORDON_ANNOTATION)


class Owned(msgspec.Struct, frozen=True):
    """That a field is owned; there is nothing more to it."""


class OwnedSpec(msgspec.Struct, frozen=True, rename="camel"):
    """Of the fields of a node's spec that a manager owns, the one that makes the cordon."""

    unschedulable: Owned | None = msgspec.field(default=None, name="f:unschedulable")


class OwnedFields(msgspec.Struct, frozen=True, rename="camel"):
    """Of the fields that a manager owns, those of the spec."""

    spec: OwnedSpec | None = msgspec.field(default=None, name="f:spec")


class ManagedFields(msgspec.Struct, frozen=True, rename="camel"):
    """What one field manager owns."""

    manager: str = ""
    fields: OwnedFields | None = msgspec.field(default=None, name="fieldsV1")


class NodeMeta(msgspec.Struct, frozen=True, rename="camel"):
    """A node's metadata."""

    name: str
    uid: str
    resource_version: str
    labels: dict[str, str] = {}
    annotations: NodeAnnotations = NodeAnnotations()
    managed_fields: tuple[ManagedFields, ...] = ()


class Taint(msgspec.Struct, frozen=True, rename="camel"):
    """A node's taint."""

    key: str
    effect: str
    value: str = ""


class NodeSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A node's spec."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A node's status."""

    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    conditions: tuple[Condition, ...] = ()


class Node(msgspec.Struct, frozen=True, rename="camel"):
    """A node."""

    metadata: NodeMeta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


# --- budgets ----------------------------------------------------------------------------------------------------------


class BudgetSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A budget's spec; no selector at all selects nothing, an empty one everything."""

    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str = ""


class BudgetStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A budget's status; `disrupted_pods` are those whose eviction was accepted but not yet seen."""

    observed_generation: int = 0
    expected_pods: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str] = {}
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(msgspec.Struct, frozen=True, rename="camel"):
    """A budget."""

    metadata: ObjectMeta
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()


# --- owners -----------------------------------------------------------------------------------------------------------


class ReplicasSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The spec of a controller that keeps a number of pods."""

    replicas: int = 1


class ReplicasStatus(msgspec.Struct, frozen=True, rename="camel"):
    """Its status."""

    conditions: tuple[Condition, ...] = ()


class Replicas(msgspec.Struct, frozen=True, rename="camel"):
    """A Deployment, a ReplicaSet or a StatefulSet."""

    metadata: ObjectMeta
    spec: ReplicasSpec = ReplicasSpec()
    status: ReplicasStatus = ReplicasStatus()


class DaemonSetStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A DaemonSet's status."""

    desired_number_scheduled: int = 0


class DaemonSet(msgspec.Struct, frozen=True, rename="camel"):
    """A DaemonSet."""

    metadata: ObjectMeta
    status: DaemonSetStatus = DaemonSetStatus()


class JobSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A Job's spec; without completions it is a queue that one success ends."""

    parallelism: int = 1
    completions: int | None = None
    suspend: bool = False


class JobStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A Job's status."""

    succeeded: int = 0
    conditions: tuple[Condition, ...] = ()


class Job(msgspec.Struct, frozen=True, rename="camel"):
    """A Job."""

    metadata: ObjectMeta
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


# --- what only the fit reads: quotas, claims and volumes --------------------------------------------------------------


class ScopeSelector(msgspec.Struct, frozen=True):
    """That a quota has scopes; which ones is nothing we read."""


class QuotaSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A quota's spec; one with scopes counts some pods and not others."""

    hard: dict[str, str] = {}
    scopes: tuple[str, ...] | None = None
    scope_selector: ScopeSelector | None = None


class QuotaStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A quota's status."""

    used: dict[str, str] = {}


class ResourceQuota(msgspec.Struct, frozen=True, rename="camel"):
    """A quota of a namespace."""

    metadata: ObjectMeta
    spec: QuotaSpec = QuotaSpec()
    status: QuotaStatus = QuotaStatus()


class ClaimSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A volume claim's spec; without a volume it is not bound yet."""

    volume_name: str = ""
    access_modes: tuple[str, ...] = ()


class PersistentVolumeClaim(msgspec.Struct, frozen=True, rename="camel"):
    """A volume claim."""

    metadata: ObjectMeta
    spec: ClaimSpec = ClaimSpec()


class NodeSelectorRequirement(msgspec.Struct, frozen=True, rename="camel"):
    """One condition on a node's labels or fields."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class NodeSelectorTerm(msgspec.Struct, frozen=True, rename="camel"):
    """Conditions that must all hold; of several terms one must."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(msgspec.Struct, frozen=True, rename="camel"):
    """Terms of which one must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class VolumeNodeAffinity(msgspec.Struct, frozen=True, rename="camel"):
    """The nodes that can reach a volume."""

    required: NodeSelector | None = None


class VolumeSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A volume's spec."""

    node_affinity: VolumeNodeAffinity | None = None


class PersistentVolume(msgspec.Struct, frozen=True, rename="camel"):
    """A volume."""

    metadata: ObjectMeta
    spec: VolumeSpec = VolumeSpec()

"""The few fields of Kubernetes' objects that we read; the decoder skips all others unseen."""

from datetime import datetime
from typing import Protocol

import msgspec

CORDON_ANNOTATION = "wingsmith.dev/cordon"
MIRROR_ANNOTATION = "kubernetes.io/config.mirror"


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


# --- pods -------------------------------------------------------------------------------------------------------------


class PodAnnotations(msgspec.Struct, frozen=True, rename="camel"):
    """The one annotation of a pod that we read: the kubelet's mark of a mirror pod."""

    mirror: str | None = msgspec.field(default=None, name=MIRROR_ANNOTATION)


class PodMeta(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's metadata."""

    name: str
    uid: str
    resource_version: str
    namespace: str
    creation_timestamp: datetime
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] = {}
    annotations: PodAnnotations = PodAnnotations()
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class Resources(msgspec.Struct, frozen=True, rename="camel"):
    """What a container, or a pod as a whole, asks for."""

    requests: dict[str, str] = {}


class Container(msgspec.Struct, frozen=True, rename="camel"):
    """A container; an init container that restarts always runs beside the others."""

    resources: Resources = Resources()
    restart_policy: str = ""


class Toleration(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's toleration."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class EmptyDir(msgspec.Struct, frozen=True, rename="camel"):
    """A volume that lives and dies with its pod."""

    medium: str = ""


class Volume(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's volume."""

    empty_dir: EmptyDir | None = None


class PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's spec."""

    node_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: Resources = Resources()
    overhead: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()
    node_selector: dict[str, str] = {}
    priority: int = 0
    termination_grace_period_seconds: int = 30
    volumes: tuple[Volume, ...] = ()


class Waiting(msgspec.Struct, frozen=True, rename="camel"):
    """Why a container does not run."""

    reason: str = ""
    message: str = ""


class Terminated(msgspec.Struct, frozen=True, rename="camel"):
    """How a container ended."""

    reason: str = ""
    message: str = ""
    exit_code: int = 0


class Running(msgspec.Struct, frozen=True):
    """That a container runs; since when is nothing we read."""


class ContainerState(msgspec.Struct, frozen=True, rename="camel"):
    """What a container does; one of the three is set."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct, frozen=True, rename="camel"):
    """One container's status."""

    name: str
    ready: bool = False
    state: ContainerState = ContainerState()


class PodStatus(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's status."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(msgspec.Struct, frozen=True, rename="camel"):
    """A pod."""

    metadata: PodMeta
    spec: PodSpec
    status: PodStatus = PodStatus()


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

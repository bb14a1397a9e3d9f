"""The few fields of pods that we read; the decoder skips all others unseen.

What most pods have word for word from their template is left as it came (`msgspec.Raw`): `translate_shared` and
`translate_demands` read each wording once, however many pods have it.
"""

from datetime import datetime

import msgspec

from hangar.operator.cluster.kubernetes.resources import Condition, LabelSelector, NodeSelector, OwnerReference

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"

ALWAYS = "Always"
"""The restart policy of an init container that runs on beside the others."""

NOTHING = msgspec.Raw()
"""A field that is not there."""


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
    labels: msgspec.Raw = NOTHING
    annotations: PodAnnotations = PodAnnotations()
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class Resources(msgspec.Struct, frozen=True, rename="camel"):
    """What a container, or a pod as a whole, asks for."""

    requests: dict[str, str] = {}


class ContainerPort(msgspec.Struct, frozen=True, rename="camel"):
    """A port of a container, and the one of its node that leads there (0: none)."""

    container_port: int = 0
    host_port: int = 0
    protocol: str = "TCP"
    host_ip: str = msgspec.field(default="", name="hostIP")


class Container(msgspec.Struct, frozen=True, rename="camel"):
    """A container; an init container that restarts always runs beside the others."""

    resources: Resources = Resources()
    restart_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()


class Toleration(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's toleration."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class EmptyDir(msgspec.Struct, frozen=True, rename="camel"):
    """A volume that lives and dies with its pod."""

    medium: str = ""


class ClaimSource(msgspec.Struct, frozen=True, rename="camel"):
    """The volume claim that a volume is from."""

    claim_name: str


class Ephemeral(msgspec.Struct, frozen=True):
    """That a volume is from a claim of the pod's own; what it asks for is the claim's to say."""


class Volume(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's volume."""

    name: str = ""
    empty_dir: EmptyDir | None = None
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: Ephemeral | None = None


class NodeAffinity(msgspec.Struct, frozen=True, rename="camel"):
    """The nodes that a pod goes to."""

    required: NodeSelector | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class PodAffinityTerm(msgspec.Struct, frozen=True, rename="camel"):
    """Other pods, and the domain that they are to be in, or not.

    Without namespaces and without a selector of namespaces it is about the pod's own; an empty selector means all.
    """

    topology_key: str
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None


class PodAffinity(msgspec.Struct, frozen=True, rename="camel"):
    """The pods that a pod goes to, or keeps away from."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(
        default=(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(msgspec.Struct, frozen=True, rename="camel"):
    """All that a pod says of the company it keeps."""

    node_affinity: NodeAffinity = NodeAffinity()
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()


class SpreadConstraint(msgspec.Struct, frozen=True, rename="camel"):
    """How evenly pods are spread over domains."""

    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    label_selector: LabelSelector | None = None
    min_domains: int = 1
    match_label_keys: tuple[str, ...] = ()
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"


class PodSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A pod's spec."""

    node_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: Resources = Resources()
    overhead: dict[str, str] = {}
    tolerations: msgspec.Raw = NOTHING
    node_selector: msgspec.Raw = NOTHING
    affinity: msgspec.Raw = NOTHING
    topology_spread_constraints: msgspec.Raw = NOTHING
    resource_claims: tuple[msgspec.Raw, ...] = ()
    host_network: bool = False
    runtime_class_name: str | None = None
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

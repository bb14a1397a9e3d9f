"""What a simulated cluster is built of, as a scenario declares it: nodes, workloads, graphs, what bounds them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hangar.domain.devices import GPU
from hangar.domain.placing import NO_DEMANDS, Demands, NodeTerm
from hangar.domain.snapshot import Taint, Toleration
from hangar.domain.workloads.graph import RivalKind, Role

GROUPED = "LeaderWorkerSet"
"""The kind of workload whose replicas are groups of pods that live and die together."""


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node and what it has; amounts as in the domain (CPU in millicores, memory in bytes)."""

    name: str
    resources: Mapping[str, int] = field(
        default_factory=lambda: {GPU: 8, "cpu": 192_000, "memory": 2 << 40, "pods": 110}
    )
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    is_ready: bool = True


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """What every pod of a workload is like.

    `ready_after_s` from placed to ready; `terminate_after_s` from deletion to gone, never longer than its grace.
    `stuck_on`: why it never becomes ready, in a kubelet's words, such as `main: ImagePullBackOff: no such image`.
    """

    requests: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    grace_s: int = 30
    ready_after_s: float = 2.0
    terminate_after_s: float = 1.0
    has_disk_empty_dir: bool = False
    demands: Demands = NO_DEMANDS
    priority: int = 0
    runtime_class: str | None = None
    stuck_on: str | None = None


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """A controller and its pods.

    `kind` is Deployment, StatefulSet, Job, DaemonSet, LeaderWorkerSet or the name of a foreign controller. The
    replicas of a LeaderWorkerSet are groups of `group_size` pods. `pinned` places the first pods on the nodes named,
    in order; later ones go where the scheduler likes.
    """

    kind: str
    name: str
    replicas: int
    template: PodTemplate = PodTemplate()
    namespace: str = "default"
    pinned: tuple[str, ...] = ()
    group_size: int = 1


@dataclass(frozen=True, slots=True)
class ComponentSpec:
    """A component of a graph; each of its replicas is `node_count` pods, which serve only together.

    With `has_adapter` its number is written through a scaling adapter alone, which the graph's operator makes.
    """

    name: str
    role: Role
    replicas: int = 1
    template: PodTemplate = PodTemplate()
    node_count: int = 1
    has_adapter: bool = False


@dataclass(frozen=True, slots=True)
class RivalSpec:
    """Somebody else who holds numbers of a graph at what they were when it was added.

    It puts them back `after_s` seconds after each change: those of one `component`, or of all of them. `replaces`: with
    the object as a whole, so that our revision goes too.
    """

    kind: RivalKind
    name: str
    component: str | None = None
    after_s: float = 5.0
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class GraphSpec:
    """A DynamoGraphDeployment, and who else writes to it."""

    name: str
    components: tuple[ComponentSpec, ...]
    namespace: str = "default"
    rivals: tuple[RivalSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetSpec:
    """A PodDisruptionBudget over the pods with these labels; one of the two bounds is set."""

    name: str
    selector: Mapping[str, str]
    min_available: int | None = None
    max_unavailable: int | None = None
    namespace: str = "default"
    always_allow_unready: bool = False


@dataclass(frozen=True, slots=True)
class QuotaSpec:
    """A ResourceQuota: most amounts by its own names (`pods`, `requests.cpu`, `requests.nvidia.com/gpu`)."""

    name: str
    hard: Mapping[str, int]
    namespace: str = "default"


@dataclass(frozen=True, slots=True)
class VolumeSpec:
    """A PersistentVolume, and the nodes that can reach it (no terms: all)."""

    name: str
    node_terms: tuple[NodeTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimSpec:
    """A PersistentVolumeClaim; `once` where its volume may be mounted on one node only."""

    name: str
    volume: str | None = None
    once: bool = True
    namespace: str = "default"


@dataclass(frozen=True, slots=True)
class WebhookSpec:
    """An admission webhook that evictions of the pods with these labels have to pass.

    Without `is_slow` it denies, with `message`; with `moves_after_s` it then ends the pod itself, so much later.
    With `is_slow` it answers nothing within `timeout_s`; an eviction is then refused, or with `lets_pass` accepted.
    """

    name: str
    selector: Mapping[str, str] = field(default_factory=dict)
    message: str = "not now"
    moves_after_s: float | None = None
    is_slow: bool = False
    timeout_s: float = 2.0
    lets_pass: bool = False

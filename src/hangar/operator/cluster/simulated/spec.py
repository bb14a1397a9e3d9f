"""What a simulated cluster is built of: nodes, workloads and budgets, as a scenario declares them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hangar.domain.snapshot import Taint, Toleration

GPU = "nvidia.com/gpu"


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
    """

    requests: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    grace_s: int = 30
    ready_after_s: float = 2.0
    terminate_after_s: float = 1.0
    has_disk_empty_dir: bool = False


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """A controller and its pods. `kind` is Deployment, StatefulSet, Job, DaemonSet or the name of a foreign controller.

    `pinned` places the first pods on the nodes named, in order; later ones go where the scheduler likes.
    """

    kind: str
    name: str
    replicas: int
    template: PodTemplate = PodTemplate()
    namespace: str = "default"
    pinned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetSpec:
    """A PodDisruptionBudget over the pods with these labels; one of the two bounds is set."""

    name: str
    selector: Mapping[str, str]
    min_available: int | None = None
    max_unavailable: int | None = None
    namespace: str = "default"

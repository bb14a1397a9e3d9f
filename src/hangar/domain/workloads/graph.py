"""Graph: a DynamoGraphDeployment as either of its API versions tells it, one component a row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from hangar.domain.ids import OperationId, WorkloadName


class Role(StrEnum):
    """What a component does; OTHER is a role that we have no name for."""

    FRONTEND = "frontend"
    WORKER = "worker"
    PREFILL = "prefill"
    DECODE = "decode"
    PLANNER = "planner"
    EPP = "epp"
    OTHER = "other"


ROLES: Mapping[str, Role] = MappingProxyType({each.value: each for each in Role if each is not Role.OTHER})


def role_of(type_: str, sub_type: str = "") -> Role:
    """Return what a component does, by its type, or by the finer one where a worker has that."""
    known = ROLES.get(type_, Role.OTHER)
    return ROLES.get(sub_type, known) if known is Role.WORKER else known


@dataclass(frozen=True, slots=True)
class Counts:
    """How far a component is, as the graph's own operator counts it; `ready` is what is available, if that is told."""

    replicas: int
    updated: int
    ready: int


@dataclass(frozen=True, slots=True)
class Adapter:
    """The scaling adapter of a component: the object that owns its number, and writes it into the graph.

    `version` changes whenever the object does; `written_by` is the field manager that set the number.
    """

    name: str
    uid: str
    version: str
    replicas: int
    written_by: str | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """One component. `replicas` is what is asked for; `node_count` the pods of one replica, a gang where more than one.

    `gpus_per_pod` None means that it cannot be counted. `has_adapter`: its number is written by a scaling adapter,
    `adapter`, which is None where it is missing. `pods` are its pods that have not finished, terminating ones too.
    `written_by` is the field manager that set the number, None where nobody owns it.
    """

    name: str
    role: Role
    replicas: int
    node_count: int = 1
    gpus_per_pod: int | None = 0
    has_adapter: bool = False
    adapter: Adapter | None = None
    counts: Counts | None = None
    pods: int = 0
    written_by: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class GraphRef:
    """Where a graph is, within its cluster."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class RivalKind(StrEnum):
    """What else may write the numbers of a graph."""

    HPA = "HorizontalPodAutoscaler"
    KEDA = "ScaledObject"
    PLANNER = "Planner"
    GITOPS = "GitOps"  # it puts back what its repository says


@dataclass(frozen=True, slots=True, order=True)
class Rival:
    """Somebody else who writes the number of a component; `component` None: of any component of the graph."""

    kind: RivalKind
    name: str
    component: str | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Why a revision of what is desired is not on a graph yet, in its operator's words."""

    rev: int
    code: str
    why: str


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph. `version` changes whenever the object does (its resourceVersion).

    `applied_rev` is the revision of the desired state that was written last, from our annotation; None: never.
    `is_observed`: the graph's operator has seen this generation. `rollout` is the phase of a rolling update, empty
    where there is none. `unready` says why it does not count as ready, in its operator's words; None where it does.
    `is_paused` is the mark by which somebody asks its operator to leave it alone. `is_ours`: Wingsmith has created it,
    from a template. `rivals` are others that write its numbers. `drains` are the node drains that move pods of it:
    only the hub is told of them.
    """

    ref: GraphRef
    uid: str
    version: str
    api_version: str
    components: tuple[Component, ...] = ()
    applied_rev: int | None = None
    is_observed: bool = True
    rollout: str = ""
    unready: str | None = None
    is_paused: bool = False
    is_ours: bool = False
    rivals: tuple[Rival, ...] = ()
    drains: tuple[OperationId, ...] = ()

    def component(self, name: str) -> Component | None:
        """Return a component by its name, None where there is none."""
        return next((each for each in self.components if each.name == name), None)


Document: TypeAlias = Mapping[str, object]
"""An object as Kubernetes takes it."""


@dataclass(frozen=True, slots=True)
class Desired:
    """What the hub wants of a graph: the count of each component that it decides, as of a revision.

    `template` is what to create where there is no such graph: a whole object of either version, its counts and its
    name to be filled in. None: a graph that is not there is waited for.
    """

    ref: GraphRef
    rev: int
    counts: Mapping[str, int] = field(default_factory=dict)
    workload: WorkloadName | None = None
    template: Document | None = None


@dataclass(frozen=True, slots=True)
class Removal:
    """A graph that is to be deleted: one that Wingsmith had created, and that serves no workload any more."""

    ref: GraphRef
    uid: str


SETTLED_ROLLOUTS = ("", "Completed")


def is_converged(graph: Graph, desired: Desired) -> bool:
    """Tell whether a graph runs what is wanted: written, seen, and every component there, updated and ready.

    A condition Ready alone is no proof: it has been true too early, and false for ever.
    """
    if graph.applied_rev != desired.rev or not graph.is_observed or graph.rollout not in SETTLED_ROLLOUTS:
        return False
    for name, count in desired.counts.items():
        component = graph.component(name)
        if component is None or component.replicas != count:
            return False
        counts = component.counts or Counts(0, 0, 0)
        if not counts.replicas == counts.updated == counts.ready == count:
            return False
    return True


def has_drifted(graph: Graph, desired: Desired) -> bool:
    """Tell whether somebody changed what was written: our revision is on it, and its numbers are others."""
    if graph.applied_rev != desired.rev:
        return False
    return any(
        (component := graph.component(name)) is None or component.replicas != count
        for name, count in desired.counts.items()
    )

"""What a type of operation on a workload is: it is decided in the hub, on the workload with all its deployments."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from hangar.domain.decision import End, Fail, Go
from hangar.domain.ids import ClusterName, OperationId, WorkloadName
from hangar.domain.workloads.workload import Deployment, Workload

P = TypeVar("P")
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class SetReplicas:
    """Let the global number be this one; what was held is placed anew.

    A cluster that is drained keeps what it still serves, as far as that is not more than the number: a drain that
    failed on its way is taken up by another drain, and not by dropping what nobody has taken over.
    """

    replicas: int


@dataclass(frozen=True, slots=True)
class SetPaused:
    """Pause a workload, or let it run again with the number that it has."""

    on: bool


@dataclass(frozen=True, slots=True)
class TakeOut:
    """Leave a cluster out of the placement; what runs there is held until the others have taken over."""

    cluster: ClusterName
    operation: OperationId


@dataclass(frozen=True, slots=True)
class TakeIn:
    """Let a cluster count in the placement again."""

    cluster: ClusterName


@dataclass(frozen=True, slots=True)
class Hold:
    """Keep a cluster at a number, whatever the placement says; None lets go of it."""

    cluster: ClusterName
    replicas: int | None


Change: TypeAlias = SetReplicas | SetPaused | TakeOut | TakeIn | Hold
"""All that an operation ever does to a workload."""


@dataclass(frozen=True, slots=True)
class WorkloadJob(Generic[P, M]):
    """One open operation on a workload. `cluster` is set for those that are about one deployment."""

    id: OperationId
    target: WorkloadName
    cluster: ClusterName | None
    params: P
    memory: M
    actor: str
    reason: str | None
    deadline_at: datetime
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Decided(Generic[M]):
    """What is to be done to the workload now, in this order, and how the operation goes on or ends."""

    outcome: Go[M] | End[M]
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadKind(Generic[P, M]):
    """A type of operation on a workload.

    `params` and `memory` are as those of a `Kind`. `touches` names the clusters whose leave it needs. `refuse` says
    why one must not be made now; None lets it be. `deadline_s` is after how long it fails. `is_per_cluster`: it is
    about one deployment, by its cluster. `needs_room`: when it begins it looks at how much more each cluster could run.
    `asks_for` is what of it may need more of the project's quota, None where nothing does.
    """

    name: str
    version: int
    title: str
    params: type[P]
    memory: type[M]
    refuse: Callable[[P, Workload, ClusterName | None], Fail | None]
    decide: Callable[[WorkloadJob[P, M], Workload, datetime], Decided[M]]
    touches: Callable[[Workload, ClusterName | None], tuple[ClusterName, ...]]
    deadline_s: Callable[[P], int]
    is_per_cluster: bool = False
    needs_room: bool = False
    asks_for: Callable[[P, ClusterName | None], Change | None] = field(default=lambda _params, _cluster: None)
    needs: Literal["scale"] = "scale"
    runs_in: Literal["hub"] = "hub"


AnyWorkloadKind: TypeAlias = WorkloadKind[Any, Any]
"""One of several types whose parameters and memory are known only once its operation is read."""


def changed(workload: Workload, change: Change) -> Workload:
    """Return a workload after a change; its numbers are still to be derived."""
    match change:
        case SetReplicas(replicas=replicas):
            loose = tuple(replace(each, held=_still_held(each, replicas)) for each in workload.deployments)
            return replace(workload, replicas=replicas, deployments=loose)
        case SetPaused(on=on):
            loose = tuple(replace(each, held=None) for each in workload.deployments)
            return replace(workload, is_paused=on, deployments=loose)
        case TakeOut(cluster=cluster, operation=operation):
            rows = (
                replace(each, drained_by=operation, held=each.desired) if each.cluster == cluster else each
                for each in workload.deployments
            )
        case TakeIn(cluster=cluster):
            rows = (
                replace(each, drained_by=None, held=None) if each.cluster == cluster else each
                for each in workload.deployments
            )
        case Hold(cluster=cluster, replicas=held):
            rows = (replace(each, held=held) if each.cluster == cluster else each for each in workload.deployments)
    return replace(workload, deployments=tuple(rows))


def _still_held(deployment: Deployment, replicas: int) -> int | None:
    if deployment.drained_by is None or deployment.held is None:
        return None
    return min(deployment.held, replicas) or None

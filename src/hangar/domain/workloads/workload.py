"""A workload over all its clusters: what is wanted of each, derived from a few inputs, and how far each is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from hangar.domain.ids import ClusterName, OperationId, WorkloadName
from hangar.domain.workloads.graph import Desired, Graph, GraphRef, Unwritten, has_drifted, is_converged
from hangar.domain.workloads.placement import Misfit, Policy, Site, place
from hangar.domain.workloads.shape import Shape, counts_of, gpus_per_replica, ready_replicas


class DeploymentState(StrEnum):
    """How a deployment is."""

    RECONCILING = "reconciling"  # what is wanted is not written, or not there yet
    READY = "ready"
    DRAINED = "drained"
    DRIFTED = "drifted"  # somebody else changed what was written
    MISSING = "missing"  # there is no such graph, or its shape is not known


@dataclass(frozen=True, slots=True)
class Deployment:
    """A workload on one cluster. `desired` is derived, and kept with the revision of its last change.

    `drained_by` is the operation that took the cluster out of the placement. `held` keeps the number where it is,
    whatever the placement says: while a drain hands over, and where a cancelled operation left it. `shape` is None
    until the graph was seen; `room` is how many replicas more the cluster could run, None where that is not known or
    was not looked up, as of `silent_s` seconds ago where it is offline.
    `told` is what its operator said last of why it has not written something. `planned` is the graph that the
    workload's template would make, where the graph itself is made from it.
    """

    cluster: ClusterName
    ref: GraphRef
    shape: Shape | None = None
    desired: int = 0
    desired_rev: int = 0
    drained_by: OperationId | None = None
    held: int | None = None
    graph: Graph | None = None
    is_online: bool = True
    room: int | None = field(default=None, compare=False)
    silent_s: int | None = field(default=None, compare=False)
    told: Unwritten | None = None
    planned: Graph | None = None

    @property
    def unwritten(self) -> Unwritten | None:
        """Return why what is wanted now is not written, where its operator has said so."""
        return self.told if self.told is not None and self.told.rev == self.desired_rev else None

    @property
    def described(self) -> Graph | None:
        """Return the graph, or the one that is to be created: for what its replicas are, not for how they are."""
        return self.graph or self.planned

    @property
    def is_spared(self) -> bool:
        """Tell whether there is no graph, and need not be one: it would be created to run nothing."""
        return self.graph is None and self.planned is not None and self.shape is not None and self.desired == 0

    @property
    def wanted(self) -> Desired | None:
        """Return what its operator has to write, None while its shape is not known."""
        if self.shape is None:
            return None
        return Desired(self.ref, self.desired_rev, counts_of(self.shape, self.desired))

    @property
    def is_written(self) -> bool:
        """Tell whether the graph carries what is wanted, whether or not it is ready by now."""
        if self.is_spared:
            return True
        wanted = self.wanted
        if self.graph is None or wanted is None or self.graph.applied_rev != wanted.rev:
            return False
        return not has_drifted(self.graph, wanted)

    @property
    def is_converged(self) -> bool:
        """Tell whether what is wanted runs and is ready."""
        wanted = self.wanted
        return self.is_spared or (self.graph is not None and wanted is not None and is_converged(self.graph, wanted))

    @property
    def is_empty(self) -> bool:
        """Tell whether no pod of a scaled component is left, terminating ones too."""
        if self.graph is None or self.shape is None:
            return self.is_spared
        return all((part := self.graph.component(name)) is None or part.pods == 0 for name in self.shape)

    @property
    def ready(self) -> int:
        """Return how many whole replicas are ready."""
        return ready_replicas(self.graph, self.shape) if self.graph is not None and self.shape is not None else 0

    @property
    def state(self) -> DeploymentState:
        """Return how it is."""
        wanted = self.wanted
        if self.described is None or wanted is None:
            return DeploymentState.MISSING
        if self.graph is not None and has_drifted(self.graph, wanted):
            return DeploymentState.DRIFTED
        if not self.is_converged:
            return DeploymentState.RECONCILING
        return DeploymentState.DRAINED if self.drained_by is not None else DeploymentState.READY


@dataclass(frozen=True, slots=True)
class Workload:
    """A model that is served. `replicas` is the global number; a pause leaves it as it is."""

    name: WorkloadName
    project: str
    replicas: int
    policy: Policy
    is_paused: bool = False
    deployments: tuple[Deployment, ...] = ()

    def deployment(self, cluster: ClusterName) -> Deployment | None:
        """Return its deployment on a cluster, None where there is none."""
        return next((each for each in self.deployments if each.cluster == cluster), None)

    @property
    def open_deployments(self) -> tuple[Deployment, ...]:
        """Return the deployments that the placement counts with: those that are not drained."""
        return tuple(each for each in self.deployments if each.drained_by is None)


def placement(workload: Workload) -> Mapping[ClusterName, int] | Misfit:
    """Return how many replicas each cluster is to run, or why that number cannot be placed."""
    sites = [
        Site(each.cluster, each.desired, is_drained=each.drained_by is not None, room=each.room)
        for each in workload.deployments
    ]
    placed = place(workload.policy, 0 if workload.is_paused else workload.replicas, sites)
    if isinstance(placed, Misfit):
        return placed
    held = {each.cluster: each.held for each in workload.deployments if each.held is not None}
    return {**placed, **held}


def derived(workload: Workload, rev: int, *, is_renewed: bool = False) -> Workload | Misfit:
    """Return the workload with each deployment's number derived anew; `rev` marks those that changed.

    A revision never goes back, so a deployment's is at least one more than it was. `is_renewed` also writes over what
    somebody else has changed since, where the number is to be what it was.
    """
    numbers = placement(workload)
    if isinstance(numbers, Misfit):
        return numbers
    deployments = [_with(each, numbers[each.cluster], rev, is_renewed) for each in workload.deployments]
    return replace(workload, deployments=tuple(deployments))


def gpus_of(deployments: Iterable[Deployment]) -> int | None:
    """Return how many GPUs one replica needs, as the first deployment that can tell says; None where none can."""
    for each in deployments:
        if each.described is not None and each.shape is not None:
            gpus = gpus_per_replica(each.described, each.shape)
            if gpus is not None:
                return gpus
    return None


def _with(deployment: Deployment, desired: int, rev: int, is_renewed: bool) -> Deployment:
    is_over = is_renewed and deployment.state is DeploymentState.DRIFTED
    if deployment.desired == desired and deployment.desired_rev and not is_over:
        return deployment
    return replace(deployment, desired=desired, desired_rev=max(rev, deployment.desired_rev + 1))

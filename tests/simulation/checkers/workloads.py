"""Workloads: each revision is written once and none goes back, a drain empties its cluster, nobody is left behind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hangar.domain.decision import Accepted, Answer, Apply, Scale, Step
from hangar.domain.ids import WorkloadName
from hangar.domain.operation import OPEN, Phase
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.rollout import waiting
from hangar.domain.workloads.shape import ready_replicas
from hangar.domain.workloads.workload import Deployment, Workload
from hangar.hub.store.store import Store
from hangar.hub.store.tables import workloads
from hangar.hub.store.workload_rows import SELECT_WORKLOAD, read_workloads
from tests.simulation.checkers.truth import History, Rows, ViolationError

WORKER = "decode"
"""The component that graphs of a run are scaled by, one a replica."""

BY_HAND = ("graph_paused", "drifted", "graph_missing")
"""What others did to a graph, so that what is wanted of it is not written: it is shown instead."""


@dataclass
class OneWriter:
    """On one cluster: no revision is written twice to the same graph, and none after a newer one."""

    written: dict[str, int] = field(default_factory=dict)  # the newest by the graph's UID

    def after(self, step: Step, answer: Answer) -> None:
        """A step has landed."""
        if not isinstance(step, Apply) or step.rev is None or not isinstance(answer, Accepted):
            return
        before = self.written.get(step.uid)
        if before is not None and step.rev <= before:
            raise ViolationError(f"{step.graph} was written at {step.rev}, and it was at {before} already")
        self.written[step.uid] = step.rev


@dataclass
class Served:
    """Over all clusters: what the hub wants of the graphs, and what they truly are."""

    store: Store
    histories: Mapping[str, History]
    revs: dict[tuple[str, str, GraphRef], int] = field(default_factory=dict)
    with_outage: set[str] = field(default_factory=set)
    looked_at: set[str] = field(default_factory=set)

    # --- what the hub says --------------------------------------------------------------------------------------------

    def look(self, rows: Rows) -> None:
        """The store has changed."""
        for workload in self.all():
            for each in workload.deployments:
                key = (workload.name, each.cluster, each.ref)
                if each.desired_rev < self.revs.get(key, 0):
                    raise ViolationError(f"what is wanted of {key} went back from {self.revs[key]}: {each}")
                self.revs[key] = each.desired_rev
        for row in rows:
            if row.type == "workload.drain":
                self._look_at_drain(row)

    def _look_at_drain(self, row: Any) -> None:
        if row.params["allow_outage"]:
            self.with_outage.add(row.id)
        if row.phase != Phase.SUCCEEDED.value or row.id in self.looked_at:
            return
        self.looked_at.add(row.id)
        workload = self._workload(row.target)
        deployment = workload.deployment(row.cluster)
        assert deployment is not None, "nobody deletes any in a run"
        if row.result["code"] == "drained" and deployment.drained_by != row.id:
            raise ViolationError(f"{row.id} says that it drained {row.cluster}, which counts: {deployment}")
        if deployment.desired or deployment.held is not None:
            raise ViolationError(f"{row.id} succeeded, and what is wanted of {row.cluster} is {deployment}")
        history = self.histories[row.cluster]
        history.remember()
        if row.result["code"] == "drained" and not any(_is_empty(deployment, each) for _, each in history.moments):
            raise ViolationError(f"{row.id} says that it drained {row.cluster}, where there always were pods")

    # --- what truly happens -------------------------------------------------------------------------------------------

    def before(self, cluster: str, step: Step) -> None:
        """A step is about to land: a drain takes the last replicas only where others have taken over."""
        if not isinstance(step, Apply | Scale) or _number(step) != 0:
            return
        graph = self.histories[cluster].live.world.snapshot().graphs.get(step.graph)
        if graph is None or ready_replicas(graph, {WORKER: 1}) == 0:
            return
        for workload in self.all():
            mine = workload.deployment(cluster)  # type: ignore[arg-type]
            if mine is None or mine.ref != step.graph or mine.desired or mine.drained_by is None:
                continue
            if workload.is_paused or not workload.replicas or mine.drained_by in self.with_outage:
                continue
            others = [each for each in workload.open_deployments if each is not mine]
            if others and not any(self._has_served(each) for each in others):
                raise ViolationError(f"{step} ends the last replicas of {workload.name}, for {mine.drained_by}")

    def _has_served(self, deployment: Deployment) -> bool:
        """Tell whether a deployment served at some moment of late."""
        history = self.histories[deployment.cluster]
        history.remember()
        graphs = (each.graphs.get(deployment.ref) for _, each in history.moments)
        return any(graph is not None and ready_replicas(graph, {WORKER: 1}) > 0 for graph in graphs)

    # --- in the end ---------------------------------------------------------------------------------------------------

    def unsettled(self) -> list[str]:
        """Return what is not as it has to be once nothing goes wrong any more."""
        return [why for workload in self.all() for each in workload.deployments if (why := self._why_unsettled(each))]

    def _why_unsettled(self, deployment: Deployment) -> str | None:
        if not deployment.is_online:
            return f"{deployment.cluster} is offline"
        graph = self.histories[deployment.cluster].live.world.snapshot().graphs.get(deployment.ref)
        if graph is None or deployment.graph is None or graph.uid != deployment.graph.uid:
            return None if graph is deployment.graph else f"{deployment.cluster} has another {graph}"
        wait = waiting(deployment, until_ready=False)
        if wait is not None:
            return None if wait.code in BY_HAND else f"{wait.code}: {deployment}"
        part = graph.component(WORKER)
        is_told = part is not None and (graph.applied_rev, part.replicas) == (
            deployment.desired_rev,
            deployment.desired,
        )
        return None if is_told else f"{graph} is not what is told of {deployment}"

    def judge(self, phases: Mapping[str, Phase]) -> None:
        """Judge how all is left in the end; `phases` are those of the operations by their ids."""
        for workload in self.all():
            for each in workload.deployments:
                self._judge(each, phases)
            rows = workload.open_deployments
            is_wanted = workload.replicas and not workload.is_paused and rows
            free = [each for each in rows if each.held is None]
            if is_wanted and len(free) == len(rows) and not any(each.desired for each in rows):
                raise ViolationError(f"nothing is wanted anywhere of {workload}")

    def _judge(self, deployment: Deployment, phases: Mapping[str, Phase]) -> None:
        by = deployment.drained_by
        if by is not None and phases[by] is Phase.SUCCEEDED and deployment.desired:
            raise ViolationError(f"{by} succeeded, and {deployment.desired} are wanted on {deployment.cluster}")
        if by is not None and phases[by] in OPEN | {Phase.CANCELLED}:
            raise ViolationError(f"{by} is {phases[by]}, and {deployment.cluster} is left out for it")

    # --- reading ------------------------------------------------------------------------------------------------------

    def all(self) -> list[Workload]:
        """Return all workloads as the hub has them."""
        return [each.workload for each in self.store.read(lambda it: read_workloads(it, _ALL))]

    def _workload(self, name: str) -> Workload:
        return next(each for each in self.all() if each.name == WorkloadName(name))


_ALL = SELECT_WORKLOAD.order_by(workloads.c.name)


def _number(step: Apply | Scale) -> int | None:
    """Return the number that a step gives the workers, None where it is not about them."""
    match step:
        case Apply(counts=counts):
            return counts.get(WORKER)
        case Scale(component=component, replicas=replicas):
            return replicas if component == WORKER else None


def _is_empty(deployment: Deployment, snapshot: Snapshot) -> bool:
    graph = snapshot.graphs.get(deployment.ref)
    part = graph.component(WORKER) if graph is not None else None
    return part is not None and part.pods == 0

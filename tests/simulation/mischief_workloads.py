"""What people and rivals do to workloads and their graphs in a run, one act at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from hangar.domain.decision import Accepted, Answer, Apply, Scale, Step
from hangar.domain.ids import OperationId
from hangar.domain.workloads.graph import GraphRef, Role
from hangar.domain.workloads.placement import Bounds, Division, Policy
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.projects import apply_project
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.submit import submit
from hangar.hub.usecases.workloads import WorkloadRequest, apply_workload, set_replicas
from hangar.operator.channel import HubError
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, PodTemplate
from tests.simulation.checkers.ends import OneEnd
from tests.simulation.checkers.workloads import WORKER
from tests.simulation.net import SimulatedHub
from tests.simulation.site import Site
from tests.virtual_loop import pass_time

TYPES = (
    ("workload.scale",) * 4 + ("workload.pause", "workload.resume") + ("workload.drain",) * 3 + ("workload.undrain",)
)
PER_CLUSTER = ("workload.drain", "workload.undrain")
REPLICAS_MAX = 6


@dataclass
class Serving:
    """The workloads of a run: their graphs are on all of its clusters."""

    dice: Random
    hub: SimulatedHub
    one_end: OneEnd
    tell: Callable[[str], None]
    names: tuple[str, ...] = ()
    specs: dict[tuple[str, GraphRef], GraphSpec] = field(default_factory=dict)
    rivals: dict[tuple[str, GraphRef], int] = field(default_factory=dict)
    asked: int = 0
    is_troubled: bool = True

    def add_graphs(self, site: Site) -> None:
        """Add the graphs of all workloads to a cluster."""
        dice = self.dice
        for name in self.names:
            worker = PodTemplate(ready_after_s=dice.choice((0.5, 3.0, 20.0)), terminate_after_s=dice.choice((0.2, 5.0)))
            components = (
                ComponentSpec("Frontend", Role.FRONTEND, 1),
                ComponentSpec(WORKER, Role.WORKER, dice.choice((0, 1, 2)), worker, has_adapter=dice.random() < 0.3),
            )
            spec = GraphSpec(name, components, "serving")
            self.specs[site.name, site.live.world.add_graph(spec)] = spec

    async def begin(self, sites: list[Site]) -> None:
        """Have all served, as soon as the operators are there."""
        dice, hub = self.dice, self.hub
        if not self.names:
            return
        hub.store.write(lambda tx: apply_project(tx, hub.admin, "chat", {}, hub.now_us()))
        for name in self.names:
            policy = Policy(
                dice.choice((Division.DIVIDED, Division.DIVIDED, Division.DUPLICATED)),
                default_bounds=dice.choice((Bounds(), Bounds(), Bounds(1), Bounds(0, 4))),
            )
            bindings = tuple(Binding(site.name, "serving", name) for site in sites)
            request = WorkloadRequest("chat", dice.choice((None, None, 1, 3)), policy, bindings=bindings)
            while not self._is_applied(name, request):
                await pass_time(1.0)

    def _is_applied(self, name: str, request: WorkloadRequest) -> bool:
        hub = self.hub
        try:
            hub.do(lambda tx: apply_workload(tx, hub.admin, name, request, hub.now_us()))
        except HubError as error:
            if error.code != "invalid_value":
                return False  # an operator is not there yet, or the hub is down
            request = replace(request, replicas=None, policy=None)
            return self._is_applied(name, request)
        self.tell(f"{name} is applied: {request}")
        return True

    def acts(self) -> tuple[Callable[[Site], None], ...]:
        """Return what may happen; asking is what happens most."""
        return (
            *(self.ask,) * 6,
            self.patch,
            self.edit,
            self.edit,
            self.let_rival_in,
            self.replace_graph,
            self.pause_graph,
        )

    # --- people -------------------------------------------------------------------------------------------------------

    def ask(self, site: Site) -> None:
        """Ask for an operation on a workload."""
        dice = self.dice
        type_, name = dice.choice(TYPES), dice.choice(self.names)
        params: dict[str, Any] = {"deadline_s": dice.choice((10, 60, 240))}
        if type_ == "workload.drain":
            params["allow_outage"] = dice.random() < 0.3
        elif dice.random() < 0.3:
            params["until"] = "ready"
        if type_ == "workload.scale":
            params["replicas"] = dice.randint(0, REPLICAS_MAX)
        cluster = site.name if type_ in PER_CLUSTER else None
        request = OperationRequest(type=type_, target=name, cluster=cluster, params=params, reason=None)
        self.asked += 1
        key = f"serving-{self.asked}"
        done = self.hub.do(lambda tx: submit(tx, self.hub.admin, request, key, self.hub.rules, self.hub.now_us()))
        self.one_end.acknowledged.add(OperationId(done.operation.id))
        self.tell(f"{type_} {name} {cluster or ''} {params} is {done.operation.id}")

    def patch(self, _site: Site) -> None:
        """Set a workload's number without an operation."""
        name, number = self.dice.choice(self.names), self.dice.randint(0, REPLICAS_MAX)
        self.hub.do(lambda tx: set_replicas(tx, self.hub.admin, name, number, self.hub.now_us()))
        self.tell(f"{name} is set to {number}")

    def edit(self, site: Site) -> None:
        """Change a graph's number past us."""
        if (ref := self._some_graph(site)) is not None:
            number = self.dice.randint(0, REPLICAS_MAX)
            self.tell(f"{site.name}: {ref} is edited by hand to {number}")
            site.live.world.scale_graph_by_hand(ref, WORKER, number, "kubectl-edit")

    def pause_graph(self, site: Site) -> None:
        """Mark a graph so that its operator, and we, leave it alone; take the mark off later."""
        if (ref := self._some_graph(site)) is not None:
            self.tell(f"{site.name}: {ref} is marked as paused")
            site.live.world.pause_graph_by_hand(ref)
            _later(self.dice.uniform(2.0, 30.0), lambda: _unpause(site, ref))

    def replace_graph(self, site: Site) -> None:
        """Delete a graph, and mostly make it anew under its name."""
        if (ref := self._some_graph(site)) is not None:
            back_s = self.dice.choice((0.1, 3.0, 20.0, None))
            self.tell(f"{site.name}: {ref} is deleted, and made anew in {back_s} s")
            site.live.world.remove_graph(ref)
            if back_s is not None:
                _later(back_s, lambda: self._make_anew(site, ref))

    def let_rival_in(self, site: Site) -> None:
        """Let somebody put a number of its own back after each of our writes to a graph, for a while."""
        if (ref := self._some_graph(site)) is not None:
            self.tell(f"{site.name}: a rival watches {ref}")
            self.rivals[site.name, ref] = self.dice.randint(0, REPLICAS_MAX)
            _later(self.dice.uniform(5.0, 40.0), lambda: self.rivals.pop((site.name, ref), None))

    # --- what follows -------------------------------------------------------------------------------------------------

    def landed(self, site: Site, step: Step, answer: Answer) -> None:
        """A step has landed: a rival may answer to it."""
        if not isinstance(step, Apply | Scale) or not isinstance(answer, Accepted):
            return
        number = self.rivals.get((site.name, step.graph))
        if number is not None and self.is_troubled:
            _later(self.dice.uniform(0.05, 4.0), lambda: _put_back(site, step.graph, number))

    def calm(self, sites: list[Site]) -> None:
        """End what can end by itself: rivals, and marks on graphs. What was edited stays so, and is shown."""
        self.is_troubled = False
        self.rivals.clear()
        for site in sites:
            for ref in list(site.live.touch().snapshot().graphs):
                _unpause(site, ref)

    def _some_graph(self, site: Site) -> GraphRef | None:
        graphs = sorted(site.live.touch().snapshot().graphs)
        return self.dice.choice(graphs) if graphs else None

    def _make_anew(self, site: Site, ref: GraphRef) -> None:
        if ref not in site.live.touch().snapshot().graphs:
            site.live.world.add_graph(self.specs[site.name, ref])


def _put_back(site: Site, ref: GraphRef, number: int) -> None:
    if ref in site.live.touch().snapshot().graphs:
        site.live.world.scale_graph_by_hand(ref, WORKER, number, "planner")


def _unpause(site: Site, ref: GraphRef) -> None:
    graph = site.live.touch().snapshot().graphs.get(ref)
    if graph is not None and graph.is_paused:
        site.live.world.pause_graph_by_hand(ref, on=False)


def _later(seconds: float, act: Callable[[], Any]) -> None:
    asyncio.get_running_loop().call_later(seconds, act)

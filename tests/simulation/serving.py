"""A fleet that serves models: a hub, and clusters with graphs, whose processes can be killed at any step."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import func, select

from hangar.domain.decision import Accepted, Answer, Apply, Scale, Step
from hangar.domain.devices import GPU
from hangar.domain.view import ClusterSettings
from hangar.domain.workloads.graph import Graph, GraphRef, Role
from hangar.domain.workloads.placement import Policy
from hangar.domain.workloads.workload import Workload
from hangar.hub.present import operation as present_operation
from hangar.hub.store.tables import graphs
from hangar.hub.store.tx import Tx
from hangar.hub.store.workload_rows import find_workload
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.projects import apply_project
from hangar.hub.usecases.queries import get_operation
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.submit import submit
from hangar.hub.usecases.workloads import WorkloadRequest, apply_workload
from hangar.kinds import KINDS
from hangar.operator.channel import HubError
from hangar.operator.cluster.port import Identity
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, NodeSpec, PodTemplate
from hangar.operator.cluster.simulated.world import World
from hangar.operator.conductor import Conductor
from hangar.operator.loop import Operator
from hangar.operator.session import session_request
from hangar.wire import shown
from tests.simulation.faulty import FaultyCluster, LiveWorld, Trouble
from tests.simulation.net import SimulatedChannel, SimulatedHub, Weather
from tests.simulation.playing import silenced
from tests.simulation.site import Process
from tests.virtual_loop import NOON, LoopClock, pass_time, run_virtual

T = TypeVar("T")

ALLOWED = frozenset({"cordon", "drain", "scale"})
DOWN_S = 4.0
"""How long a process that was killed is away; a hub that is away longer than its operators wait would stop them."""

RETRY_S = 1.0
"""After how long a client asks a hub again that did not answer."""

CALM_MAX_S = 180.0
"""Within this, whatever was killed, all that was asked for has to be done and ready."""


def a_model(
    name: str = "llama", *, replicas: int = 0, ready_after_s: float = 2.0, has_adapter: bool = False
) -> GraphSpec:
    """Return a graph with a frontend and workers of one GPU each."""
    worker = PodTemplate({GPU: 1}, ready_after_s=ready_after_s, terminate_after_s=1.0)
    components = (
        ComponentSpec("Frontend", Role.FRONTEND, 1, PodTemplate(ready_after_s=0.5)),
        ComponentSpec("decode", Role.WORKER, replicas, worker, has_adapter=has_adapter),
    )
    return GraphSpec(name, components, "serving")


@dataclass
class Messages:
    """What one operator's messages brought about: their numbers, and at which of them something happens."""

    sent: int = 0
    telling: list[int] = field(default_factory=list)  # the numbers of those that changed something in the hub
    before: Mapping[int, Callable[[], None]] = field(default_factory=dict)
    after: Mapping[int, Callable[[], None]] = field(default_factory=dict)


class Line(SimulatedChannel):
    """A channel whose messages are counted, through all operators that a cluster ever has."""

    def __init__(self, hub: SimulatedHub, cluster: str, weather: Weather, dice: random.Random, log: Messages) -> None:
        super().__init__(hub, cluster, weather, dice)
        self._log = log

    def _deliver(self, act: Callable[[Tx], T]) -> T:
        log = self._log
        log.sent += 1
        log.before.get(log.sent, _nothing)()
        if self.is_cut:
            raise HubError("it never left")
        steps = self._hub.steps
        try:
            return super()._deliver(act)
        finally:
            if self._hub.steps != steps:
                log.telling.append(log.sent)
            log.after.get(log.sent, _nothing)()


@dataclass
class ServingSite:
    """One cluster with graphs and its operator; `writes` are the patches that its API server took, in their order."""

    name: str
    hub: SimulatedHub
    live: LiveWorld
    dice: random.Random
    messages: Messages = field(default_factory=Messages)
    trouble: Trouble = field(default_factory=lambda: Trouble(read_lag_max_s=0.05))
    writes: list[Apply | Scale] = field(default_factory=list)
    before_write: Mapping[int, Callable[[], None]] = field(default_factory=dict)
    after_write: Mapping[int, Callable[[], None]] = field(default_factory=dict)
    process: Process | None = None
    sent: int = 0

    def __post_init__(self) -> None:
        self.live.after_step = self._landed

    def start(self) -> None:
        """Start an operator."""
        channel = Line(self.hub, self.name, Weather(delay_max_s=0.01), self.dice, self.messages)
        cluster = FaultyCluster(self.live, self.trouble, self.dice)
        cluster.on_send = self._send
        request = session_request(Identity(self.name, "simulated"), ALLOWED)
        conductor = Conductor(KINDS, ALLOWED, ClusterSettings())
        operator = Operator(cluster, channel, conductor, request, LoopClock())
        self.process = Process(asyncio.create_task(operator.run()), cluster, channel)

    def kill(self) -> None:
        """Kill the operator, and have another one started soon."""
        if self.process is not None:
            self.process.kill()
            self.process = None
            asyncio.get_running_loop().call_later(DOWN_S, self.start)

    def lose_an_answer(self) -> None:
        """Let the write that is being sent land without an answer."""
        self.trouble.lost_after = 1.0
        asyncio.get_running_loop().call_later(1.0, setattr, self.trouble, "lost_after", 0.0)

    def begin(self) -> None:
        """Count messages and writes from here on."""
        self.sent = self.messages.sent = 0
        self.messages.telling.clear()
        self.writes.clear()

    def graph(self, name: str = "llama") -> Graph:
        """Return a graph as it is."""
        return self.live.touch().snapshot().graphs[GraphRef("serving", name)]

    def replicas(self, name: str = "llama") -> int:
        """Return how many workers a graph is asked for."""
        worker = self.graph(name).component("decode")
        assert worker is not None
        return worker.replicas

    def _send(self, step: Step) -> None:
        self.sent += 1
        self.before_write.get(self.sent, _nothing)()
        if self.process is None:
            raise asyncio.CancelledError  # it was killed before this could leave

    def _landed(self, step: Step, answer: Answer) -> None:
        if isinstance(step, Apply | Scale) and isinstance(answer, Accepted):
            self.writes.append(step)
        self.after_write.get(self.sent, _nothing)()


class ServingFleet:
    """A hub and its clusters in virtual time; `after_step` says what happens right after which of the hub's steps."""

    def __init__(self, models: Mapping[str, Iterable[GraphSpec]], nodes: int = 2) -> None:
        dice = random.Random(1)
        self.hub = SimulatedHub(dice.getrandbits)
        self.after_step: Mapping[int, Callable[[], None]] = {}
        self.sites: dict[str, ServingSite] = {}
        for name, specs in models.items():
            self.hub.add_cluster(name)
            world = World(NOON, uid=name)
            for number in range(nodes):
                world.add_node(NodeSpec(f"{name}-n{number}", {GPU: 256, "cpu": 1_000_000, "pods": 1000}))
            for spec in specs:
                world.add_graph(spec)
            self.sites[name] = ServingSite(name, self.hub, LiveWorld(world), random.Random(name))
        self.hub.do(lambda tx: apply_project(tx, self.hub.admin, "chat", {}, self.hub.now_us()))
        self.hub.on_step = lambda: self.after_step.get(self.hub.steps, _nothing)()
        self._tasks = [asyncio.create_task(self.hub.sweeps())]
        for site in self.sites.values():
            self._tasks.append(asyncio.create_task(site.live.live()))
            site.start()

    def __getitem__(self, name: str) -> ServingSite:
        return self.sites[name]

    async def begin(self) -> None:
        """Let the operators tell of their graphs."""
        count = sum(len(site.live.world.snapshot().graphs) for site in self.sites.values())
        query = select(func.count()).select_from(graphs)
        await self.until(lambda: self.hub.store.read(lambda it: it.execute(query).scalar_one()) == count, "all is told")

    def apply(self, name: str = "llama", *, on: Iterable[str] | None = None, replicas: int, policy: Policy) -> None:
        """Have a workload served by the graphs of its name."""
        bindings = tuple(Binding(each, "serving", name) for each in on or self.sites)
        request = WorkloadRequest("chat", replicas, policy, bindings=bindings)
        self.hub.do(lambda tx: apply_workload(tx, self.hub.admin, name, request, self.hub.now_us()))

    async def ask(self, type_: str, target: str = "llama", cluster: str | None = None, **params: Any) -> str:
        """Ask for an operation as the command line does: again, under its key, until the hub has answered."""
        request = OperationRequest(type=type_, target=target, cluster=cluster, params=params, reason=None)
        key = f"{type_} {target} {cluster} {params}"
        hub = self.hub
        while True:
            with suppress(HubError):
                made = hub.do(lambda tx: submit(tx, hub.admin, request, key, hub.rules, hub.now_us()))
                if hub.is_up:
                    return made.operation.id
            await pass_time(RETRY_S)

    def operation(self, id_: str) -> shown.Operation:
        """Return an operation as users see it."""
        return present_operation(self.hub.store.read(lambda connection: get_operation(connection, id_)))

    def message(self, id_: str) -> str:
        """Return what an operation that is over says of its end."""
        found = self.operation(id_)
        assert found.result is not None, found.progress
        return found.result.message

    def workload(self, name: str = "llama") -> Workload:
        """Return a workload as the hub has it."""
        found = self.hub.store.read(lambda connection: find_workload(connection, name))
        assert found is not None
        return found.workload

    def is_calm(self, names: Iterable[str] = ("llama",)) -> bool:
        """Tell whether all operators are there, and all that is wanted runs."""
        rows = [each for name in names for each in self.workload(name).deployments]
        return all(each.is_online and each.is_converged for each in rows)

    async def until(self, is_so: Callable[[], bool], what: str, look_s: float = 1.0) -> None:
        """Let time pass until something is so."""
        end = asyncio.get_running_loop().time() + CALM_MAX_S
        while not is_so():
            assert asyncio.get_running_loop().time() < end, f"not within {CALM_MAX_S:.0f} s: {what}"
            await pass_time(look_s)

    def kill_hub(self) -> None:
        """Kill the hub, and have it started soon."""
        self.hub.crash()
        asyncio.get_running_loop().call_later(DOWN_S, self.hub.start)

    def end(self) -> None:
        """Stop everything."""
        for task in self._tasks:
            task.cancel()
        for site in self.sites.values():
            if site.process is not None:
                site.process.kill()


def play(scene: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Play a scene in virtual time."""
    with silenced():
        return run_virtual(scene())


def _nothing() -> None:
    """Let it be."""

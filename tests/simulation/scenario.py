"""One run: a fleet, people who ask for things, and everything that can go wrong, all drawn from one seed."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hangar.domain.decision import Answer, Step
from hangar.domain.ids import OperationId
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import ClusterSettings
from hangar.hub.store.tx import Committed
from hangar.hub.usecases.cancel import cancel
from hangar.hub.usecases.submit import OperationRequest, submit
from hangar.kinds import KINDS
from hangar.operator.channel import HubError
from hangar.operator.cluster.simulated.spec import NodeSpec, PodTemplate
from hangar.operator.cluster.simulated.world import World
from hangar.operator.conductor import Conductor, Turned
from hangar.operator.loop import Operator
from hangar.wire.operator import PROTOCOL_VERSION, SessionRequest
from tests.simulation.checkers import (
    ALL_OPERATIONS,
    Disruption,
    ForeignCordons,
    History,
    OneEnd,
    Success,
    ViolationError,
)
from tests.simulation.faulty import FaultyCluster, LiveWorld, Trouble
from tests.simulation.fleet import a_budget, an_app
from tests.simulation.net import SimulatedChannel, SimulatedHub, Weather
from tests.simulation.solo import ALL
from tests.virtual_loop import NOON, START_S, LoopClock, pass_time

TROUBLE_S = 90.0
"""Things go wrong for this long; after it everything must come to an end."""

CALM_S = 900.0
"""The longest that anything may take once nothing goes wrong any more: deadlines are shorter."""


TROUBLES = ("conflict", "throttled", "lost_before", "lost_after", "lands_late")


@dataclass
class Site:
    """One cluster with its operator, and what watches it."""

    name: str
    live: LiveWorld
    weather: Weather
    trouble: Trouble
    disruption: Disruption
    foreign: ForeignCordons
    success: Success
    processes: list["Process"] = field(default_factory=list)
    starts: int = 0


@dataclass(eq=False)
class Process:
    """One operator process; a site may for a while have two."""

    task: asyncio.Task[None]
    cluster: FaultyCluster
    channel: SimulatedChannel


class WatchedConductor(Conductor):
    """A conductor of which no turn may fail: the loop outlives that, and so would hide it here."""

    def __init__(self, broken: list[BaseException]) -> None:
        super().__init__(KINDS, ALL, ClusterSettings())
        self._broken = broken

    def turn(self, snapshot: Snapshot, now: datetime) -> Turned:
        """Decide; a failure is noted as a violation."""
        try:
            return super().turn(snapshot, now)
        except Exception as error:
            self._broken.append(error)
            raise


@dataclass
class Run:
    """A whole run from a seed."""

    seed: int
    dice: random.Random = field(init=False)
    hub: SimulatedHub = field(init=False)
    one_end: OneEnd = field(init=False)
    sites: list[Site] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)
    is_troubled: bool = True

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)

    async def play(self) -> None:
        """Play the run to its end; raises ViolationError where an invariant breaks."""
        self.hub = SimulatedHub(self.dice.getrandbits)
        self.one_end = OneEnd()
        self.hub.store.on_commit(self._on_commit)
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.broken.append(_error_of(context)))
        tasks = [asyncio.create_task(self.hub.sweeps())]
        for number in range(self.dice.choice((1, 1, 2))):
            self.sites.append(self._site(f"c{number}"))
        for site in self.sites:
            self.hub.add_cluster(site.name)
            if self.dice.random() < 0.5:
                self._storm(site)
            tasks.append(asyncio.create_task(site.live.live()))
            self._start(site)
        mischief = asyncio.create_task(self._mischief())
        try:
            await self._until(TROUBLE_S, [mischief, *tasks])
            self._calm()
            await self._until(CALM_S, tasks, stop_when_over=True)
            if open_still := self.one_end.all_over():
                raise ViolationError(f"not over in the end: {open_still} {self._progress()}")
        finally:
            for site in self.sites:
                for process in list(site.processes):
                    self._kill(site, process)

    async def _until(self, seconds: float, tasks: list[asyncio.Task[Any]], *, stop_when_over: bool = False) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            await pass_time(1.0)
            self._look()
            running = [*tasks, *(process.task for site in self.sites for process in site.processes)]
            for task in running:
                if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                    raise error
            if self.broken:
                raise self.broken[0]
            if stop_when_over and not self.one_end.all_over():
                return

    def _on_commit(self, committed: Committed) -> None:
        if any(key.startswith("operation:") for key in committed.woken):
            self._look()

    def _look(self) -> None:
        rows = self.hub.store.read(lambda connection: connection.execute(ALL_OPERATIONS).all())
        self._check(lambda: self.one_end.look(rows))
        for site in self.sites:
            self._check(lambda each=site: each.success.look(rows))  # type: ignore[misc]

    def _check(self, look: Callable[[], None]) -> None:
        """Note a violation; raised where it is seen it would only break the product's own task."""
        try:
            look()
        except ViolationError as violation:
            self.broken.append(violation)

    # --- the fleet ----------------------------------------------------------------------------------------------------

    def _site(self, name: str) -> Site:
        dice = self.dice
        world = World(NOON, uid=name)
        nodes = [f"n{number}" for number in range(1, dice.randint(3, 6))]
        for node in nodes:
            world.add_node(NodeSpec(node))
        for number in range(dice.randint(1, 3)):
            replicas = dice.choice((1, 2, 2, 3, 5, 6))
            app = an_app(
                replicas,
                on=tuple(dice.choice(nodes) for _ in range(replicas)),
                name=f"app{number}",
                kind=dice.choice(("Deployment", "Deployment", "StatefulSet")),
                ready_after_s=dice.choice((0.5, 2.0, 15.0)),
                terminate_after_s=dice.choice((0.2, 1.0, 8.0)),
            )
            world.add_workload(app)
            if replicas > 1 and dice.random() < 0.5:
                world.add_budget(a_budget(f"app{number}", max_unavailable=dice.choice((1, 1, 2))))
        if dice.random() < 0.2:
            world.add_bare_pod("scratch", dice.choice(nodes), PodTemplate())
        live = LiveWorld(world)
        world.budget_lag_s = dice.choice((0.03, 0.03, 1.0))
        trouble = Trouble(read_lag_max_s=dice.choice((0.0, 0.05, 0.3)), delay_max_s=dice.choice((0.02, 0.02, 0.8)))
        history = History(live)
        disruption = Disruption(history, self.hub.store, name)
        foreign = ForeignCordons(self.hub.store, name)
        success = Success(history, name)
        live.watchers.append(history.remember)
        site = Site(name, live, Weather(delay_max_s=dice.choice((0.01, 0.3))), trouble, disruption, foreign, success)

        def before(step: Step) -> None:
            self._check(lambda: disruption.before(step))
            self._check(lambda: foreign.before(step))

        def after(step: Step, answer: Answer) -> None:
            self._check(lambda: disruption.after(step, answer))
            foreign.after(step, answer)
            if self.is_troubled and site.processes and self.dice.random() < is_fragile:
                self._tell(f"{name}: an operator is killed just after {step}")
                self._kill_for(site, 1.0)

        is_fragile = dice.choice((0.0, 0.0, 0.1))
        live.before_step = before
        live.after_step = after
        return site

    def _start(self, site: Site) -> None:
        site.starts += 1
        channel = SimulatedChannel(self.hub, site.name, site.weather, self.dice)
        cluster = FaultyCluster(site.live, site.trouble, self.dice)
        cluster.on_send = lambda step: self._check(lambda: site.disruption.sent(step, channel.heard_cancels))
        cluster.on_answer = site.disruption.answered
        request = SessionRequest(
            protocol=PROTOCOL_VERSION,
            cluster_uid=site.name,
            incarnation=f"{site.name}-{site.starts}",
            kinds={name: kind.version for name, kind in KINDS.items()},
            allowed=sorted(ALL),
        )
        conductor = WatchedConductor(self.broken)
        operator = Operator(cluster, channel, conductor, request, LoopClock())
        site.processes.append(Process(asyncio.create_task(operator.run()), cluster, channel))

    def _kill(self, site: Site, process: "Process") -> None:
        """End an operator's process as SIGKILL does: nothing more leaves it, not even a farewell."""
        process.cluster.is_dead = process.channel.is_cut = True
        process.task.cancel()
        site.processes.remove(process)

    # --- what happens -------------------------------------------------------------------------------------------------

    async def _mischief(self) -> None:
        troubles: tuple[Callable[[Site], None], ...] = (
            self._cancel,
            self._cancel,
            self._by_hand,
            self._by_hand,
            self._crash,
            self._storm,
            self._storm,
        )
        troubles += (self._scale, self._second, self._partition)
        for _ in range(self.dice.randint(12, 24)):
            await pass_time(self.dice.uniform(0.0, 5.0))
            acts = (self._ask,) if self.dice.random() < 0.6 else troubles
            act = self.dice.choice(acts)
            with suppress(HubError):
                act(self.dice.choice(self.sites))

    def _tell(self, text: str) -> None:
        self.story.append(f"{asyncio.get_running_loop().time() - START_S:8.3f} {text}")

    def _ask(self, site: Site) -> None:
        kind = self.dice.choice(("node.drain",) * 5 + ("node.cordon", "node.uncordon"))
        node = self.dice.choice(sorted(site.live.world.snapshot().nodes))
        params: dict[str, Any] = {"deadline_s": self.dice.choice((20, 120, 600))}
        if kind == "node.drain" and self.dice.random() < 0.5:
            params["on_failure"] = "uncordon"
        request = OperationRequest(type=kind, target=node, cluster=site.name, params=params, reason=None)
        key = f"key-{len(self.story)}"
        done = self.hub.do(lambda tx: submit(tx, self.hub.admin, request, key, self.hub.rules, self.hub.now_us()))
        self.one_end.acknowledged.add(OperationId(done.operation.id))
        self._tell(f"{site.name}: {kind} {node} {params} is {done.operation.id}")

    def _cancel(self, site: Site) -> None:
        ids = sorted(self.one_end.all_over())
        if ids:
            operation = self.dice.choice(ids)
            self._tell(f"cancel {operation}")
            self.hub.do(lambda tx: cancel(tx, self.hub.admin, operation, self.hub.now_us()))

    def _by_hand(self, site: Site) -> None:
        node = self.dice.choice(sorted(site.live.world.snapshot().nodes))
        is_on = self.dice.random() < 0.5
        self._tell(f"{site.name}: {'cordon' if is_on else 'uncordon'} of {node} by hand")
        was_on = site.live.touch().snapshot().nodes[node].unschedulable
        site.live.world.cordon_by_hand(node, on=is_on)
        if is_on and not was_on:
            site.foreign.by_hand.add(node)
        elif not is_on:
            site.foreign.by_hand.discard(node)

    def _crash(self, site: Site) -> None:
        down_s = self.dice.choice((0.5, 5.0, 25.0))
        if self.dice.random() < 0.4:
            self._tell(f"the hub is down for {down_s} s")
            self.hub.crash()
            asyncio.get_running_loop().call_later(down_s, self.hub.start)
        elif site.processes:
            self._tell(f"{site.name}: an operator is killed for {down_s} s")
            self._kill_for(site, down_s)

    def _kill_for(self, site: Site, seconds: float) -> None:
        self._kill(site, self.dice.choice(site.processes))
        asyncio.get_running_loop().call_later(seconds, self._start, site)

    def _second(self, site: Site) -> None:
        """A second operator for the same cluster, as in a roll-out."""
        if len(site.processes) < 2:
            self._tell(f"{site.name}: another operator starts")
            self._start(site)

    def _partition(self, site: Site) -> None:
        """An operator lives on, cut off from the hub."""
        if site.processes:
            process, down_s = self.dice.choice(site.processes), self.dice.choice((5.0, 15.0, 40.0))
            self._tell(f"{site.name}: an operator is cut off for {down_s} s")
            process.channel.is_cut = True
            asyncio.get_running_loop().call_later(down_s, self._mend, process)
            if self.dice.random() < 0.5:
                self._second(site)

    def _mend(self, process: Process) -> None:
        process.channel.is_cut = process.cluster.is_dead

    def _storm(self, site: Site) -> None:
        dice = self.dice
        site.weather.lost, site.weather.doubled = dice.choice((0.0, 0.1, 0.4)), dice.choice((0.0, 0.2))
        for name in TROUBLES:
            setattr(site.trouble, name, dice.choice((0.0, 0.0, 0.15, 0.4)))
        self._tell(f"{site.name}: {site.weather} {site.trouble}")

    def _scale(self, site: Site) -> None:
        workload = self.dice.choice(list(site.live.world.workloads.values()))
        replicas = self.dice.randint(0, 5)
        self._tell(f"{site.name}: {workload.spec.name} is scaled from {workload.replicas} to {replicas}")
        site.live.touch().scale(workload.top.uid, replicas)

    def _calm(self) -> None:
        self.is_troubled = False
        self._tell("calm")
        for site in self.sites:
            site.weather.lost = site.weather.doubled = 0.0
            for name in TROUBLES:
                setattr(site.trouble, name, 0.0)

    def _progress(self) -> str:
        return "\n".join(self.story)


def _error_of(context: dict[str, Any]) -> BaseException:
    error = context.get("exception")
    return error if isinstance(error, BaseException) else ViolationError(context["message"])

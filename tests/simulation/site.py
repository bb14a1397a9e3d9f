"""A site: one cluster drawn by chance, its operator's processes, and what watches both."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from hangar.domain.decision import Answer, Delete, Evict, Go, Step
from hangar.domain.ids import BudgetUid, OperationId
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import ClusterSettings
from hangar.kinds import KINDS
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, PodTemplate
from hangar.operator.cluster.simulated.world import World
from hangar.operator.conductor import Conductor, Turned
from hangar.operator.loop import Operator
from hangar.wire.operator import PROTOCOL_VERSION, SessionRequest
from tests.simulation.checkers.cordons import ForeignCordons
from tests.simulation.checkers.ends import Account, Baselines, Success
from tests.simulation.checkers.evictions import CRITICAL, Disruption, Sent
from tests.simulation.checkers.truth import History, Holders, Owners, Rows, ViolationError
from tests.simulation.checkers.workloads import OneWriter
from tests.simulation.faulty import FaultyCluster, LiveWorld, Trouble
from tests.simulation.fleet import a_budget, a_group_set, an_app
from tests.simulation.net import SimulatedChannel, SimulatedHub, Weather
from tests.simulation.solo import ALL as ON_NODES
from tests.virtual_loop import NOON, LoopClock

Noted = Callable[[Callable[[], None]], None]
"""Runs a look of a checker and notes what it raises; raised where it is seen it would only break the product's task."""

ALL = ON_NODES | {"scale"}

DOOMED = "doomed"
"""The namespace that may be deleted in the midst of all."""


UNREAD = "Rollout"
"""A controller of a kind that nobody reads: what it wants is known by its pods alone."""


@dataclass(eq=False)
class Process:
    """One operator process; a site may for a while have two."""

    task: asyncio.Task[None]
    cluster: FaultyCluster
    channel: SimulatedChannel

    def kill(self) -> None:
        """End as SIGKILL does: nothing more leaves it, not even a farewell."""
        self.cluster.is_dead = self.channel.is_cut = True
        self.task.cancel()


class WatchedConductor(Conductor):
    """A conductor of which no turn may fail: the loop outlives that, and so would hide it here.

    It notes when each step was decided, and that no operation waits without saying for what.
    """

    def __init__(
        self, settings: ClusterSettings, decided: dict[Step, datetime], account: Account, broken: list[BaseException]
    ) -> None:
        super().__init__(KINDS, ALL, settings)
        self._broken = broken
        self._decided = decided
        self._account = account

    def turn(self, snapshot: Snapshot, now: datetime) -> Turned:
        """Decide; a failure is noted as a violation."""
        try:
            return super().turn(snapshot, now)
        except Exception as error:
            self._broken.append(error)
            raise

    def _go(self, each: Any, decision: Go[object], now: datetime, times: list[datetime]) -> tuple[Step, ...]:
        operation: OperationId = each.open_job.job.id
        self._decided.update(dict.fromkeys(decision.steps, now))
        pods = {step.pod.uid for step in decision.steps if isinstance(step, Evict | Delete)}
        self._account.meant.setdefault(operation, set()).update(pods)
        self._account.forced |= {step.pod.uid for step in decision.steps if isinstance(step, Delete)}
        is_waiting = not decision.steps and not any(key.operation == operation for key in self._in_flight)
        if is_waiting and not decision.blockers:
            self._broken.append(ViolationError(f"{now}: {operation} waits, and does not say for what"))
        return super()._go(each, decision, now, times)


@dataclass
class Site:
    """One cluster with its operator, and what watches it."""

    name: str
    hub: SimulatedHub
    dice: random.Random
    live: LiveWorld
    weather: Weather
    trouble: Trouble
    settings: ClusterSettings
    budgets: dict[BudgetUid, BudgetSpec]
    noted: Noted
    broken: list[BaseException]
    processes: list[Process] = field(default_factory=list)
    starts: int = 0
    is_over: bool = False
    quiet: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        history, owners = History(self.live), Owners(self.live)
        self.history, self.one_writer = history, OneWriter()
        holders, self.account = Holders(self.hub.store, self.name), Account(history)
        baselines = Baselines(history, owners)
        lag_s = self.trouble.read_lag_max_s + 0.05
        self.disruption = Disruption(history, holders, owners, baselines, self.account, lag_s)
        self.foreign = ForeignCordons(holders)
        self.success = Success(history, owners, baselines, self.name)
        self.live.watchers += [history.remember, baselines.look]
        self.live.before_step = self._before
        self.live.after_step = self._after
        self.on_landing: Callable[[Step], None] = lambda step: None
        self.on_landed: Callable[[Step, Answer], None] = lambda step, answer: None

    def look(self, rows: Rows) -> None:
        """Judge what the store says."""
        self.noted(lambda: self.success.look(rows))
        self.noted(lambda: self.account.look([row for row in rows if row.cluster == self.name]))

    def _before(self, step: Step) -> None:
        self.noted(lambda: self.disruption.before(step))
        self.noted(lambda: self.foreign.before(step))
        self.noted(lambda: self.on_landing(step))

    def _after(self, step: Step, answer: Answer) -> None:
        self.noted(lambda: self.disruption.after(step, answer))
        self.noted(lambda: self.one_writer.after(step, answer))
        self.foreign.after(step, answer)
        self.on_landed(step, answer)

    def start(self) -> None:
        """Start an operator's process, unless the run is over: the loop would close under it."""
        if self.is_over:
            return
        self.starts += 1
        by = Sent(self.settings.evictions_per_minute_max)
        channel = SimulatedChannel(self.hub, self.name, self.weather, self.dice)
        cluster = FaultyCluster(self.live, self.trouble, self.dice)

        def sent(step: Step) -> None:
            self.foreign.sent(step)
            self.noted(lambda: self.disruption.sent(step, by, channel.heard_cancels))

        cluster.on_send = sent
        cluster.on_answer = self.disruption.answered
        request = SessionRequest(
            protocol=PROTOCOL_VERSION,
            cluster_uid=self.name,
            incarnation=f"{self.name}-{self.starts}",
            kinds={name: kind.version for name, kind in KINDS.items()},
            allowed=sorted(ALL),
        )
        conductor = WatchedConductor(self.settings, by.decided, self.account, self.broken)
        operator = Operator(cluster, channel, conductor, request, LoopClock())
        self.processes.append(Process(asyncio.create_task(operator.run()), cluster, channel))

    def kill(self, process: Process) -> None:
        """Kill a process."""
        process.kill()
        self.processes.remove(process)

    def end(self) -> None:
        """Kill all processes, and start none any more."""
        self.is_over = True
        for process in list(self.processes):
            self.kill(process)


def a_site(name: str, hub: SimulatedHub, dice: random.Random, noted: Noted, broken: list[BaseException]) -> Site:
    """Return a cluster of a few nodes and workloads, all drawn by chance."""
    world = World(NOON, uid=name)
    nodes = [f"n{number}" for number in range(1, dice.randint(3, 6))]
    for node in nodes:
        world.add_node(NodeSpec(node))
    budgets = dict(_an_app(world, f"app{number}", nodes, dice) for number in range(dice.randint(1, 3)))
    if dice.random() < 0.3:
        _a_group_set(world, nodes, dice)
    if dice.random() < 0.2:
        world.add_bare_pod("scratch", dice.choice(nodes), PodTemplate())
    world.budget_lag_s = dice.choice((0.03, 0.03, 1.0))
    trouble = Trouble(read_lag_max_s=dice.choice((0.0, 0.05, 0.3, 1.0)), delay_max_s=dice.choice((0.02, 0.02, 0.8)))
    settings = ClusterSettings(
        settle_s=dice.choice((2.0, 30.0)), evictions_per_minute_max=dice.choice((600, 600, 600, 4))
    )
    budgets.pop(None, None)
    weather = Weather(delay_max_s=dice.choice((0.01, 0.3)))
    kept = {uid: spec for uid, spec in budgets.items() if uid is not None and spec is not None}
    return Site(name, hub, dice, LiveWorld(world), weather, trouble, settings, kept, noted, broken)


def _an_app(
    world: World, name: str, nodes: list[str], dice: random.Random
) -> tuple[BudgetUid | None, BudgetSpec | None]:
    """Add a workload and perhaps a budget over it; return the budget."""
    replicas = dice.choice((1, 2, 2, 3, 5, 6))
    namespace = DOOMED if dice.random() < 0.15 else "default"
    app = an_app(
        replicas,
        on=tuple(dice.choice(nodes) for _ in range(replicas)),
        name=name,
        kind=dice.choice(("Deployment", "Deployment", "StatefulSet", UNREAD)),
        ready_after_s=dice.choice((0.5, 2.0, 15.0)),
        terminate_after_s=dice.choice((0.2, 1.0, 8.0)),
    )
    priority = CRITICAL if dice.random() < 0.15 else 0
    world.add_workload(replace(app, namespace=namespace, template=replace(app.template, priority=priority)))
    if replicas == 1 or dice.random() < 0.4:
        return None, None
    spec = replace(a_budget(name, max_unavailable=dice.choice((1, 1, 2))), namespace=namespace)
    return world.add_budget(spec), spec


def _a_group_set(world: World, nodes: list[str], dice: random.Random) -> None:
    size, groups = dice.choice((2, 3)), dice.choice((1, 2, 2, 3))
    on = tuple(dice.choice(nodes) for _ in range(size * groups))
    world.add_workload(a_group_set(groups, size, on=on, ready_after_s=dice.choice((0.5, 5.0))))

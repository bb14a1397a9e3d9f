"""Two operators of one cluster: the second stands by, takes over when the first has gone, and not before."""

import asyncio
import random
from dataclasses import dataclass, field

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from hangar.domain.decision import Evict
from hangar.domain.limits import HAND_OVER_AFTER_S, STANDBY_RETRY_S
from hangar.domain.view import ClusterSettings
from hangar.hub.store.records import find_operation
from hangar.hub.store.tables import events
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.submit import submit
from hangar.kinds import KINDS
from hangar.operator.cluster.port import Identity
from hangar.operator.conductor import Conductor
from hangar.operator.loop import Operator
from hangar.operator.session import session_request
from tests.simulation.faulty import FaultyCluster, LiveWorld, Trouble
from tests.simulation.fleet import a_world, an_app
from tests.simulation.net import SimulatedChannel, SimulatedHub, Weather
from tests.simulation.solo import ALL
from tests.virtual_loop import LoopClock, pass_time, run_virtual


@dataclass
class Running:
    """One operator's process."""

    operator: Operator
    cluster: FaultyCluster
    channel: SimulatedChannel
    task: "asyncio.Task[None]"

    @property
    def is_active(self) -> bool:
        """Tell whether it holds the session."""
        return self.operator.vitals().silent_s is not None

    def kill(self) -> None:
        """Do what SIGKILL does."""
        self.cluster.is_dead = self.channel.is_cut = True
        self.task.cancel()


@dataclass
class Site:
    """A hub and a cluster whose node n1 has two pods that take a while to start elsewhere."""

    dice: random.Random = field(default_factory=lambda: random.Random(1))
    tasks: "list[asyncio.Task[None]]" = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hub = SimulatedHub(self.dice.getrandbits)
        self.hub.add_cluster("c0")
        self.live = LiveWorld(a_world())
        self.live.world.now = self.live.now()
        self.live.world.add_workload(an_app(2, on=("n1", "n1")))
        self.tasks += [asyncio.create_task(self.live.live()), asyncio.create_task(self.hub.sweeps())]

    def start(self, uid: str | None = None) -> Running:
        """Start an operator with the cluster's token, in the cluster or in another one."""
        channel = SimulatedChannel(self.hub, "c0", Weather(), self.dice)
        cluster = FaultyCluster(self.live, Trouble(), self.dice)
        request = session_request(Identity(uid or self.live.world.uid, "simulated"), ALL)
        operator = Operator(cluster, channel, Conductor(KINDS, ALL, ClusterSettings()), request, LoopClock())
        running = Running(operator, cluster, channel, asyncio.create_task(operator.run()))
        self.tasks.append(running.task)
        return running

    def drain(self) -> str:
        """Ask for a drain of n1."""
        request = OperationRequest(type="node.drain", target="n1", cluster="c0", params={}, reason=None)
        asked = self.hub.do(lambda tx: submit(tx, self.hub.admin, request, None, self.hub.rules, self.hub.now_us()))
        return asked.operation.id

    def outcome(self, operation: str) -> tuple[str, int]:
        """Return an operation's phase and attempts."""
        record = self.hub.store.read(lambda connection: find_operation(connection, operation))
        assert record is not None
        return record.phase.value, record.attempts if record.result is None else record.result["attempts"]

    def told(self) -> list[str]:
        """Return the events about the cluster."""
        found = select(events.c.type).where(events.c.object_kind == "cluster").order_by(events.c.rev)
        return list(self.hub.store.read(lambda connection: connection.execute(found).scalars().all()))

    def evictions(self) -> int:
        """Return how many evictions have landed."""
        return sum(isinstance(step, Evict) for _, step, _ in self.live.landed)

    def end(self) -> None:
        """Stop everything."""
        for task in self.tasks:
            task.cancel()


async def _taken_over(*, is_killed: bool) -> tuple[float, tuple[str, int], list[str], int]:
    """Let the first of two go in the midst of a drain.

    Returns how long nobody was active, how the drain ended, the cluster's events, and the evictions.
    """
    site = Site()
    first = site.start()
    await pass_time(60)  # a hub that has just started hands over to nobody
    second = site.start()
    await pass_time(60)
    assert (first.is_active, second.is_active) == (True, False)
    operation = site.drain()
    await pass_time(0.5)
    if is_killed:
        first.kill()
    else:
        first.task.cancel()
    gone_at_s = LoopClock().monotonic_s()
    while not second.is_active:
        await pass_time(0.1)
    away_s = LoopClock().monotonic_s() - gone_at_s
    await pass_time(60)
    site.end()
    return away_s, site.outcome(operation), site.told(), site.evictions()


def test_after_a_clean_stop_the_standby_goes_on_with_the_drain_at_its_next_question() -> None:
    away_s, outcome, told, evictions = run_virtual(_taken_over(is_killed=False))
    assert away_s <= STANDBY_RETRY_S + 0.5
    assert outcome == ("succeeded", 1)
    assert evictions == 2
    assert told == ["cluster.added", "cluster.online", "cluster.standby", "cluster.offline", "cluster.online"]


def test_after_a_kill_the_standby_waits_until_the_first_must_have_stopped() -> None:
    """C76, C77: then it is carried on, and no pod is evicted twice."""
    away_s, outcome, told, evictions = run_virtual(_taken_over(is_killed=True))
    assert HAND_OVER_AFTER_S - 3.5 <= away_s <= HAND_OVER_AFTER_S + STANDBY_RETRY_S + 0.5
    assert outcome == ("succeeded", 2)
    assert evictions == 2
    assert told == ["cluster.added", "cluster.online", "cluster.standby", "cluster.offline", "cluster.online"]


def test_a_standby_says_so_once_however_long_it_waits() -> None:
    async def play() -> None:
        site = Site()
        site.start()
        await pass_time(60)
        site.start()
        await pass_time(60)
        site.end()

    with capture_logs() as lines:
        run_virtual(play())
    (said,) = [each for each in lines if each["event"] == "standby"]
    assert "is held by the operator" in said["why"]


@pytest.mark.parametrize("is_first_there", [True, False])
def test_a_token_that_was_copied_to_another_cluster_lets_nobody_act_there(is_first_there: bool) -> None:
    async def play() -> tuple[bool, int]:
        site = Site()
        first = site.start()
        await pass_time(60)
        if not is_first_there:
            first.task.cancel()
        stranger = site.start(uid="another")
        await pass_time(60)
        site.drain()
        await pass_time(60)
        site.end()
        return stranger.is_active, site.evictions()

    with capture_logs() as lines:
        assert run_virtual(play()) == (False, 2 if is_first_there else 0)
    (said,) = [each for each in lines if each["event"] == "no session"]
    assert "give it the token of its own cluster" in said["why"]


def test_a_hub_that_was_away_for_a_moment_costs_a_drain_nothing_but_time() -> None:
    """C81: nobody has to do anything, neither to the hub nor to the operation."""

    async def play() -> tuple[tuple[str, int], int]:
        site = Site()
        site.start()
        await pass_time(60)
        operation = site.drain()
        await pass_time(0.5)
        site.hub.crash()
        await pass_time(5.0)
        site.hub.start()
        await pass_time(60)
        site.end()
        return site.outcome(operation), site.evictions()

    assert run_virtual(play()) == (("succeeded", 1), 2)

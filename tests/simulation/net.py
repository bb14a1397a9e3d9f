"""The simulated network between operators and the hub: slow, lossy, sometimes doubling, and the hub that answers."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from hangar.clock import to_us
from hangar.hub.catalogue import Catalogue
from hangar.hub.principals import Principal, Role
from hangar.hub.store.store import Store
from hangar.hub.store.tx import Committed, Tx, cluster_key
from hangar.hub.usecases.inventory import inventory
from hangar.hub.usecases.open_session import open_session
from hangar.hub.usecases.release_session import release_session
from hangar.hub.usecases.report import report
from hangar.hub.usecases.rules import Rules
from hangar.hub.usecases.sweep import sweep
from hangar.hub.usecases.sync import read_jobs, sync
from hangar.hub.usecases.tokens import TokenRequest, create_token
from hangar.kinds import KINDS, WORKLOAD_KINDS
from hangar.operator.channel import CALL_TIMEOUT_S, HubError
from hangar.wire.operator import (
    InventoryAnswer,
    InventoryRequest,
    ReleaseRequest,
    ReportAnswer,
    ReportRequest,
    SessionGrant,
    SessionRequest,
    SyncAnswer,
    SyncRequest,
)
from hangar.wire.problems import Problem
from tests.virtual_loop import NOON, LoopClock, pass_time

T = TypeVar("T")

SWEEP_S = 3.0
"""How often the simulated hub sweeps."""


@dataclass(slots=True)
class Weather:
    """How bad the network is: chances per message, and the longest delay."""

    lost: float = 0.0
    doubled: float = 0.0
    delay_max_s: float = 0.05


class SimulatedHub:
    """The real use cases on the real store, up or down; a crash loses what is under way, never what was committed.

    `steps` counts the transactions that changed something; `on_step` is called right after each.
    """

    def __init__(self, randbits: Callable[[int], int]) -> None:
        self.store = Store.in_memory()
        self.rules = Rules(
            catalogue=Catalogue({**KINDS, **WORKLOAD_KINDS}),
            workload_kinds=WORKLOAD_KINDS,
            hub_started_us=to_us(NOON),
            randbits=randbits,
        )
        self.admin = Principal("admin", Role.ADMIN)
        self.is_up = True
        self.steps = 0
        self.on_step: Callable[[], None] = lambda: None
        self._news: dict[str, int] = {}
        self._changed: dict[str, asyncio.Event] = {}
        self.store.on_commit(self._wake)

    def now_us(self) -> int:
        """Return the hub's wall time."""
        return LoopClock().now_us()

    def add_cluster(self, name: str) -> None:
        """Make an operator's token, and with it the cluster."""
        request = TokenRequest(name=f"{name}-operator", role=Role.OPERATOR, cluster=name)
        self.store.write(lambda tx: create_token(tx, self.admin, request, self.now_us()))

    def crash(self) -> None:
        """Go down; whoever waits for an answer finds the line dead."""
        self.is_up = False
        for event in self._changed.values():
            event.set()

    def start(self) -> None:
        """Come up again."""
        self.is_up = True
        self.rules = replace(self.rules, hub_started_us=self.now_us())

    async def sweeps(self) -> None:
        """Sweep every few seconds while up: a sweep a second would be most of what a run costs."""
        while True:
            await pass_time(SWEEP_S)
            if self.is_up:
                self.store.write(lambda tx: sweep(tx, self.rules, self.now_us()))

    def do(self, act: Callable[[Tx], T]) -> T:
        """Run one use case in its transaction. Raises HubError where the hub is down or refuses."""
        if not self.is_up:
            raise HubError("the hub is down")
        try:
            return self.store.write(act)
        except Problem as problem:
            raise _refusal(problem) from problem

    def news(self, cluster: str) -> int:
        """Return how often the cluster's jobs may have changed so far."""
        return self._news.get(cluster_key(cluster), 0)

    async def wait(self, cluster: str, known: int, timeout_s: float) -> None:
        """Wait until there is more news of the cluster's jobs than is `known`."""
        event = self._changed.setdefault(cluster_key(cluster), asyncio.Event())
        event.clear()
        if self.news(cluster) > known:
            return
        try:
            await asyncio.wait_for(event.wait(), timeout_s)
        except TimeoutError:
            return

    def _wake(self, committed: Committed) -> None:
        for key in sorted(committed.woken):  # a set has another order in each process, and a seed is to have one
            self._news[key] = self._news.get(key, 0) + 1
            if key in self._changed:
                self._changed[key].set()
        if committed.last_rev:
            self.steps += 1
            self.on_step()


class SimulatedChannel:
    """An operator's channel over the simulated network."""

    def __init__(self, hub: SimulatedHub, cluster: str, weather: Weather, dice: random.Random) -> None:
        self._hub = hub
        self._cluster = cluster
        self._weather = weather
        self._dice = dice
        self.is_cut = False
        self.heard_cancels: set[str] = set()

    async def open_session(self, request: SessionRequest) -> SessionGrant:
        """Ask for the right to act."""
        name = self._cluster
        granted = await self._call(lambda tx: open_session(tx, name, request, self._hub.rules, self._hub.now_us()))
        if isinstance(granted, Problem):
            raise _refusal(granted)
        return granted

    async def release(self, request: ReleaseRequest) -> None:
        """Give the right to act back."""
        await self._call(lambda tx: release_session(tx, self._cluster, request, self._hub.now_us()))

    async def sync(self, request: SyncRequest) -> SyncAnswer:
        """Fetch all open operations, waiting for news."""
        name, hub = self._cluster, self._hub
        known: list[int] = []

        def ask(tx: Tx) -> SyncAnswer:
            known.append(hub.news(name))
            return sync(tx, name, request, hub.now_us())

        answer = await self._call(ask)
        if answer.seen <= request.seen and request.wait_s > 0:
            await hub.wait(name, known[0], request.wait_s)
            answer = await self._call(lambda tx: read_jobs(tx.connection, name, request, hub.now_us()))
        self.heard_cancels |= {job.id for job in answer.jobs if job.cancel}
        return answer

    async def report(self, request: ReportRequest) -> ReportAnswer:
        """Say what became of operations."""
        answer = await self._call(lambda tx: report(tx, self._cluster, request, self._hub.now_us()))
        self.heard_cancels |= {ack.id for ack in answer.acks if ack.cancel}
        return answer

    async def inventory(self, request: InventoryRequest) -> InventoryAnswer:
        """Say what the nodes look like."""
        return await self._call(lambda tx: inventory(tx, self._cluster, request, self._hub.rules, self._hub.now_us()))

    async def _call(self, act: Callable[[Tx], T]) -> T:
        """Carry a request there and an answer back, if the weather lets them."""
        await pass_time(self._delay_s())
        if self._is_lost():
            await pass_time(CALL_TIMEOUT_S)
            raise HubError("the request was lost")
        answer = self._deliver(act)
        if self._dice.random() < self._weather.doubled:
            asyncio.get_running_loop().call_later(self._delay_s(), self._again, act)
        await pass_time(self._delay_s())
        if self._is_lost() or not self._hub.is_up:
            await pass_time(CALL_TIMEOUT_S)
            raise HubError("the answer was lost")
        return answer

    def _deliver(self, act: Callable[[Tx], T]) -> T:
        """Let the hub act on a request that has arrived."""
        return self._hub.do(act)

    def _is_lost(self) -> bool:
        return self.is_cut or self._dice.random() < self._weather.lost

    def _again(self, act: Callable[[Tx], T]) -> None:
        try:
            self._hub.do(act)
        except HubError:
            return  # whoever sent it heard the first answer

    def _delay_s(self) -> float:
        return self._dice.uniform(0.0, self._weather.delay_max_s)


def _refusal(problem: Problem) -> HubError:
    return HubError(problem.detail, problem.code.code, problem.retry_after_s)

"""A simulated cluster in virtual time whose API server stumbles: conflicts, throttling, time-outs, late reads."""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from hangar.clock import from_us
from hangar.domain.decision import Answer, Busy, Cordon, Step, Uncordon, Unknown, Unmark, Withheld
from hangar.domain.limits import EVICTION_TIMEOUT_S
from hangar.domain.snapshot import Node, Snapshot
from hangar.operator.cluster.port import Gate, Identity
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.world import World
from tests.virtual_loop import LoopClock, pass_time


@dataclass(slots=True)
class Trouble:
    """Chances per call, and how far reads may lag behind."""

    conflict: float = 0.0
    throttled: float = 0.0
    lost_before: float = 0.0
    lost_after: float = 0.0
    lands_late: float = 0.0
    delay_max_s: float = 0.02
    read_lag_max_s: float = 0.0


class LiveWorld:
    """A world that the event loop drives, and all that truly happened to it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.landed: list[tuple[datetime, Step, Answer]] = []
        self.before_step: Callable[[Step], None] = lambda step: None
        self.after_step: Callable[[Step, Answer], None] = lambda step, answer: None
        self._changed = asyncio.Event()
        self.watchers: list[Callable[[], None]] = []
        world.on_change = self._on_change

    def now(self) -> datetime:
        """Return the time."""
        return from_us(LoopClock().now_us())

    def touch(self) -> World:
        """Return the world at the present."""
        self.world.advance(self.now())
        return self.world

    async def live(self) -> None:
        """Let things happen at their time."""
        while True:
            self.touch()
            next_at = self.world.next_at()
            self._changed.clear()
            wait_s = None if next_at is None else max(0.0, (next_at - self.now()).total_seconds())
            try:
                await asyncio.wait_for(self._changed.wait(), wait_s)
            except TimeoutError:
                continue

    def land(self, step: Step, seen: Node | None) -> Answer:
        """Let a step take effect; a patch of a node that has changed since it was `seen` is a conflict."""
        self.touch()
        if isinstance(step, Cordon | Uncordon | Unmark) and self.world.snapshot().nodes.get(step.node) is not seen:
            return Busy("conflict")
        self.before_step(step)
        answer = api.take(self.world, step)
        self.landed.append((self.now(), step, answer))
        self.after_step(step, answer)
        return answer

    def _on_change(self) -> None:
        self._changed.set()
        for watch in self.watchers:
            watch()


class FaultyCluster:
    """The operator's port to a live world. One for each operator process: it dies with it."""

    def __init__(self, live: LiveWorld, trouble: Trouble, dice: random.Random) -> None:
        self._live = live
        self._trouble = trouble
        self._dice = dice
        self._seen: Snapshot | None = None
        self.on_send: Callable[[Step], None] = lambda step: None
        self.on_answer: Callable[[Step, Answer], None] = lambda step, answer: None
        self.is_dead = False

    async def identity(self) -> Identity:
        """Return who the cluster is."""
        return Identity(self._live.world.uid, "simulated")

    async def grants(self) -> Mapping[str, bool]:
        """Return what the cluster grants."""
        return {"cordon": True, "drain": True, "force": True, "scale": True, "deploy": True}

    async def run(self, changed: asyncio.Event) -> None:
        """Read the world, a little late."""
        stirred = asyncio.Event()
        self._live.watchers.append(stirred.set)
        await pass_time(self._dice.uniform(0.0, 0.2))
        while True:
            self._seen = self._live.touch().snapshot()
            changed.set()
            await stirred.wait()
            stirred.clear()
            await pass_time(self._dice.uniform(0.0, self._trouble.read_lag_max_s))

    def snapshot(self) -> Snapshot | None:
        """Return the cluster as last read."""
        return self._seen

    def now(self) -> datetime:
        """Return the cluster's time."""
        return self._live.now()

    async def perform(self, step: Step, gate: Gate) -> Answer:
        """Take a step, if nothing goes wrong on the way."""
        await pass_time(self._delay_s())
        why = "the process is dead" if self.is_dead else gate()
        if why is not None:
            return Withheld(why)
        self.on_send(step)
        answer: Answer = Unknown("the process was stopped")
        try:
            answer = await self._send(step)
        finally:
            self.on_answer(step, answer)
        return answer

    async def _send(self, step: Step) -> Answer:
        seen: Node | None = None
        if isinstance(step, Cordon | Uncordon | Unmark) and self._seen is not None:
            seen = self._seen.nodes.get(step.node)
        roll = self._dice.random()
        chances = self._trouble
        for chance, outcome in (
            (chances.conflict, Busy("conflict")),
            (chances.throttled, Busy("too many requests", retry_after_s=1.0)),
        ):
            if roll < chance:
                return outcome
            roll -= chance
        if roll < chances.lost_before:
            await pass_time(EVICTION_TIMEOUT_S)
            return Unknown("timed out")
        roll -= chances.lost_before
        if roll < chances.lands_late:
            asyncio.get_running_loop().call_later(self._dice.uniform(8.0, 30.0), self._live.land, step, seen)
            await pass_time(EVICTION_TIMEOUT_S)
            return Unknown("timed out")
        if (held_s := api.delay_s(self._live.touch(), step)) > 0:
            await pass_time(held_s)
        answer = self._live.land(step, seen)
        if roll - chances.lands_late < chances.lost_after:
            await pass_time(EVICTION_TIMEOUT_S)
            return Unknown("timed out")
        await pass_time(self._delay_s())
        return answer

    def _delay_s(self) -> float:
        return self._dice.uniform(0.0, self._trouble.delay_max_s)

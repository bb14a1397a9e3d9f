"""SimulatedCluster: a World behind the operator's port, driven by a real clock."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from hangar.clock import Clock, from_us
from hangar.domain.decision import Answer, Step, Withheld
from hangar.domain.snapshot import Snapshot
from hangar.operator.cluster.port import Gate, Identity
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.world import World

GRANTABLE = frozenset({"cordon", "drain", "force", "scale", "deploy"})
"""What access rules can grant."""


class SimulatedCluster:
    """A world that lives in real time. Whoever changes the world from outside calls `touch` first."""

    def __init__(self, world: World, clock: Clock, allowed: frozenset[str] = GRANTABLE) -> None:
        self.world = world
        self._clock = clock
        self._grants = allowed
        self._changed = asyncio.Event()
        self._due = asyncio.Event()
        world.on_change = self._on_change

    async def identity(self) -> Identity:
        """Return who the cluster is."""
        return Identity(self.world.uid, "v1.37.2-simulated")

    async def grants(self) -> Mapping[str, bool]:
        """Return which operations the cluster's access rules grant."""
        return {name: name in self._grants for name in sorted(GRANTABLE)}

    async def run(self, changed: asyncio.Event) -> None:
        """Let the world live: whatever falls due happens at its time."""
        self._changed = changed
        changed.set()
        while True:
            self.touch()
            next_at = self.world.next_at()
            self._due.clear()
            timeout_s = None if next_at is None else max(0.0, (next_at - self.now()).total_seconds())
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):  # wait_for would lose a cancel that meets the event
                    await self._due.wait()

    def touch(self) -> None:
        """Bring the world to the present."""
        self.world.advance(self.now())

    def snapshot(self) -> Snapshot | None:
        """Return the cluster as it is now."""
        return self.world.snapshot()

    def now(self) -> datetime:
        """Return the cluster's time."""
        return from_us(self._clock.now_us())

    async def perform(self, step: Step, gate: Gate) -> Answer:
        """Take one step."""
        await asyncio.sleep(0)
        why = gate()
        if why is not None:
            return Withheld(why)
        self.touch()
        delay_s = api.delay_s(self.world, step)
        if delay_s > 0:
            await asyncio.sleep(delay_s)
            self.touch()
        return api.take(self.world, step)

    def _on_change(self) -> None:
        self._changed.set()
        self._due.set()

"""A hub in memory that a test can take away, make deaf, or let change its mind; and a cluster that can stumble."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from hangar.domain.decision import Answer, Step
from hangar.domain.operation import TERMINAL
from hangar.operator.channel import HubError
from hangar.operator.cluster.port import Gate
from hangar.operator.cluster.simulated.adapter import SimulatedCluster
from hangar.operator.cluster.simulated.world import World
from hangar.wire.operator import (
    Ack,
    DesiredDoc,
    InventoryAnswer,
    InventoryRequest,
    JobDoc,
    JsonObject,
    ReleaseRequest,
    RemovalDoc,
    ReportAnswer,
    ReportDoc,
    ReportRequest,
    SessionGrant,
    SessionRequest,
    SyncAnswer,
    SyncRequest,
)
from tests.virtual_loop import NOON, LoopClock, pass_time

WAY_S = 0.01
"""Every call takes this long to be answered."""

STOP_AFTER_S = 10.0


def seconds() -> float:
    """Return how much virtual time has passed."""
    return (LoopClock().now_us() - round(NOON.timestamp() * 1e6)) / 1e6


@dataclass
class FakeHub:
    """Stores what is reported and remembers every call, with when it came."""

    jobs: dict[str, JobDoc] = field(default_factory=dict)
    desired: list[DesiredDoc] = field(default_factory=list)
    removals: list[RemovalDoc] = field(default_factory=list)
    is_away: bool = False
    is_deaf: bool = False
    epoch: int = 0
    refusals: list[HubError] = field(default_factory=list)
    lost_answers: int = 0
    report_takes_s: float = WAY_S
    resyncs: int = 0
    sessions: list[float] = field(default_factory=list)
    held: list[list[str]] = field(default_factory=list)
    syncs: list[float] = field(default_factory=list)
    reports: list[tuple[float, ReportDoc]] = field(default_factory=list)
    acks: list[tuple[float, str, int]] = field(default_factory=list)
    inventories: list[tuple[float, InventoryRequest]] = field(default_factory=list)
    released: list[tuple[float, int]] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    # --- what a test does ---------------------------------------------------------------------------------------------

    def submit(self, kind: str, operation: str = "op_01", **params: Any) -> None:
        """Record an operation on n1."""
        self.jobs[operation] = JobDoc(
            id=operation,
            type=kind,
            kind_version=1,
            target="n1",
            target_uid="simulated-node-1",
            phase="pending",
            params=params,
            memory=None,
            reason=None,
            created_by="alice",
            created_us=0,
            started_us=None,
            deadline_s=600.0,
            remaining_s=None,
            cancel=False,
            report_n=0,
        )
        self._changed.set()

    def desire(self, rev: int, template: JsonObject | None = None, /, **counts: int) -> None:
        """Want other counts of the graph serving/llama."""
        row = DesiredDoc(workload="chat", namespace="serving", graph="llama", rev=rev, counts=counts, template=template)
        self.desired, self.removals = [row], []
        self._changed.set()

    def want_removed(self, uid: str) -> None:
        """Want the graph serving/llama gone."""
        self.desired, self.removals = [], [RemovalDoc(namespace="serving", graph="llama", uid=uid)]
        self._changed.set()

    def cancel(self, operation: str = "op_01") -> None:
        """Ask an operation to stop."""
        self._change(operation, cancel=True)
        self._changed.set()

    def fence(self) -> None:
        """Give the cluster to somebody else, and at once back to whoever asks."""
        self.epoch += 1
        self._changed.set()

    def ended(self, operation: str = "op_01") -> str | None:
        """Return the phase that an operation was reported to end in, or None."""
        phases = [report.phase for _, report in self.reports if report.id == operation and report.result is not None]
        return phases[-1] if phases else None

    # --- the channel --------------------------------------------------------------------------------------------------

    async def open_session(self, request: SessionRequest) -> SessionGrant:
        """Grant the next epoch."""
        self.sessions.append(seconds())
        self.held.append(request.held)
        await self._way()
        self.epoch += 1
        return SessionGrant(
            session=f"ses_{self.epoch}", epoch=self.epoch, lease_s=15, stop_after_s=STOP_AFTER_S, sync_wait_s=3
        )

    async def release(self, request: ReleaseRequest) -> None:
        """Take the right to act back."""
        self.released.append((seconds(), request.epoch))
        await self._way()

    async def sync(self, request: SyncRequest) -> SyncAnswer:
        """Tell of all open operations and all that is desired, at once or when something changes."""
        self.syncs.append(seconds())
        await self._way(request.epoch)
        if request.seen:
            try:
                async with asyncio.timeout(request.wait_s):
                    await self._changed.wait()
            except TimeoutError:
                pass
        self._changed.clear()
        await self._way(request.epoch)
        return SyncAnswer(seen=1, jobs=list(self.jobs.values()), desired=self.desired, removals=self.removals)

    async def report(self, request: ReportRequest) -> ReportAnswer:
        """Store reports."""
        came_at = seconds()
        await pass_time(self.report_takes_s)
        await self._way(request.epoch)
        if self.is_deaf:
            raise HubError("report: the store is not available")
        acks = [self._store(report, came_at) for report in request.reports]
        if self.lost_answers:
            self.lost_answers -= 1
            raise HubError("report: the answer was lost")
        self.acks += [(seconds(), ack.id, ack.n) for ack in acks]
        return ReportAnswer(acks=acks)

    async def inventory(self, request: InventoryRequest) -> InventoryAnswer:
        """Learn of nodes and graphs."""
        await self._way(request.epoch)
        self.inventories.append((seconds(), request))
        self.resyncs, resync = max(0, self.resyncs - 1), self.resyncs > 0
        return InventoryAnswer(resync=resync)

    # --- inside -------------------------------------------------------------------------------------------------------

    async def _way(self, epoch: int | None = None) -> None:
        await pass_time(WAY_S)
        if self.is_away:
            raise HubError("cannot reach the hub")
        if epoch is None and self.refusals:
            raise self.refusals.pop(0)
        if epoch is not None and epoch != self.epoch:
            raise HubError("another session holds the cluster", "fenced")

    def _store(self, report: ReportDoc, came_at: float) -> Ack:
        self.reports.append((came_at, report))
        job = self.jobs.get(report.id)
        if job is None:
            return Ack(id=report.id, n=report.n, outcome="ended")
        if report.n <= job.report_n:
            return Ack(id=report.id, n=report.n, outcome="duplicate", cancel=job.cancel)
        memory = job.memory if report.memory is None else report.memory
        self._change(report.id, phase="running", memory=memory, report_n=report.n)
        if report.phase in {phase.value for phase in TERMINAL}:
            del self.jobs[report.id]
        return Ack(id=report.id, n=report.n, outcome="stored", cancel=job.cancel)

    def _change(self, operation: str, **fields: Any) -> None:
        self.jobs[operation] = msgspec.structs.replace(self.jobs[operation], **fields)


class Stumbling(SimulatedCluster):
    """A simulated cluster that remembers every step that left, and stumbles where a test says so."""

    def __init__(self, world: World) -> None:
        super().__init__(world, LoopClock())
        self.sent: list[tuple[float, Step]] = []
        self.stumble: Callable[[Step], Answer | None] = lambda step: None
        self.connects_after_s = 0.0
        self.answers_after_s = 0.0

    async def perform(self, step: Step, gate: Gate) -> Answer:
        """Take a step; it leaves when there is a connection, and lands at once."""
        await pass_time(self.connects_after_s)

        def noted() -> str | None:
            why = gate()
            if why is None:
                self.sent.append((seconds(), step))
            return why

        answer = (self.stumble(step) if noted() is None else None) or await super().perform(step, gate)
        await pass_time(self.answers_after_s)
        return answer

"""What must hold in every run, whatever goes wrong: each checker watches the truth, apart from any scenario."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from hangar.clock import to_us
from hangar.domain.decision import Accepted, Answer, Evict, Step, Uncordon
from hangar.domain.ids import BudgetUid, NodeName, OperationId, OwnerUid, PodUid
from hangar.domain.operation import OPEN, TERMINAL, TRANSITIONS, Phase
from hangar.domain.selection import Move
from hangar.domain.selection import select as select_pod
from hangar.domain.snapshot import Snapshot
from hangar.hub.store.store import Store
from hangar.hub.store.tables import operations
from tests.simulation.faulty import LiveWorld

Rows = Sequence[Any]
"""All operations as the store has them."""

ALL_OPERATIONS = select(operations)


class ViolationError(AssertionError):
    """An invariant was broken."""


HISTORY_S = 90.0
"""A report may be lost and sent again for this long, so an end is judged by what was true when it was decided."""


@dataclass
class OneEnd:
    """No acknowledged operation is lost; phases move as TRANSITIONS says; a terminal record never changes."""

    acknowledged: set[OperationId] = field(default_factory=set)
    seen: dict[OperationId, tuple[Phase, Any]] = field(default_factory=dict)

    def look(self, rows: Rows) -> None:
        """Compare the store with what it said before."""
        found = {OperationId(row.id): row for row in rows}
        if lost := self.acknowledged - found.keys():
            raise ViolationError(f"lost: {lost}")
        for operation, row in found.items():
            phase = Phase(row.phase)
            before, record = self.seen.get(operation, (Phase.PENDING, None))
            if phase is not before and phase not in TRANSITIONS[before] and not self._through_running(before, phase):
                raise ViolationError(f"{operation} went from {before} to {phase}")
            told = (row.result, row.finished_us) if phase in TERMINAL else None
            if before in TERMINAL and record != told:
                raise ViolationError(f"{operation} was over and changed: {record} -> {told}")
            self.seen[operation] = (phase, told)

    def _through_running(self, before: Phase, after: Phase) -> bool:
        return before is Phase.PENDING and after in TRANSITIONS[Phase.RUNNING]

    def all_over(self) -> list[OperationId]:
        """Return the operations that are not over."""
        return [operation for operation, (phase, _) in self.seen.items() if phase in OPEN]


@dataclass
class History:
    """The cluster as it truly was in the last HISTORY_S."""

    live: LiveWorld
    moments: deque[tuple[datetime, Snapshot]] = field(default_factory=deque)

    def remember(self) -> None:
        """Keep the cluster as it is now."""
        now = self.live.now()
        self.moments.append((now, self.live.world.snapshot()))
        while self.moments[0][0] < now - timedelta(seconds=HISTORY_S):
            self.moments.popleft()

    def last(self, seconds: float) -> list[Snapshot]:
        """Return the cluster as it was at each change in the last seconds, and just before them."""
        self.remember()
        since = self.live.now() - timedelta(seconds=seconds)
        before = [snapshot for at, snapshot in self.moments if at < since]
        return before[-1:] + [snapshot for at, snapshot in self.moments if at >= since]


@dataclass
class Disruption:
    """What the evictions did to the cluster: twice, without leave, beyond a budget, the last of an owner."""

    history: History
    store: Store
    cluster: str
    accepted: set[PodUid] = field(default_factory=set)
    in_flight: set[PodUid] = field(default_factory=set)

    def sent(self, step: Step, heard_cancels: set[str]) -> None:
        """A step leaves: its operation must be open and not known to be cancelled, and its budget must have room."""
        if not isinstance(step, Evict):
            return
        live = self.history.live
        snapshot = live.world.snapshot()
        pod = snapshot.pods.get(step.pod.uid)
        if pod is None or pod.node is None:
            return
        node = snapshot.nodes.get(pod.node)
        holder = self._holders().get(node.uid) if node is not None else ""
        if holder is None:
            raise ViolationError(f"{live.now()}: {step} was sent, and no open operation holds {pod.node}")
        if holder in heard_cancels:
            raise ViolationError(f"{live.now()}: {step} was sent after the cancel of {holder} was heard")
        self.in_flight.add(pod.ref.uid)
        for budget in snapshot.budgets_of(pod) if pod.serves else ():
            guarded = (snapshot.pods[uid] for uid in snapshot.pods_by_budget[budget.uid])
            under_way = sum(each.serves and each.ref.uid in self.in_flight for each in guarded)
            room = max(_room(budget.uid, each) for each in self.history.last(LOOK_BACK_S))
            if under_way > room:
                raise ViolationError(f"{budget}: {under_way} evictions are under way, and there is room for {room}")

    def answered(self, step: Step) -> None:
        """A call has ended."""
        if isinstance(step, Evict):
            self.in_flight.discard(step.pod.uid)

    def _holders(self) -> dict[str, str]:
        query = select(operations.c.target_uid, operations.c.id).where(
            operations.c.cluster == self.cluster, operations.c.phase == Phase.RUNNING.value
        )
        return {row.target_uid: row.id for row in self.store.read(lambda connection: connection.execute(query).all())}

    def before(self, step: Step) -> None:
        """A step is about to land: look at what it will take away."""
        if not isinstance(step, Evict):
            return
        snapshot = self.history.live.world.snapshot()
        pod = snapshot.pods.get(step.pod.uid)
        if pod is None or not pod.serves:
            return
        for budget in snapshot.budgets_of(pod):
            if budget.allowed > 0 and all(_room(budget.uid, each) < 1 for each in self.history.last(LOOK_BACK_S)):
                raise ViolationError(f"{budget} is exceeded: {pod.ref} goes")
        owner = snapshot.top_owner(pod)
        known = snapshot.owners.get(owner.uid) if owner is not None else None
        if owner is not None and known is not None and (known.desired or 0) > 1:
            seen = [
                [each for each in then.pods_of(owner.uid) if each.serves] for then in self.history.last(LOOK_BACK_S)
            ]
            if all(len(serving) <= 1 for serving in seen):
                raise ViolationError(f"{pod.ref} goes and is the last ready pod of {owner.name}")

    def after(self, step: Step, answer: Answer) -> None:
        """A step has landed: no pod is evicted twice."""
        if isinstance(step, Evict) and isinstance(answer, Accepted):
            if step.pod.uid in self.accepted:
                raise ViolationError(f"{step.pod} was evicted twice")
            self.accepted.add(step.pod.uid)


LOOK_BACK_S = 1.5
"""Reads and calls lag by less: what was so for all of this time was known to the operator."""


def _room(uid: BudgetUid, snapshot: Snapshot) -> int:
    """Return how many pods a budget could truly spare."""
    budget = snapshot.budgets.get(uid)
    guarded = snapshot.pods_by_budget.get(uid, ())
    return sum(snapshot.pods[each].serves for each in guarded) - budget.desired_healthy if budget is not None else 0


@dataclass
class ForeignCordons:
    """A cordon that somebody else put on is never taken off, unless somebody asks for just that."""

    store: Store
    cluster: str
    by_hand: set[NodeName] = field(default_factory=set)

    def before(self, step: Step) -> None:
        """An uncordon of another's cordon must be an operation of its own."""
        if not isinstance(step, Uncordon) or step.node not in self.by_hand:
            return
        query = select(operations.c.id).where(
            operations.c.cluster == self.cluster,
            operations.c.target == step.node,
            operations.c.type == "node.uncordon",
            operations.c.phase == Phase.RUNNING.value,
        )
        if self.store.read(lambda connection: connection.execute(query).first()) is None:
            raise ViolationError(f"the cordon of {step.node} was somebody else's, and was undone")

    def after(self, step: Step, answer: Answer) -> None:
        """What was taken off on demand is nobody's cordon any more."""
        if isinstance(step, Uncordon) and isinstance(answer, Accepted):
            self.by_hand.discard(step.node)


@dataclass
class Success:
    """A drain that says it succeeded had, at some moment, an empty, cordoned node and owners that served elsewhere."""

    history: History
    cluster: str
    ready_before: dict[OperationId, dict[OwnerUid, int]] = field(default_factory=dict)
    looked_at: set[OperationId] = field(default_factory=set)

    def look(self, every: Rows) -> None:
        """Judge each drain that has just succeeded."""
        rows = [row for row in every if row.cluster == self.cluster and row.type == "node.drain"]
        for row in rows:
            operation = OperationId(row.id)
            if row.started_us is not None and operation not in self.ready_before:
                self.ready_before[operation] = ready_counts(self.history.live.touch().snapshot())
            if row.phase == Phase.SUCCEEDED.value and operation not in self.looked_at:
                self.looked_at.add(operation)
                self.history.remember()
                reasons = [self._why_not(row, rows, at, snapshot) for at, snapshot in self.history.moments]
                if all(reasons):
                    raise ViolationError(f"{operation} says it succeeded, and {reasons[-1]}")

    def _why_not(self, row: Any, rows: Iterable[Any], at: datetime, snapshot: Snapshot) -> str | None:
        name = NodeName(row.target)
        node = snapshot.nodes.get(name)
        if node is None or node.uid != row.target_uid:
            return None
        if not node.unschedulable:
            return f"{name} is not cordoned"
        left = [str(pod.ref) for pod in snapshot.pods_on(name) if isinstance(select_pod(pod, snapshot), Move)]
        if left:
            return f"{left} are still on {name}"
        at_us = to_us(at)
        off = {name} | {
            each.target
            for each in rows
            if each.started_us is not None and each.started_us <= at_us <= (each.finished_us or at_us)
        }
        moved = {each["owner"] for each in row.result["details"]["moved"] if each["owner"]}
        for uid, before in self.ready_before[OperationId(row.id)].items():
            owner = snapshot.owners.get(uid)
            if owner is not None and str(owner) in moved:
                ready = sum(pod.serves and pod.node not in off for pod in snapshot.pods_of(uid))
                if ready < min(before, owner.desired or 0):
                    return f"{owner} has {ready} ready off {sorted(off)}, {before} before, and wants {owner.desired}"
        return None


def ready_counts(snapshot: Snapshot) -> dict[OwnerUid, int]:
    """Return how many pods of each top owner serve."""
    tops = {ref.uid for pod in snapshot.pods.values() if (ref := snapshot.top_owner(pod)) is not None}
    return {uid: sum(pod.serves for pod in snapshot.pods_of(uid)) for uid in tops}

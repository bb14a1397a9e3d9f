"""Evictions: none twice, none without leave, none beyond a budget, never an owner's last unit, in order and in pace."""

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hangar.domain.decision import (
    Accepted,
    Answer,
    BudgetFull,
    Busy,
    Delete,
    Denied,
    Evict,
    SeveralBudgets,
    Step,
    Unknown,
    Withheld,
)
from hangar.domain.drain.selection import Move
from hangar.domain.drain.selection import select as select_pod
from hangar.domain.ids import BudgetUid, OperationId, PodUid
from hangar.domain.snapshot import Snapshot
from tests.simulation.checkers.ends import Account, Baselines
from tests.simulation.checkers.truth import History, Holders, Owners, ViolationError, guarded, whole

CRITICAL = 2_000_000_000
"""The priority from which on pods are to go last."""

LATE_S = 25.0
"""An eviction of unknown outcome lands this long after that was known, if it ever does."""

DEADLINES_DIFFER_S = 5.0
"""The operator's deadline comes this much before the hub's at most: it counts from when its sync was sent."""

_REFUSALS = (Busy, BudgetFull, Denied, SeveralBudgets, Withheld)


@dataclass
class Sent:
    """One operator's process: what it decided and when, how its calls go, and how many it may send a minute."""

    evictions_max: int
    decided: dict[Step, datetime] = field(default_factory=dict)
    left: deque[datetime] = field(default_factory=deque)

    def count(self, now: datetime) -> None:
        """An eviction leaves: count those of the last minute."""
        self.left.append(now)
        while now - self.left[0] >= timedelta(seconds=60):
            self.left.popleft()
        if len(self.left) > self.evictions_max:
            raise ViolationError(f"{len(self.left)} evictions within a minute, and {self.evictions_max} are allowed")


@dataclass
class Disruption:
    """What the evictions and deletions of all operators do to one cluster.

    A step is judged by what its operator could know when it decided: reads lag behind by `lag_s` at most. `spent` are
    pods that an eviction of ours was sent for, and that it may still end; what an operation had sent that the hub ended
    for want of an operator, nobody can know of.
    """

    history: History
    holders: Holders
    owners: Owners
    baselines: Baselines
    account: Account
    lag_s: float
    spent: dict[PodUid, datetime | None] = field(default_factory=dict)
    since: dict[PodUid, datetime] = field(default_factory=dict)
    accepted: set[PodUid] = field(default_factory=set)
    sender: dict[PodUid, OperationId] = field(default_factory=dict)
    forced: dict[PodUid, datetime] = field(default_factory=dict)

    # --- a step leaves its operator -----------------------------------------------------------------------------------

    def sent(self, step: Step, by: Sent, heard_cancels: set[str]) -> None:
        """Judge a step that leaves."""
        if not isinstance(step, Evict | Delete):
            return
        now = self.history.live.now()
        late = timedelta(seconds=LATE_S)
        lost = self.holders.lost() if self.spent else frozenset()
        self.spent = {
            uid: at
            for uid, at in self.spent.items()
            if (at is None or now - at <= late) and self.sender.get(uid) not in lost
        }
        decided_at = by.decided.get(step, now)
        moments = self.history.since(decided_at - timedelta(seconds=self.lag_s))
        uid = step.pod.uid
        if all(uid not in each.pods for each in moments):
            raise ViolationError(f"{now}: {step} was sent, and there was no such pod")
        holder = self._holder(step, moments, heard_cancels)
        operation = OperationId(holder.id)
        self._may(step, holder, moments)
        self.baselines.sent(operation)
        self.sender[uid] = operation
        if isinstance(step, Evict):
            by.count(now)
            self._budgets_allow(step, decided_at, moments)
            # Force, once decided, may have broken a group already, be it by a process that was killed since.
            spents = (self.spent.keys(), self.spent.keys() | self.account.forced)
            if not any(self._is_spared(uid, operation, each, spent) for each in moments for spent in spents):
                raise ViolationError(f"{step} was sent, and it is the last ready unit of its owner")
            self._is_its_turn(step, holder, moments)
        if isinstance(step, Delete):
            self.forced[uid] = decided_at
        self.spent[uid] = None
        self.since[uid] = decided_at

    def _holder(self, step: Evict | Delete, moments: list[Snapshot], heard_cancels: set[str]) -> Any:
        """Return the running operation on whose node the pod is, or was a moment ago."""
        by_node = self.holders.by_node()
        nodes = self.history.node_uids(step.pod.uid, moments)
        holder = next((by_node[each] for each in sorted(nodes) if each in by_node), None)
        if holder is None:
            raise ViolationError(f"{step} was sent, and no open operation holds {nodes}")
        if holder.id in heard_cancels:
            raise ViolationError(f"{step} was sent after the cancel of {holder.id} was heard")
        seen = [node for each in moments for node in each.nodes.values() if node.uid == holder.target_uid]
        if seen and not any(node.unschedulable for node in seen):
            raise ViolationError(f"{step} was sent, and the node of {holder.id} is not cordoned")
        return holder

    def _may(self, step: Evict | Delete, holder: Any, moments: list[Snapshot]) -> None:
        """Check that the operation's parameters allow the step as it is."""
        params: Mapping[str, Any] = holder.params
        if isinstance(step, Evict):
            if step.grace_s != params["grace_period_s"]:
                raise ViolationError(f"{step} has a grace period that {holder.id} did not ask for")
            if not params["force"] and all(self._is_not_to_be_moved(step.pod.uid, each) for each in moments):
                raise ViolationError(f"{step} was sent, and nothing would recreate that pod")
            return
        now_us = round((self.history.live.now().timestamp() + DEADLINES_DIFFER_S) * 1e6)
        is_overdue = params["on_deadline"] == "force" and now_us >= holder.deadline_us
        is_down = params["node_is_down"] and any(
            not node.is_heard for each in moments for node in each.nodes.values() if node.uid == holder.target_uid
        )
        if not is_overdue and not is_down:
            raise ViolationError(f"{step} was sent, and {holder.id} has nothing in it that allows that: {params}")
        if step.grace_s == 0 and not is_down:
            raise ViolationError(f"{step} gives no grace, and the node of {holder.id} is not down for certain")

    def _is_not_to_be_moved(self, uid: PodUid, snapshot: Snapshot) -> bool:
        return uid in snapshot.pods and not isinstance(select_pod(snapshot.pods[uid], snapshot), Move)

    def _budgets_allow(self, step: Evict, decided_at: datetime, moments: list[Snapshot]) -> None:
        # What was forced since, past the budget as it may be, was not there to be reckoned with.
        spent = {uid for uid in self.spent if self.forced.get(uid, datetime.min.replace(tzinfo=UTC)) < decided_at}
        for budget in {uid for each in moments for uid in each.budgets_by_pod.get(step.pod.uid, ())}:
            if not any(self._has_room(budget, step.pod.uid, spent, each) for each in moments):
                latest = moments[0].budgets.get(budget)
                raise ViolationError(f"{step} was sent, and {latest} has no room beside what is under way")

    def _has_room(self, uid: BudgetUid, pod: PodUid, spent: Collection[PodUid], snapshot: Snapshot) -> bool:
        budget = snapshot.budgets.get(uid)
        if budget is None or pod not in snapshot.pods or not snapshot.pods[pod].serves:
            return True
        stays = sum(each.serves and each.ref.uid not in spent for each in guarded(uid, snapshot))
        return stays - (pod not in spent) >= budget.desired_healthy

    def _is_spared(self, uid: PodUid, operation: OperationId, snapshot: Snapshot, spent: Collection[PodUid]) -> bool:
        """Tell whether a pod's owner has another unit that serves, or loses none, or wants only one."""
        pod = snapshot.pods.get(uid)
        owner = snapshot.top_owner(pod) if pod is not None else None
        if pod is None or owner is None or not pod.serves:
            return True
        before = self.baselines.least.get(operation, {}).get(owner.uid, 0)
        if self.owners.wanted(owner.uid, before, snapshot) <= 1:
            return True
        size = self.owners.size(owner.uid)
        serving = [each for each in snapshot.pods_of(owner.uid) if each.serves and each.ref.uid not in spent]
        after = whole((each for each in serving if each.ref.uid != uid), size)
        return after >= 1 or whole(serving, size) == after

    def _is_its_turn(self, step: Evict, holder: Any, moments: list[Snapshot]) -> None:
        """A critical pod goes when the ordinary ones of its node have left."""
        uid = step.pod.uid
        if all(uid not in each.pods or each.pods[uid].priority < CRITICAL for each in moments):
            return
        if not any(self._is_rest_gone(uid, bool(holder.params["force"]), each) for each in moments):
            raise ViolationError(f"{step} was sent, and other pods of its node that are not critical are still there")

    def _is_rest_gone(self, uid: PodUid, is_forced: bool, snapshot: Snapshot) -> bool:
        pod = snapshot.pods.get(uid)
        if pod is None or pod.node is None:
            return True
        others = (each for each in snapshot.pods_on(pod.node) if each.priority < CRITICAL)
        return not any(isinstance(select_pod(each, snapshot, force=is_forced), Move) for each in others)

    # --- and is answered ----------------------------------------------------------------------------------------------

    def answered(self, step: Step, answer: Answer) -> None:
        """A call has ended: what was refused is not under way any more."""
        if not isinstance(step, Evict | Delete):
            return
        if isinstance(answer, _REFUSALS):
            self.spent.pop(step.pod.uid, None)
        elif isinstance(answer, Unknown):
            self.spent[step.pod.uid] = self.history.live.now()

    # --- a step lands -------------------------------------------------------------------------------------------------

    def before(self, step: Step) -> None:
        """A step is about to land: look at what it will truly take away."""
        if not isinstance(step, Evict):
            return
        snapshot = self.history.live.world.snapshot()
        pod = snapshot.pods.get(step.pod.uid)
        if pod is None or not pod.serves:
            return
        decided_at = self.since.get(pod.ref.uid, self.history.live.now())
        moments = self.history.since(decided_at - timedelta(seconds=self.lag_s))
        for budget in snapshot.budgets_of(pod):
            if budget.allowed > 0 and all(_room(budget.uid, each) < 1 for each in moments):
                raise ViolationError(f"{budget} is exceeded: {pod.ref} goes")
        operation = self.sender.get(pod.ref.uid, OperationId(""))
        spents: tuple[Collection[PodUid], ...] = ((), self.account.forced)
        if not any(self._is_spared(pod.ref.uid, operation, each, spent) for each in moments for spent in spents):
            raise ViolationError(f"{pod.ref} goes and is the last ready unit of its owner")

    def after(self, step: Step, answer: Answer) -> None:
        """A step has landed: no pod is evicted twice."""
        if not isinstance(step, Evict | Delete) or not isinstance(answer, Accepted):
            return
        uid = step.pod.uid
        if isinstance(step, Evict) and uid in self.accepted:
            raise ViolationError(f"{step.pod} was evicted twice")
        if isinstance(step, Evict):
            self.accepted.add(uid)
        if uid in self.sender:
            self.account.accepted.setdefault(self.sender[uid], set()).add(uid)


def _room(uid: BudgetUid, snapshot: Snapshot) -> int:
    """Return how many pods a budget could truly spare."""
    budget = snapshot.budgets.get(uid)
    return sum(each.serves for each in guarded(uid, snapshot)) - budget.desired_healthy if budget is not None else 0

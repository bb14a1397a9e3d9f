"""Ends: none is lost, none is taken back, and what a drain says of itself at its end is true."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from hangar.clock import to_us
from hangar.domain.drain.selection import Move
from hangar.domain.drain.selection import select as select_pod
from hangar.domain.ids import NodeName, OperationId, OwnerUid, PodUid
from hangar.domain.operation import OPEN, TERMINAL, TRANSITIONS, Phase
from hangar.domain.snapshot import Snapshot
from tests.simulation.checkers.truth import History, Owners, Rows, ViolationError, whole


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
class Baselines:
    """How many units of each owner served, at the least, from a drain's start to its first eviction."""

    history: History
    owners: Owners
    open: set[OperationId] = field(default_factory=set)
    least: dict[OperationId, dict[OwnerUid, int]] = field(default_factory=dict)

    def started(self, operation: OperationId) -> None:
        """A drain runs from now on."""
        if operation not in self.least:
            self.least[operation] = self._counts()
            self.open.add(operation)

    def sent(self, operation: OperationId) -> None:
        """Its first eviction leaves: what serves from now on is its own business."""
        self.open.discard(operation)

    def look(self) -> None:
        """The cluster has changed."""
        if self.open:
            counts = self._counts()
            for operation in self.open:
                least = self.least[operation]
                for owner in least:
                    least[owner] = min(least[owner], counts.get(owner, 0))

    def _counts(self) -> dict[OwnerUid, int]:
        snapshot = self.history.live.world.snapshot()
        return {
            owner: whole((pod for pod in snapshot.pods_of(owner) if pod.serves), size)
            for owner, (_, size) in self.owners.all().items()
        }


@dataclass
class Success:
    """A drain that says it succeeded had, at some moment, an empty, cordoned node and owners that served elsewhere.

    Where the node was gone by then, or another one had its name, its pods were gone, too.
    """

    history: History
    owners: Owners
    baselines: Baselines
    cluster: str
    looked_at: set[OperationId] = field(default_factory=set)

    def look(self, every: Rows) -> None:
        """Judge each drain that has just succeeded."""
        rows = [row for row in every if row.cluster == self.cluster and row.type == "node.drain"]
        for row in rows:
            operation = OperationId(row.id)
            if row.started_us is not None:
                self.history.live.touch()
                self.baselines.started(operation)
            if row.phase == Phase.SUCCEEDED.value and operation not in self.looked_at:
                self.looked_at.add(operation)
                self.history.remember()
                reasons = [self._why_not(row, rows, at, snapshot) for at, snapshot in self.history.moments]
                if all(reasons):
                    raise ViolationError(f"{operation} says it succeeded, and {reasons[-1]}")

    def _why_not(self, row: Any, rows: Iterable[Any], at: datetime, snapshot: Snapshot) -> str | None:
        name = NodeName(row.target)
        node = snapshot.nodes.get(name)
        if node is not None and node.uid == row.target_uid and not node.unschedulable:
            return f"{name} is not cordoned"
        is_forced = bool(row.params["force"])
        left = [
            str(pod.ref)
            for uid, pod in snapshot.pods.items()
            if self.history.first_node.get(uid) == row.target_uid
            and isinstance(select_pod(pod, snapshot, force=is_forced), Move)
        ]
        if left:
            return f"{left} are still on {name}"
        at_us = to_us(at)
        off = {
            NodeName(each.target)
            for each in rows
            if each.started_us is not None
            and each.started_us <= at_us <= (each.finished_us or at_us)
            and (each.target not in snapshot.nodes or snapshot.nodes[each.target].uid == each.target_uid)
        }
        return self._why_not_elsewhere(row, off, snapshot)

    def _why_not_elsewhere(self, row: Any, off: set[NodeName], snapshot: Snapshot) -> str | None:
        moved = {each["owner"] for each in row.result["details"]["moved"] if each["owner"]}
        before = self.baselines.least[OperationId(row.id)]
        for uid, (owner, size) in self.owners.all().items():
            if owner in moved and uid in before:
                ready = whole((pod for pod in snapshot.pods_of(uid) if pod.serves and pod.node not in off), size)
                wants = self.owners.wanted(uid, before[uid], snapshot)
                if ready < min(before[uid], wants):
                    return f"{owner} has {ready} ready off {sorted(off)}, {before[uid]} before, and wants {wants}"
        return None


@dataclass
class Account:
    """What a drain says that its evictions moved is what they moved: a group once, and all that it ever evicted.

    `meant` was decided, and may have been sent by a process that was killed then; `forced` was to be deleted.
    """

    history: History
    meant: dict[OperationId, set[PodUid]] = field(default_factory=dict)
    accepted: dict[OperationId, set[PodUid]] = field(default_factory=dict)
    forced: set[PodUid] = field(default_factory=set)
    looked_at: set[OperationId] = field(default_factory=set)

    def look(self, rows: Rows) -> None:
        """Judge each drain that has just succeeded."""
        for row in rows:
            operation = OperationId(row.id)
            if row.type != "node.drain" or row.phase != Phase.SUCCEEDED.value or operation in self.looked_at:
                continue
            self.looked_at.add(operation)
            meant, accepted = self.meant.get(operation, set()), self.accepted.get(operation, set())
            told = re.fullmatch(r"evicted_replicas=(\d+)", row.result["message"])
            least, most = self._units(accepted), self._units(meant)
            if told is None or not least <= int(told.group(1)) <= most:
                raise ViolationError(f"{operation} says {row.result['message']}, and it evicted {least} to {most}")
            if strangers := {each["uid"] for each in row.result["details"]["moved"]} - meant:
                raise ViolationError(f"{operation} says that it moved {strangers}, which it decided nothing about")

    def _units(self, pods: set[PodUid]) -> int:
        return len({self.history.units[uid] for uid in pods if uid in self.history.units})

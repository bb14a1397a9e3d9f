"""The cluster as it truly was: what checkers judge by, and what they raise."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import select

from hangar.domain.ids import BudgetUid, NodeUid, OwnerUid, PodUid
from hangar.domain.operation import Phase
from hangar.domain.snapshot import Owner, Pod, Snapshot
from hangar.hub.store.store import Store
from hangar.hub.store.tables import operations
from tests.simulation.faulty import LiveWorld

Rows = Sequence[Any]
"""All operations as the store has them."""

ALL_OPERATIONS = select(operations)

HISTORY_S = 90.0
"""A report may be lost and sent again for this long, so an end is judged by what was true when it was decided."""

NAME_LABEL = "leaderworkerset.sigs.k8s.io/name"
INDEX_LABEL = "leaderworkerset.sigs.k8s.io/group-index"


class ViolationError(AssertionError):
    """An invariant was broken."""


@dataclass
class History:
    """The cluster as it truly was in the last HISTORY_S, and what is remembered of every pod for ever."""

    live: LiveWorld
    moments: deque[tuple[datetime, Snapshot]] = field(default_factory=deque)
    first_node: dict[PodUid, NodeUid] = field(default_factory=dict)
    units: dict[PodUid, str] = field(default_factory=dict)

    def remember(self) -> None:
        """Keep the cluster as it is now."""
        now = self.live.now()
        snapshot = self.live.world.snapshot()
        self.moments.append((now, snapshot))
        while self.moments[0][0] < now - timedelta(seconds=HISTORY_S):
            self.moments.popleft()
        for uid in snapshot.pods.keys() - self.first_node.keys():
            pod = snapshot.pods[uid]
            self.units[uid] = unit_of(pod)
            node = snapshot.nodes.get(pod.node) if pod.node is not None else None
            if node is not None:
                self.first_node[uid] = node.uid

    def since(self, moment: datetime) -> list[Snapshot]:
        """Return the cluster as it was at each change since a moment, and just before it."""
        self.remember()
        found: list[Snapshot] = []
        for at, snapshot in reversed(self.moments):
            found.append(snapshot)
            if at < moment:
                break
        return found

    def node_uids(self, uid: PodUid, moments: Iterable[Snapshot]) -> set[NodeUid]:
        """Return the nodes that a pod was on in these moments, by their UIDs; one that is gone counts as it was."""
        found = set()
        for snapshot in moments:
            pod = snapshot.pods.get(uid)
            if pod is not None and pod.node is not None:
                node = snapshot.nodes.get(pod.node)
                found.add(node.uid if node is not None else self.first_node[uid])
        return found


@dataclass
class Holders:
    """The running operations of one cluster, as the store has them."""

    store: Store
    cluster: str

    def by_node(self) -> Mapping[str, Any]:
        """Return the row of each running operation by the UID of its node."""
        query = select(operations).where(
            operations.c.cluster == self.cluster, operations.c.phase == Phase.RUNNING.value
        )
        return {row.target_uid: row for row in self.store.read(lambda connection: connection.execute(query).all())}

    def lost(self) -> frozenset[str]:
        """Return the operations that the hub ended because their operator was away."""
        query = select(operations.c.id, operations.c.result).where(
            operations.c.cluster == self.cluster, operations.c.result.is_not(None)
        )
        rows = self.store.read(lambda connection: connection.execute(query).all())
        return frozenset(row.id for row in rows if row.result["code"] == "operator_lost")


def unit_of(pod: Pod) -> str:
    """Return what a pod counts as: its group, which serves only as a whole, or itself."""
    if INDEX_LABEL in pod.labels:
        return f"{pod.ref.namespace}/{pod.labels[NAME_LABEL]}/{pod.labels[INDEX_LABEL]}"
    return pod.ref.uid


@dataclass
class Owners:
    """What the workloads of a world ought to have, as the world itself knows them: groups are counted as wholes."""

    live: LiveWorld

    def all(self) -> dict[OwnerUid, tuple[str, int]]:
        """Return each workload by the UID that decisions know it by, with its name and the size of its groups."""
        found = {}
        for workload in self.live.world.workloads.values():
            spec = workload.spec
            top = workload.top.uid
            if spec.group_size > 1:
                top = OwnerUid(f"{spec.kind}/{spec.namespace}/{spec.name}")
            found[top] = (f"{spec.kind.lower()} {spec.namespace}/{spec.name}", spec.group_size)
        return found

    def size(self, owner: OwnerUid) -> int:
        """Return how many pods serve as one for an owner."""
        return self.all().get(owner, ("", 1))[1]

    def wanted(self, owner: OwnerUid, before: int, snapshot: Snapshot) -> int:
        """Return how many units an owner wanted in this moment; one that nobody can read wants what it had `before`."""
        leaders = (each for each in snapshot.owners.values() if each.parent is not None and owner == _groups(each))
        known = snapshot.owners.get(owner) or next(leaders, None)
        if known is not None and known.desired is not None:
            return known.desired
        return before if any(True for _ in snapshot.pods_of(owner)) else 0


def _groups(leaders: Owner) -> str:
    """Return what decisions know the groups by that have these leaders."""
    assert leaders.parent is not None
    return f"{leaders.parent.kind}/{leaders.namespace}/{leaders.parent.name}"


def whole(pods: Iterable[Pod], size: int) -> int:
    """Return how many units pods make: each by itself, or each group of which all are among them."""
    counts: dict[str, int] = {}
    for pod in pods:
        counts[unit_of(pod)] = counts.get(unit_of(pod), 0) + 1
    return sum(1 for count in counts.values() if count >= size)


def guarded(uid: BudgetUid, snapshot: Snapshot) -> Iterator[Pod]:
    """Yield the pods that a budget guards."""
    return (snapshot.pods[each] for each in snapshot.pods_by_budget.get(uid, ()))

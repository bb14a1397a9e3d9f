"""View: a snapshot, together with what Wingsmith itself has set in motion on that cluster.

One turn of the operator decides all its open operations on one view, oldest first, and adds what each decided
before it asks the next: so two drains never spend the same budget, and never take an owner's last ready pod.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from hangar.domain.decision import Answered, Delete, Evict, Step, subject
from hangar.domain.groups import Group
from hangar.domain.ids import NodeName, NodeUid, OperationId, OwnerUid, PodUid, WorkloadName
from hangar.domain.limits import EVICTIONS_PER_MINUTE_MAX, RETRY_FIRST_S, RETRY_MAX_S, SETTLE_S
from hangar.domain.snapshot import Pod, Snapshot
from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.members import Part


class StepName(StrEnum):
    """The steps by name, to key what is in flight and what was answered."""

    CORDON = "Cordon"
    UNCORDON = "Uncordon"
    UNMARK = "Unmark"
    EVICT = "Evict"
    DELETE = "Delete"
    APPLY = "Apply"
    SCALE = "Scale"
    CREATE = "Create"
    REMOVE = "Remove"


@dataclass(frozen=True, slots=True)
class StepKey:
    """One step of one operation on one object; the same step asked again has the same key."""

    operation: OperationId
    step: StepName
    subject: str


def key_of(operation: OperationId, step: Step) -> StepKey:
    """Return the key under which a step is in flight and its answer is kept."""
    return StepKey(operation, StepName(type(step).__name__), subject(step))


@dataclass(frozen=True, slots=True)
class Claims:
    """What an open operation holds against all others of its cluster.

    `draining`: the node it empties. `baselines`: ready units (groups, or single pods) of each owner before it began.
    `sent`: evictions that its memory lists as about to be sent, and since when. `moved`: the owners of those pods.
    `group_sizes`: how many pods a group of an owner had. `vanished`: owners that are taken to be gone. `parts`: which
    component of a graph an owner is, where it is one.
    """

    draining: tuple[NodeName, NodeUid] | None = None
    baselines: Mapping[OwnerUid, int] = field(default_factory=dict)
    sent: Mapping[PodUid, datetime] = field(default_factory=dict)
    moved: frozenset[OwnerUid] = frozenset()
    group_sizes: Mapping[OwnerUid, int] = field(default_factory=dict)
    vanished: frozenset[OwnerUid] = frozenset()
    parts: Mapping[OwnerUid, Part] = field(default_factory=dict)


NO_CLAIMS = Claims()


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """What the operator was told of its cluster."""

    has_autoscaler: bool = False
    settle_s: float = SETTLE_S
    evictions_per_minute_max: int = EVICTIONS_PER_MINUTE_MAX


@dataclass(frozen=True, slots=True)
class View:
    """What a kind decides on.

    `leaving` are pods that an eviction of ours was sent for, or may still land on, and that are not seen to be
    terminating yet: they count as gone where readiness matters, and never as free. `evictions_left` may be sent now;
    more from `evictions_again_at` on. `workloads` are those that graphs of the cluster serve.
    """

    snapshot: Snapshot
    in_flight: frozenset[StepKey] = frozenset()
    answers: Mapping[StepKey, Answered] = field(default_factory=dict)
    claims: Mapping[OperationId, Claims] = field(default_factory=dict)
    leaving: frozenset[PodUid] = frozenset()
    settings: ClusterSettings = ClusterSettings()
    evictions_left: int = EVICTIONS_PER_MINUTE_MAX
    evictions_again_at: datetime | None = None
    workloads: Mapping[GraphRef, WorkloadName] = field(default_factory=dict)

    def assuming(self, steps: Iterable[Step]) -> "View":
        """Return the view as it will be once these steps have been taken."""
        steps = tuple(steps)
        ended = frozenset(each.pod.uid for each in steps if isinstance(each, Evict | Delete))
        left = self.evictions_left - sum(1 for each in steps if isinstance(each, Evict))
        return replace(self, leaving=self.leaving | ended, evictions_left=left) if ended else self

    def claiming(self, operation: OperationId, claims: Claims) -> "View":
        """Return the view with what an operation holds by now."""
        return replace(self, claims={**self.claims, operation: claims})

    def serving(self, pod: Pod) -> bool:
        """Tell whether a pod is ready and nothing of ours is about to end it, or another pod of its group."""
        if not pod.serves or pod.ref.uid in self.leaving:
            return False
        group = pod.group
        return group is None or group not in self._leaving_groups()

    def ending(self) -> Iterator[Pod]:
        """Yield the pods that something of ours is about to end: those that leave, and the others of their groups."""
        pods = self.snapshot.pods
        yield from (pods[uid] for uid in self.leaving if uid in pods)
        for group in self._leaving_groups():
            mates = self.snapshot.pods_of(group.owner_uid)
            yield from (pod for pod in mates if pod.group == group and pod.ref.uid not in self.leaving)

    def _leaving_groups(self) -> frozenset[Group]:
        """Return the groups that restart as a whole, since one of their pods is about to end."""
        pods = (self.snapshot.pods.get(uid) for uid in self.leaving)
        return frozenset(group for pod in pods if pod is not None and (group := pod.group) is not None)

    def draining_nodes(self) -> frozenset[NodeName]:
        """Return the nodes that open operations empty; one that took the name of such a node is not among them."""
        named = (each.draining for each in self.claims.values() if each.draining is not None)
        nodes = self.snapshot.nodes
        return frozenset(name for name, uid in named if name not in nodes or nodes[name].uid == uid)

    def baseline(self, owner: OwnerUid) -> int:
        """Return the highest count of ready units that an open operation remembers for an owner."""
        return max((each.baselines.get(owner, 0) for each in self.claims.values()), default=0)

    def has_vanished(self, owner: OwnerUid) -> bool:
        """Tell whether an open operation takes an owner to be gone."""
        return any(owner in each.vanished for each in self.claims.values())

    def group_size(self, owner: OwnerUid) -> int:
        """Return how many pods a group of an owner had when the first open operation saw it, 0 if none did."""
        return max((each.group_sizes.get(owner, 0) for each in self.claims.values()), default=0)


def retry_at(answered: Answered) -> datetime:
    """Return when a step that was answered with trouble may be tried again: doubling pauses, as asked for at least."""
    pause_s = min(RETRY_FIRST_S * 2 ** min(answered.tries - 1, 10), RETRY_MAX_S)
    asked_s = getattr(answered.answer, "retry_after_s", None)
    return answered.at + timedelta(seconds=max(pause_s, asked_s or 0.0))

"""The pods a drain moves: which are gone by their UID, which our evictions moved, and where their successors serve."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hangar.domain.decision import Fail, Gone, Namesake
from hangar.domain.ids import NodeName, OperationId, PodUid
from hangar.domain.limits import RETURNS_MAX
from hangar.domain.owners import name_of, shortfall
from hangar.domain.snapshot import OwnerRef, Pod, PodRef
from hangar.domain.view import StepKey, StepName, View
from hangar.domain.workloads.members import Part


@dataclass(frozen=True, slots=True)
class TrackedPod:
    """A pod that was found on the node. `sent_at` is when an eviction of ours was about to be sent, unless refused.

    `young_siblings` were made just before it: by their age alone they could be taken for its successors. `forced_at` is
    when it was about to be deleted past its budgets. `group` names the group that it restarts with. `returns`: how
    often a pod of its owner was put back on the node up to this one. `part`: of which graph's component it is.
    """

    ref: PodRef
    owner: OwnerRef | None
    has_disk_empty_dir: bool = False
    sent_at: datetime | None = None
    young_siblings: frozenset[PodUid] = frozenset()
    forced_at: datetime | None = None
    group: str | None = None
    returns: int = 0
    part: Part | None = None

    @property
    def unit(self) -> str:
        """Return what it counts as: its group, or itself."""
        return self.group or self.ref.uid

    def __str__(self) -> str:
        return str(self.ref)


def units(pods: Iterable[TrackedPod]) -> int:
    """Return how many units pods are: a group counts once, however many of its pods were on the node."""
    return len({each.unit for each in pods})


@dataclass(frozen=True, slots=True)
class Tally:
    """Every tracked pod in exactly one group: by what became of it."""

    evicted: tuple[TrackedPod, ...]  # gone, by an eviction of ours
    left: tuple[TrackedPod, ...]  # gone by themselves
    terminating: tuple[Pod, ...]
    unknown: tuple[Pod, ...]  # an eviction was sent and may still land
    untouched: tuple[Pod, ...]

    @property
    def gone(self) -> tuple[TrackedPod, ...]:
        """The pods that are gone, whoever ended them: their owners ought to serve elsewhere."""
        return self.evicted + self.left

    @property
    def remaining(self) -> tuple[Pod, ...]:
        """The pods that are not gone yet."""
        return self.terminating + self.unknown + self.untouched


def tally(tracked: Mapping[PodUid, TrackedPod], operation: OperationId, view: View) -> Tally:
    """Return what became of each tracked pod, as seen now. Pods come in the order of their names."""
    evicted: list[TrackedPod] = []
    left: list[TrackedPod] = []
    terminating: list[Pod] = []
    unknown: list[Pod] = []
    untouched: list[Pod] = []
    for uid, each in sorted(tracked.items(), key=lambda item: item[1].ref):
        pod = view.snapshot.pods.get(uid)
        if pod is None or pod.is_finished or _is_known_gone(uid, operation, view):
            (left if each.sent_at is None else evicted).append(each)
        elif pod.is_terminating:
            terminating.append(pod)
        elif uid in view.leaving:
            unknown.append(pod)
        else:
            untouched.append(pod)
    return Tally(tuple(evicted), tuple(left), tuple(terminating), tuple(unknown), tuple(untouched))


def _is_known_gone(uid: PodUid, operation: OperationId, view: View) -> bool:
    answered = view.answers.get(StepKey(operation, StepName.EVICT, uid))
    return answered is not None and isinstance(answered.answer, Gone | Namesake)


def rescheduled_count(gone: Iterable[TrackedPod], view: View) -> int:
    """Return how many of the units that are gone are replaced, or not wanted any more: those no owner lacks."""
    by_unit = {each.unit: each.owner.uid if each.owner is not None else None for each in gone}
    by_owner = Counter(by_unit.values())
    unowned = by_owner.pop(None, 0)
    lacks = {owner: shortfall(owner, view) for owner in by_owner if owner is not None}
    return unowned + sum(max(0, by_owner[owner] - (lack.missing if lack else 0)) for owner, lack in lacks.items())


@dataclass(frozen=True, slots=True)
class Moved:
    """One line of the move list: a pod, and the pod that serves in its place (None where none is wanted any more)."""

    pod: TrackedPod
    successor: Pod | None

    def as_facts(self) -> dict[str, str | int | None]:
        """Return the move as the result's details show it."""
        owner = self.pod.owner
        return {
            "pod": str(self.pod.ref),
            "uid": self.pod.ref.uid,
            "owner": name_of(owner, self.pod.ref.namespace) if owner else None,
            "successor": str(self.successor.ref) if self.successor else None,
            "successor_uid": self.successor.ref.uid if self.successor else None,
            "successor_node": self.successor.node if self.successor else None,
        }


def match_successors(evicted: Iterable[TrackedPod], view: View) -> tuple[Moved, ...]:
    """Pair each evicted pod with a pod of its owner that was made since and serves off the draining nodes.

    A pod of the same name (a StatefulSet's) is its successor for certain, and no other's; the rest is paired by age.
    """
    evicted = tuple(evicted)
    names = {(each.owner, each.ref.name) for each in evicted}
    draining = view.draining_nodes()
    taken: set[PodUid] = set()
    moves: list[Moved] = []
    for each in evicted:
        name = each.ref.name
        made = [
            pod
            for pod in _made_since(each, view)
            if pod.node not in draining and pod.ref.uid not in taken
            and (pod.ref.name == name or (each.owner, pod.ref.name) not in names)
        ]  # fmt: skip
        successor = min(made, key=lambda pod: (pod.ref.name != name, pod.created_at, pod.ref), default=None)
        if successor is not None:
            taken.add(successor.ref.uid)
        moves.append(Moved(each, successor))
    return tuple(moves)


def returns_of(pod: Pod, owner: OwnerRef | None, tracked: Iterable[TrackedPod]) -> int:
    """Return how often a pod that is found on the node was put back there: made since an eviction of its owner's."""
    before = (each for each in tracked if owner is not None and each.owner == owner and each.sent_at is not None)
    return max((1 + each.returns for each in before if pod.created_at >= _second_of(each)), default=0)


def _second_of(each: TrackedPod) -> datetime:
    assert each.sent_at is not None
    return each.sent_at.replace(microsecond=0)


def returned(tracked: Iterable[TrackedPod], node: NodeName) -> Fail | None:
    """Return how a drain fails whose pods are put back on its cordoned node again and again."""
    for each in tracked:
        if each.returns >= RETURNS_MAX and each.owner is not None:
            whose = name_of(each.owner, each.ref.namespace)
            text = f"{whose} puts its pods back on {node} despite the cordon, {each.returns} times by now: {each}"
            return Fail("returns_to_node", text)
    return None


def about_to_be_sent(each: TrackedPod, view: View, now: datetime) -> TrackedPod:
    """Return what to remember of a pod before its eviction is sent."""
    siblings = view.snapshot.pods_of(each.owner.uid) if each.owner is not None else ()
    since = _oldest_successor_at(now)
    young = frozenset(pod.ref.uid for pod in siblings if pod.created_at >= since)
    return replace(each, sent_at=now, young_siblings=young - {each.ref.uid})


def _oldest_successor_at(sent_at: datetime) -> datetime:
    """Return the earliest creation of a successor: Kubernetes keeps whole seconds, and clocks differ by one."""
    return sent_at.replace(microsecond=0) - timedelta(seconds=1)


def _made_since(each: TrackedPod, view: View) -> Iterator[Pod]:
    """Yield the serving pods of an evicted pod's owner that were made since its eviction."""
    if each.owner is None or each.sent_at is None:
        return
    since, others = _oldest_successor_at(each.sent_at), {each.ref.uid, *each.young_siblings}
    for pod in view.snapshot.pods_of(each.owner.uid):
        if view.serving(pod) and pod.created_at >= since and pod.ref.uid not in others:
            yield pod

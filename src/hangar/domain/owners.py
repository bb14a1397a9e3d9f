"""What a pod's owner still needs: its last ready pod is kept, and a drain is done when it serves elsewhere.

An owner is counted in units: single pods, or groups of pods that serve only together.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hangar.domain.blockers import blocker
from hangar.domain.decision import Blocker
from hangar.domain.ids import OwnerUid
from hangar.domain.serving import missing_pods
from hangar.domain.snapshot import OwnerRef, Pod, Snapshot
from hangar.domain.view import View


def name_of(owner: OwnerRef, namespace: str) -> str:
    """Return an owner as people write it: `deployment default/llama`."""
    return f"{owner.kind.lower()} {namespace}/{owner.name}"


def ready_count(owner: OwnerUid, view: View) -> int:
    """Return how many units of an owner serve now, wherever they are."""
    return _ready_units(view.snapshot.pods_of(owner), group_size(owner, view), view.serving)


def baseline_of(owner: OwnerUid, view: View) -> int:
    """Return how many units of an owner were ready when a drain began: now, or when an open one that shares it did.

    A pod that an eviction may still end was ready before it; what comes in its place is waited for, too.
    """
    ready = _ready_units(view.snapshot.pods_of(owner), group_size(owner, view), lambda pod: pod.serves)
    return max(ready, view.baseline(owner))


def group_size(owner: OwnerUid, view: View) -> int:
    """Return how many pods make a group of an owner: as many as the largest has or had; 0 where it has none."""
    sizes: dict[str, int] = {}
    for pod in view.snapshot.pods_of(owner):
        group = pod.group
        if group is None:
            return 0
        if not pod.is_finished:
            sizes[group.index] = sizes.get(group.index, 0) + 1
    return max(view.group_size(owner), *sizes.values()) if sizes else view.group_size(owner)


def _ready_units(pods: Iterable[Pod], size: int, serves: Callable[[Pod], bool]) -> int:
    """Return how many pods serve, or, where a group has a size, how many groups are complete and all of it serves."""
    if not size:
        return sum(1 for pod in pods if serves(pod))
    serving: dict[str, int] = {}
    for pod in pods:
        if pod.group is not None and serves(pod):
            serving[pod.group.index] = serving.get(pod.group.index, 0) + 1
    return sum(1 for count in serving.values() if count >= size)


def wanted(owner: OwnerUid, view: View) -> int:
    """Return how many ready units an owner ought to have: what it wants, but no more than it had at the start.

    A controller that we cannot read is held to what was ready at the start; one that is gone wants nothing.
    """
    before = view.baseline(owner)
    desired = desired_by(owner, view.snapshot)
    if desired is None:
        return 0 if view.has_vanished(owner) else before
    return min(desired, before)


def is_absent(owner: OwnerUid, snapshot: Snapshot) -> bool:
    """Tell whether nothing is seen of an owner, neither itself nor a pod of it: it is gone, or between two pods."""
    return desired_by(owner, snapshot) is None and not snapshot.pods_of(owner)


def desired_by(owner: OwnerUid, snapshot: Snapshot) -> int | None:
    """Return how many pods an owner says that it wants, or those below it where itself is not read; None if unknown.

    So a CronJob whose Jobs are over wants nothing, and a Rollout what its ReplicaSets want.
    """
    known = snapshot.owners.get(owner)
    if known is not None:
        return known.desired
    groups = _groups_desired_by(owner, snapshot)
    if groups is not None:
        return groups
    below = [desired_by(child, snapshot) for child in snapshot.owners_by_parent.get(owner, ())]
    counts = [each for each in below if each is not None]
    return sum(counts) if counts and len(counts) == len(below) else None


def _groups_desired_by(owner: OwnerUid, snapshot: Snapshot) -> int | None:
    """Return how many groups a keeper of groups wants: as many as the StatefulSet of their leaders has replicas."""
    for pod in snapshot.pods_of(owner):
        if pod.group is None:
            return None
        keeper = snapshot.owners.get(pod.controller.uid) if pod.controller is not None else None
        if keeper is not None and keeper.parent is not None and keeper.parent.kind == pod.group.kind:
            return keeper.desired
    return None


def _serves_beside(pod: Pod, owner: OwnerUid, view: View) -> bool:
    """Tell whether another pod of an owner serves; of many pods one of the first few does."""
    pods = view.snapshot.pods_of(owner)
    return any(each.ref.uid != pod.ref.uid and each.group is None and view.serving(each) for each in pods)


def keeps_last_ready(pod: Pod, view: View) -> Blocker | None:
    """Return a blocker if a pod is its owner's last ready one while another of that owner is on its way.

    Of an owner of groups it is a pod of the last complete group.
    """
    owner = view.snapshot.top_owner(pod)
    if owner is None or not view.serving(pod):
        return None
    if pod.group is None and _serves_beside(pod, owner.uid, view):
        return None
    has = ready_count(owner.uid, view)
    if has > 1 or (pod.group is not None and not _is_complete(pod, owner.uid, view)):
        return None
    desired = desired_by(owner.uid, view.snapshot)
    needs = view.baseline(owner.uid) if desired is None else desired
    if needs <= has:
        return None
    ours, others = missing_pods(view.snapshot.pods_of(owner.uid), view)
    return blocker(
        "last_ready",
        str(pod.group or pod.ref),
        owner=name_of(owner, pod.ref.namespace),
        unit=unit_of(pod),
        has=has,
        needs=needs,
        missing=ours + others,
    )


def unit_of(pod: Pod) -> str:
    """Return the word for what an owner of such pods is counted in."""
    return "pod" if pod.group is None else "group"


def _is_complete(pod: Pod, owner: OwnerUid, view: View) -> bool:
    """Tell whether the whole of a pod's group serves."""
    members = [each for each in view.snapshot.pods_of(owner) if each.group == pod.group]
    return _ready_units(members, group_size(owner, view), view.serving) > 0


@dataclass(frozen=True, slots=True)
class Shortfall:
    """An owner that does not serve elsewhere yet: the units ready off the draining nodes, and how many ought to be."""

    has: int
    needs: int
    loading: tuple[Pod, ...]
    unit: str

    @property
    def missing(self) -> int:
        """How many ready units are missing."""
        return self.needs - self.has


def shortfall(owner: OwnerUid, view: View) -> Shortfall | None:
    """Return what an owner lacks off the draining nodes, or None if it serves there as before, or wants no more."""
    needs = wanted(owner, view)
    draining = view.draining_nodes()
    size = group_size(owner, view)
    elsewhere = [pod for pod in view.snapshot.pods_of(owner) if pod.node not in draining and not pod.is_finished]
    has = _ready_units(elsewhere, size, view.serving)
    if has >= needs:
        return None
    loading = tuple(pod for pod in elsewhere if not pod.ready and not pod.is_terminating)
    return Shortfall(has, needs, loading, "group" if size else "pod")


def creation_failure(owner: OwnerUid, snapshot: Snapshot) -> str | None:
    """Return why a controller, or one below it, cannot create pods, in its own words; None where it can."""
    known = snapshot.owners.get(owner)
    if known is not None and known.failure is not None:
        return known.failure
    below = (creation_failure(child, snapshot) for child in snapshot.owners_by_parent.get(owner, ()))
    return next((each for each in below if each is not None), None)

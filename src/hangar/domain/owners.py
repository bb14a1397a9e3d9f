"""What a pod's owner still needs: its last ready pod is kept, and a drain is done when it serves elsewhere."""

from dataclasses import dataclass

from hangar.domain.blockers import blocker
from hangar.domain.decision import Blocker
from hangar.domain.ids import OwnerUid
from hangar.domain.snapshot import OwnerRef, Pod, Snapshot
from hangar.domain.view import View


def name_of(owner: OwnerRef, namespace: str) -> str:
    """Return an owner as people write it: `deployment default/llama`."""
    return f"{owner.kind.lower()} {namespace}/{owner.name}"


def ready_count(owner: OwnerUid, view: View) -> int:
    """Return how many pods of an owner serve now, wherever they are."""
    return sum(1 for pod in view.snapshot.pods_of(owner) if view.serving(pod))


def baseline_of(owner: OwnerUid, view: View) -> int:
    """Return how many pods of an owner were ready when a drain began: now, or when an open one that it shares it with.

    A pod that an eviction may still end was ready before it; what comes in its place is waited for, too.
    """
    return max(sum(1 for pod in view.snapshot.pods_of(owner) if pod.serves), view.baseline(owner))


def wanted(owner: OwnerUid, view: View) -> int:
    """Return how many ready pods an owner ought to have: what it wants, but no more than it had at the start.

    A controller that we cannot read is held to what was ready at the start; one that is gone wants nothing.
    """
    before = view.baseline(owner)
    desired = desired_by(owner, view.snapshot)
    if desired is None:
        return before if any(True for _ in view.snapshot.pods_of(owner)) else 0
    return min(desired, before)


def desired_by(owner: OwnerUid, snapshot: Snapshot) -> int | None:
    """Return how many pods an owner says that it wants, or those below it where itself is not read; None if unknown.

    So a CronJob whose Jobs are over wants nothing, and a Rollout what its ReplicaSets want.
    """
    known = snapshot.owners.get(owner)
    if known is not None:
        return known.desired
    below = [desired_by(child, snapshot) for child in snapshot.owners_by_parent.get(owner, ())]
    counts = [each for each in below if each is not None]
    return sum(counts) if counts and len(counts) == len(below) else None


def keeps_last_ready(pod: Pod, view: View) -> Blocker | None:
    """Return a blocker if a pod is its owner's last ready one while another of that owner is on its way."""
    owner = view.snapshot.top_owner(pod)
    if owner is None or not view.serving(pod):
        return None
    has = ready_count(owner.uid, view)
    if has > 1:
        return None
    desired = desired_by(owner.uid, view.snapshot)
    needs = view.baseline(owner.uid) if desired is None else desired
    if needs <= has:
        return None
    return blocker("last_ready", str(pod.ref), owner=name_of(owner, pod.ref.namespace), has=has, needs=needs)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """An owner that does not serve elsewhere yet: how many are ready off the draining nodes, how many ought to be."""

    has: int
    needs: int
    loading: tuple[Pod, ...]

    @property
    def missing(self) -> int:
        """How many ready pods are missing."""
        return self.needs - self.has


def shortfall(owner: OwnerUid, view: View) -> Shortfall | None:
    """Return what an owner lacks off the draining nodes, or None if it serves there as before, or wants no more."""
    needs = wanted(owner, view)
    draining = view.draining_nodes()
    elsewhere = [pod for pod in view.snapshot.pods_of(owner) if pod.node not in draining and not pod.is_finished]
    has = sum(1 for pod in elsewhere if view.serving(pod))
    if has >= needs:
        return None
    loading = tuple(pod for pod in elsewhere if not pod.ready and not pod.is_terminating)
    return Shortfall(has, needs, loading)


def creation_failure(owner: OwnerUid, snapshot: Snapshot) -> str | None:
    """Return why a controller, or one below it, cannot create pods, in its own words; None where it can."""
    known = snapshot.owners.get(owner)
    if known is not None and known.failure is not None:
        return known.failure
    below = (creation_failure(child, snapshot) for child in snapshot.owners_by_parent.get(owner, ()))
    return next((each for each in below if each is not None), None)

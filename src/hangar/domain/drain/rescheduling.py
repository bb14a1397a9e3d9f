"""Whether what a drain evicted serves elsewhere again, and if not, what is still missing or can never come."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from hangar.domain.blockers import blocker, listed
from hangar.domain.decision import Blocker, Fail
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.fit.node_rules import open_nodes, takes
from hangar.domain.ids import OwnerUid, PodUid
from hangar.domain.limits import CREATION_GRACE_S, UNSCHEDULABLE_GRACE_S
from hangar.domain.owners import Shortfall, creation_failure, name_of, shortfall
from hangar.domain.snapshot import Node
from hangar.domain.view import View

CREATION_GRACE = timedelta(seconds=CREATION_GRACE_S)


def lacking(pods: Iterable[TrackedPod], view: View) -> list[tuple[OwnerUid, str, Shortfall]]:
    """Return each owner that does not serve off the draining nodes as before: UID, name in words, what it lacks."""
    owners = {each.owner: each.ref.namespace for each in pods if each.owner is not None}
    named = ((owner.uid, name_of(owner, namespace)) for owner, namespace in sorted(owners.items()))
    return [(uid, name, lack) for uid, name in named if (lack := shortfall(uid, view)) is not None]


def not_rescheduled(gone: Iterable[TrackedPod], view: View) -> tuple[Blocker, ...]:
    """Return a blocker for each owner that does not serve elsewhere yet, with what its new pods wait for."""
    found = []
    for _, name, lack in lacking(gone, view):
        reasons = sorted(f"{pod.ref}: {pod.waiting or 'not ready'}" for pod in lack.loading)
        loading = f" ({listed(reasons)})" if reasons else ""
        found.append(blocker("loading", name, has=lack.has, needs=lack.needs, unit=lack.unit, loading=loading))
    return tuple(found)


def failing(
    gone: Iterable[TrackedPod], before: Mapping[OwnerUid, datetime], view: View, now: datetime
) -> Mapping[OwnerUid, datetime]:
    """Return since when each owner cannot create the pods that it lacks; `before` is what was known of that.

    While a pod of it is still ending that is no wonder: the pod counts against the quota to its end.
    """
    return {
        uid: before.get(uid, now)
        for uid, _, lack in lacking(gone, view)
        if not lack.loading
        and creation_failure(uid, view.snapshot) is not None
        and not any(pod.is_terminating for pod in view.snapshot.pods_of(uid))
    }


def cannot_be_rescheduled(
    gone: Iterable[TrackedPod], failing_at: Mapping[OwnerUid, datetime], view: View, now: datetime
) -> Fail | None:
    """Return why what is gone will not come up elsewhere, in the cluster's own words, or None if it still may."""
    lacks = lacking(gone, view)
    verdicts = _verdicts(lacks, view)
    for uid, name, lack in lacks:
        text = creation_failure(uid, view.snapshot)
        if text is not None and uid in failing_at and now >= failing_at[uid] + CREATION_GRACE:
            code = "quota_exceeded" if "quota" in text else "cannot_be_recreated"
            return Fail(code, f"{name} has {lack.has} of {lack.needs} pods ready and cannot create more: {text}")
        stuck = [
            f"{pod.ref} cannot be placed: {pod.waiting or 'unschedulable'}"
            for pod in lack.loading
            if pod.ref.uid in verdicts and now >= verdicts[pod.ref.uid]
        ]
        if stuck and not view.settings.has_autoscaler:
            return Fail("no_capacity", f"{name} has {lack.has} of {lack.needs} pods ready elsewhere: {listed(stuck)}")
    return None


def verdict_at(
    gone: Iterable[TrackedPod], failing_at: Mapping[OwnerUid, datetime], view: View, now: datetime
) -> datetime | None:
    """Return when what cannot be created or placed now will have been so for too long, or None."""
    verdicts = [
        *_verdicts(lacking(gone, view), view).values(),
        *(each + CREATION_GRACE for each in failing_at.values()),
    ]
    return min((each for each in verdicts if each > now), default=None)


def _verdicts(lacks: list[tuple[OwnerUid, str, Shortfall]], view: View) -> Mapping[PodUid, datetime]:
    """Return when each new pod that cannot be placed counts as having no place.

    That is a while after it was first turned away, and after all has ended that is about to leave room for it.
    """
    grace = timedelta(seconds=UNSCHEDULABLE_GRACE_S)
    waiting = [
        (pod, pod.unschedulable_since)
        for _, _, lack in lacks
        for pod in lack.loading
        if pod.unschedulable_since is not None
    ]
    ends = _ends(view) if waiting else []
    return {
        pod.ref.uid: max([since, *(end for node, end in ends if takes(node, pod))]) + grace for pod, since in waiting
    }


def _ends(view: View) -> list[tuple[Node, datetime]]:
    """Return when what terminates on each node that is open will have ended, by the end of its grace period."""
    return [
        (node, pod.deletion_at)
        for node in open_nodes(view)
        for pod in view.snapshot.pods_on(node.name)
        if pod.deletion_at is not None
    ]

"""Holding: which reductions wait, since a node drain has just evicted replicas of the same component.

A drain takes replicas away for a while, a reduction for good; both at once would take more ready ones than either
may. It is one ledger: what open drains claim, and what this turn's evictions are about to end.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from hangar.domain.ids import OperationId, OwnerUid
from hangar.domain.limits import STUCK_AFTER_S
from hangar.domain.owners import Shortfall, creation_failure, shortfall
from hangar.domain.snapshot import Pod
from hangar.domain.view import Claims, View
from hangar.domain.workloads.graph import Desired, Unwritten

STUCK_AFTER = timedelta(seconds=STUCK_AFTER_S)


@dataclass(frozen=True, slots=True)
class Moving:
    """Replicas of one component that drains have evicted.

    `missing` do not serve elsewhere yet; `is_under_way` while one of them is ending, or loading elsewhere.
    """

    missing: int
    is_under_way: bool
    drains: tuple[str, ...]


def held(desired: Desired, takes: Mapping[str, int], view: View, now: datetime) -> Unwritten | None:
    """Return why a write that takes so many replicas off components has to wait, None where it need not.

    It waits while a replica that a drain evicted is ending, or its replacement is loading. It must not wait for what
    may never come, since to lower the count may be what lets a drain end that has no room for the replacements, and a
    pause must not hang on that. So it does not wait:

    - for a component that is to have none: there is nothing left to protect, and nothing to wait for;
    - where it takes no more than what is missing: it only says that this is not wanted any more;
    - for a replacement that cannot be created or placed, or a pod that is overdue to end: those are not on their way.

    What is left ends with the drain, which has a deadline.
    """
    for name, fewer in sorted(takes.items()):
        count = desired.counts[name]
        moving = _moving(desired, name, view, now) if count else None
        if moving is not None and moving.is_under_way and fewer > moving.missing:
            drains = " and ".join(moving.drains)
            why = f"{name} is lowered to {count} once the replicas that {drains} evicted have ended and serve elsewhere"
            return Unwritten(desired.rev, "draining", why)
    return None


def _moving(desired: Desired, component: str, view: View, now: datetime) -> Moving | None:
    owners: dict[OwnerUid, list[str]] = {}
    ending = False
    for operation, claims in sorted(view.claims.items()):
        for owner in sorted(claims.moved):
            part = claims.parts.get(owner)
            if part is not None and (part.graph, part.component) == (desired.ref, component):
                owners.setdefault(owner, []).append(_drain(operation, claims))
                ending = ending or any(_is_ending(pod, view, now) for pod in _evicted(owner, claims, view))
    if not owners:
        return None
    lacks = {owner: lack for owner in owners if (lack := shortfall(owner, view)) is not None}
    loading = any(_comes(owner, lack, view) for owner, lack in lacks.items())
    drains = tuple(sorted({drain for named in owners.values() for drain in named}))
    return Moving(sum(lack.missing for lack in lacks.values()), ending or loading, drains)


def _drain(operation: OperationId, claims: Claims) -> str:
    return operation if claims.draining is None else f"{operation} (node {claims.draining[0]})"


def _evicted(owner: OwnerUid, claims: Claims, view: View) -> list[Pod]:
    return [pod for pod in view.snapshot.pods_of(owner) if pod.ref.uid in claims.sent and not pod.is_finished]


def _is_ending(pod: Pod, view: View, now: datetime) -> bool:
    """Tell whether a pod is about to end; one that is overdue may never do, as on a node that is silent."""
    if pod.deletion_at is None:
        return pod.ref.uid in view.leaving
    return now < pod.deletion_at + STUCK_AFTER


def _comes(owner: OwnerUid, lack: Shortfall, view: View) -> bool:
    """Tell whether some of what an owner lacks is on its way: it is made, or will be, and has a place."""
    stuck = {pod.group or pod.ref.uid for pod in lack.loading if pod.unschedulable_since is not None}
    if creation_failure(owner, view.snapshot) is not None:
        return any(pod.unschedulable_since is None for pod in lack.loading)
    return lack.missing > len(stuck)

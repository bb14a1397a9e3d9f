"""What can be seen right after the cordon to make a drain impossible, before the first pod is touched."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from hangar.domain.blockers import blocker, listed, sentence
from hangar.domain.budgets import explain, held_together, may_evict
from hangar.domain.decision import Blocker, Fail
from hangar.domain.drain.selection import READ_OWNER_KINDS, Refuse, RefuseReason, returns_to, select
from hangar.domain.fit.bound import misfits
from hangar.domain.ids import PodUid
from hangar.domain.limits import ORPHAN_SETTLE_S
from hangar.domain.owners import name_of
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import View


@dataclass(frozen=True, slots=True)
class Settling:
    """What a verdict waits for, and how long."""

    blocker: Blocker
    until: datetime


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing in the way: a stable code, the sentence, and how it may still clear by itself."""

    code: str
    message: str
    settling: Settling | None = None


@dataclass(frozen=True, slots=True)
class Since:
    """Since when things are as they are: our cordon on the node, and pods seen there without their controllers."""

    cordoned_at: datetime
    orphaned_at: Mapping[PodUid, datetime]


def judge(found: Iterable[Obstacle], now: datetime) -> Fail | tuple[Settling, ...]:
    """Return how a drain fails of what is in its way for certain, or else what may still clear by itself."""
    settling: list[Settling] = []
    certain: list[Obstacle] = []
    for each in found:
        if each.settling is not None and now < each.settling.until:
            settling.append(each.settling)
        else:
            certain.append(each)
    return Fail(certain[0].code, listed([each.message for each in certain])) if certain else tuple(settling)


_WHY_REFUSED = {
    RefuseReason.UNMANAGED: "has no controller, so nothing would recreate it",
    RefuseReason.ORPHANED: "belongs to a controller that no longer exists, so nothing would recreate it",
}


def orphans(node: Node, before: Mapping[PodUid, datetime], view: View, now: datetime) -> Mapping[PodUid, datetime]:
    """Return since when each pod of the node is seen without its controller; `before` is what was known of that.

    It is no verdict at once: a controller that was just deleted takes its pods along in a moment, and one that was
    just made may be seen after its pods.
    """
    return {
        pod.ref.uid: before.get(pod.ref.uid, now)
        for pod in view.snapshot.pods_on(node.name)
        if select(pod, view.snapshot) == Refuse(RefuseReason.ORPHANED)
    }


def holds_refused(node: Node, view: View) -> bool:
    """Tell whether a pod that must not be moved without force is on the node."""
    return any(isinstance(select(pod, view.snapshot), Refuse) for pod in view.snapshot.pods_on(node.name))


def refused(node: Node, view: View, since: Since) -> tuple[Obstacle, ...]:
    """Return an obstacle for each pod of the node that must not be moved without force."""
    found = []
    for pod in sorted(view.snapshot.pods_on(node.name), key=lambda each: each.ref):
        match select(pod, view.snapshot):
            case Refuse(reason=reason):
                why = f"{pod.ref} {_WHY_REFUSED[reason]}"
                found.append(Obstacle("unmanaged_pods", why, _owner_may_show(pod, since)))
            case _:
                pass
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Choices:
    """What a drain's caller chose that bears on what is in its way."""

    skip_fit_check: bool = False
    force: bool = False


def obstacles(node: Node, moving: Iterable[Pod], view: View, since: Since, choices: Choices) -> tuple[Obstacle, ...]:
    """Return all that makes the drain impossible as things are, the gravest kind first."""
    moving = tuple(moving)
    found = [*(() if choices.force else refused(node, view, since)), *_returning(node, moving)]
    if not choices.skip_fit_check:
        found += [
            Obstacle("blocked_by_budget", why, _owner_may_react(pod, why, node, view, since))
            for pod, why in _never_allowed(moving, view)
        ]
        found += [
            Obstacle(each.code, str(each), _owner_may_react(each.pod, str(each), node, view, since))
            for each in misfits(moving, view)
        ]
    return tuple(found)


def _returning(node: Node, moving: Iterable[Pod]) -> list[Obstacle]:
    return [
        Obstacle("returns_to_node", f"{pod.ref} would be put back on {node.name}: {why}")
        for pod in moving
        if (why := returns_to(pod, node)) is not None
    ]


def _never_allowed(moving: Iterable[Pod], view: View) -> list[tuple[Pod, str]]:
    """Return for all budgets that can never let their pods go one of those pods, and the sentence."""
    holds = ((pod, may_evict(pod, view)) for pod in moving)
    final = held_together((pod, hold) for pod, hold in holds if hold is not None and hold.is_final)
    return [(pods[0], sentence(explain(hold, pods, view))) for hold, pods in final]


def _owner_may_show(pod: Pod, since: Since) -> Settling | None:
    orphaned_at = since.orphaned_at.get(pod.ref.uid)
    if orphaned_at is None or pod.controller is None:
        return None
    owner = name_of(pod.controller, pod.ref.namespace)
    waits = blocker("orphaned", str(pod.ref), owner=owner, settle_s=int(ORPHAN_SETTLE_S))
    return Settling(waits, orphaned_at + timedelta(seconds=ORPHAN_SETTLE_S))


def _owner_may_react(pod: Pod | None, why: str, node: Node, view: View, since: Since) -> Settling | None:
    """Return the wait where a controller of its own kind is above the pod: many of those act on seeing the cordon."""
    owner = view.snapshot.top_owner(pod) if pod is not None else None
    if owner is None or owner.kind in READ_OWNER_KINDS:
        return None
    settle_s = view.settings.settle_s
    waits = blocker("settling", f"node {node.name}", settle_s=int(settle_s), why=why)
    return Settling(waits, since.cordoned_at + timedelta(seconds=settle_s))

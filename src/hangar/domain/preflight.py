"""What can be seen right after the cordon to make a drain impossible, before the first pod is touched."""

from collections.abc import Iterable
from dataclasses import dataclass

from hangar.domain.blockers import sentence
from hangar.domain.budgets import never_allows
from hangar.domain.fit import misfits
from hangar.domain.selection import READ_OWNER_KINDS, Refuse, RefuseReason, returns_to, select
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import View


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing in the way: a stable code, the sentence, and whether a controller may still clear it by itself."""

    code: str
    message: str
    may_settle: bool = False


_WHY_REFUSED = {
    RefuseReason.UNMANAGED: "has no controller, so nothing would recreate it",
    RefuseReason.ORPHANED: "belongs to a controller that no longer exists, so nothing would recreate it",
}


def refused(node: Node, view: View) -> tuple[Obstacle, ...]:
    """Return an obstacle for each pod of the node that must not be moved without force."""
    found = []
    for pod in sorted(view.snapshot.pods_on(node.name), key=lambda each: each.ref):
        match select(pod, view.snapshot):
            case Refuse(reason=reason):
                found.append(Obstacle("unmanaged_pods", f"{pod.ref} {_WHY_REFUSED[reason]}"))
            case _:
                pass
    return tuple(found)


def obstacles(node: Node, moving: Iterable[Pod], view: View, *, skip_fit_check: bool) -> tuple[Obstacle, ...]:
    """Return all that makes the drain impossible as things are, the gravest kind first."""
    moving = tuple(moving)
    found = [*refused(node, view), *_returning(node, moving)]
    if not skip_fit_check:
        found += _never_allowed(moving, view)
        if not view.settings.has_autoscaler:
            wanted = [pod for pod in moving if pod.controller is not None]
            found += [
                Obstacle("no_capacity", str(each), each.pod is not None and _settles(each.pod, view))
                for each in misfits(wanted, view)
            ]
    return tuple(found)


def _returning(node: Node, moving: Iterable[Pod]) -> list[Obstacle]:
    return [
        Obstacle("returns_to_node", f"{pod.ref} would be put back on {node.name}: {why}")
        for pod in moving
        if (why := returns_to(pod, node)) is not None
    ]


def _never_allowed(moving: Iterable[Pod], view: View) -> list[Obstacle]:
    return [
        Obstacle("blocked_by_budget", f"{sentence(why)}, and it can never allow this", _settles(pod, view))
        for pod in moving
        if (why := never_allows(pod, view)) is not None
    ]


def _settles(pod: Pod, view: View) -> bool:
    """Tell whether a controller of its own kind is above the pod: many of those act when they see the cordon."""
    owner = view.snapshot.top_owner(pod)
    return owner is not None and owner.kind not in READ_OWNER_KINDS

"""What a drain waits for: pods that are held back, pods that end, and when to look at them again."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from hangar.domain.blockers import blocker, listed
from hangar.domain.budgets import Hold, explain, held_together
from hangar.domain.decision import Answered, Blocker, Fail
from hangar.domain.drain.moves import Tally, TrackedPod
from hangar.domain.ids import NodeName
from hangar.domain.limits import HELD_MAX_S, LANDING_MAX_S, RETRY_MAX_S, STUCK_AFTER_S, TAKEOVER_SETTLE_S
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import View

STUCK_AFTER = timedelta(seconds=STUCK_AFTER_S)


def held_back(held: Iterable[tuple[Pod, Hold | Blocker]], view: View) -> tuple[Blocker, ...]:
    """Return why pods are not evicted yet: one blocker for each budget, whatever it holds, and one for each other."""
    by_budgets: list[tuple[Pod, Hold]] = []
    others: list[Blocker] = []
    for pod, why in held:
        if isinstance(why, Hold):
            by_budgets.append((pod, why))
        elif why not in others:  # the pods of one group are held as one
            others.append(why)
    return tuple(explain(hold, pods, view) for hold, pods in held_together(by_budgets)) + tuple(others)


def not_gone(count: Tally, node: Node | None, now: datetime) -> tuple[Blocker, ...]:
    """Return a blocker for each pod that was told to end, or may have been, and is not gone yet.

    Where the node is gone nothing is evicted any more, and what is left there is the garbage collector's.
    """
    ending = tuple(_ending(pod, node, now) for pod in count.terminating)
    landing = tuple(blocker("landing", str(pod.ref)) for pod in count.unknown)
    left = count.untouched if node is None else ()
    return ending + landing + tuple(blocker("collected", str(pod.ref), node=f"node {pod.node}") for pod in left)


def _ending(pod: Pod, node: Node | None, now: datetime) -> Blocker:
    assert pod.deletion_at is not None
    if node is not None and not node.is_heard:
        return blocker("unconfirmed", str(pod.ref), node=f"node {node.name}")
    is_stuck = now >= pod.deletion_at + STUCK_AFTER
    held = f" ({pod.waiting})" if pod.waiting else ""
    # The deletion's own time, which already contains the grace period: an unchanged world gives an unchanged text.
    due_at = pod.deletion_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return blocker("stuck" if is_stuck else "terminating", str(pod.ref), due_at=due_at, held=held)


def taken_over(count: Tally, name: NodeName, replaced_at: datetime | None, now: datetime) -> Fail | None:
    """Return how a drain fails whose node was replaced by another of its name that runs its pods on.

    The garbage collector leaves them alone then, and the new node is not ours to empty.
    """
    until = takeover_at(count, replaced_at)
    if until is None or now < until:
        return None
    pods = listed([str(pod.ref) for pod in count.untouched], ", ")
    text = f"node {name} was replaced by another node of that name, which runs {pods} on; the new one is not touched"
    return Fail("node_replaced", text)


def takeover_at(count: Tally, replaced_at: datetime | None) -> datetime | None:
    """Return when pods that are still there count as taken over by the node that replaced theirs, if any are."""
    if replaced_at is None or not count.untouched:
        return None
    return replaced_at + timedelta(seconds=TAKEOVER_SETTLE_S)


def stuck_at(count: Tally, now: datetime) -> datetime | None:
    """Return when the first of the pods that end ought to have ended, or None where no such time is to come."""
    times = [pod.deletion_at + STUCK_AFTER for pod in count.terminating if pod.deletion_at is not None]
    return min((each for each in times if each > now), default=None)


def landed_at(tracked: TrackedPod, answered: Answered | None, now: datetime) -> datetime:
    """Return when to look again at a pod that an eviction of unknown outcome may still end."""
    sent_at = tracked.sent_at or now
    left_at = sent_at + timedelta(seconds=HELD_MAX_S) if answered is None or answered.at < sent_at else answered.at
    until = left_at + timedelta(seconds=LANDING_MAX_S)
    # By then it does not count any more, unless it is another operation's, of which this one does not know when.
    return until if until > now else now + timedelta(seconds=RETRY_MAX_S)

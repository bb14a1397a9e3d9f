"""Force: which pods are deleted past their budgets, where a caller has chosen so for the deadline or a dead node."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hangar.domain.blockers import blocker
from hangar.domain.decision import Accepted, Blocker, Busy, Delete, Denied, Fail, Gone, Namesake, Unknown, Withheld
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.ids import OperationId, PodUid
from hangar.domain.limits import DENIED_TRIES_MAX
from hangar.domain.snapshot import Pod
from hangar.domain.view import StepKey, StepName, View, retry_at

GRACE_S = 1
"""What is left of a grace period at the deadline; with 0 a pod's name would be free before its containers end."""


@dataclass(frozen=True, slots=True)
class Forcing:
    """What to delete now, what is to be tried again and why, when to look again; or why it can never be done."""

    steps: tuple[Delete, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    recheck_at: datetime | None = None
    denied: Fail | None = None

    def remembered(self, pods: Mapping[PodUid, TrackedPod], now: datetime) -> Mapping[PodUid, TrackedPod]:
        """Return what to remember of the drain's pods before these steps are taken."""
        forced = {
            step.pod.uid: replace(each, forced_at=each.forced_at or now, sent_at=each.sent_at or now)
            for step in self.steps
            if (each := pods.get(step.pod.uid)) is not None
        }
        return {**pods, **forced}


def delete(operation: OperationId, pods: Iterable[Pod], grace_s: int, view: View, now: datetime) -> Forcing:
    """Return the deletion of each pod that has more grace than `grace_s` left and is not told yet."""
    steps: list[Delete] = []
    blockers: list[Blocker] = []
    times: list[datetime] = []
    for pod in pods:
        key = StepKey(operation, StepName.DELETE, pod.ref.uid)
        if key in view.in_flight or _has_nothing_to_shorten(pod, grace_s, now):
            continue
        answered = view.answers.get(key)
        match answered.answer if answered is not None else None:
            case Accepted() | Gone() | Namesake():
                continue
            case Denied(message=message) if answered is not None and answered.tries >= DENIED_TRIES_MAX:
                return Forcing(denied=Fail("deletion_denied", f"the cluster refuses to delete {pod.ref}: {message}"))
            case (
                Busy(message=message) | Denied(message=message) | Unknown(message=message) | Withheld(message=message)
            ) if answered is not None and now < retry_at(answered):
                blockers.append(blocker("retry", str(pod.ref), trouble="its deletion", why=message))
                times.append(retry_at(answered))
                continue
            case _:
                steps.append(Delete(pod.ref, grace_s))
    return Forcing(tuple(steps), tuple(blockers), min(times, default=None))


def _has_nothing_to_shorten(pod: Pod, grace_s: int, now: datetime) -> bool:
    """Tell whether a pod ends as soon as a deletion would make it; one with grace 0 takes the object away at once."""
    return grace_s > 0 and pod.deletion_at is not None and pod.deletion_at <= now + timedelta(seconds=grace_s)

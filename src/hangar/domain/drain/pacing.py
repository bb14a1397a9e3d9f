"""Which pods of a node may be evicted now, and what holds each of the others back.

It is one walk over what is not touched yet: each eviction sees what those before it have spent. What is held holds
nothing itself, so that a pod that waits never keeps another from going.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from hangar.domain.blockers import blocker
from hangar.domain.budgets import Cause, Hold, may_evict
from hangar.domain.decision import (
    Answered,
    Blocker,
    BudgetFull,
    Busy,
    Denied,
    Evict,
    Fail,
    SeveralBudgets,
    Trouble,
    Withheld,
)
from hangar.domain.drain.crossing import crossed_by
from hangar.domain.ids import OperationId, PodUid
from hangar.domain.limits import DENIED_TRIES_MAX, WEBHOOK_DENIED_TRIES_MAX
from hangar.domain.owners import keeps_last_ready
from hangar.domain.snapshot import Pod
from hangar.domain.view import StepKey, StepName, View, retry_at

CRITICAL_PRIORITY = 2_000_000_000
"""From here on Kubernetes calls pods critical (system-cluster-critical): what others need to end in order."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What to evict now; which pods are held and why; when to look again; or why it can never be done."""

    steps: tuple[Evict, ...] = ()
    held: tuple[tuple[Pod, Hold | Blocker], ...] = ()
    recheck_at: datetime | None = None
    denied: Fail | None = None


@dataclass(frozen=True, slots=True)
class Walker:
    """One drain that walks: its operation, and the grace period that its caller chose."""

    operation: OperationId
    grace_s: int | None

    def walk(self, untouched: Iterable[Pod], is_emptying: bool, view: View, now: datetime) -> Walk:
        """Decide each untouched pod, ordinary ones first; `is_emptying` where others of the node are still ending."""
        untouched = tuple(untouched)
        answers = {pod.ref.uid: view.answers.get(self._key(pod)) for pod in untouched}
        for pod in untouched:
            if (why := _final(pod, answers[pod.ref.uid])) is not None:
                return Walk(denied=why)
        ordinary = [pod for pod in untouched if pod.priority < CRITICAL_PRIORITY]
        critical = [pod for pod in untouched if pod.priority >= CRITICAL_PRIORITY]
        walk = self._pass(ordinary, answers, view, now)
        if not ordinary and not is_emptying:
            return self._pass(critical, answers, view, now)
        waiting = tuple((pod, blocker("ordered", str(pod.ref))) for pod in critical)
        return Walk(walk.steps, walk.held + waiting, walk.recheck_at)

    def _pass(self, pods: Iterable[Pod], answers: Mapping[PodUid, Answered | None], view: View, now: datetime) -> Walk:
        steps: list[Evict] = []
        held: list[tuple[Pod, Hold | Blocker]] = []
        times: list[datetime] = []
        before = view
        for pod in pods:
            answered = answers[pod.ref.uid]
            if answered is not None and (why := _retry(pod, answered)) is not None and now < retry_at(answered):
                times.append(retry_at(answered))
                held.append((pod, why))
            elif (why_not := may_evict(pod, view) or keeps_last_ready(pod, view) or _paced(pod, view)) is not None:
                held.append((pod, why_not))
            else:
                steps.append(Evict(pod.ref, self.grace_s))
                view = view.assuming(steps[-1:])
        if view.evictions_again_at is not None and view.evictions_left <= 0:
            times.append(view.evictions_again_at)
        if any(isinstance(why, Hold) and why.cause is Cause.SPENT for _, why in held):
            crossing = crossed_by(self.operation, before)
            if crossing is not None:
                stopped = [view.snapshot.pods[step.pod.uid] for step in steps]
                stopped += [pod for pod, why in held if isinstance(why, Hold) and why.cause is Cause.SPENT]
                held += [(pod, crossing) for pod in stopped]
                return Walk((), tuple(held), min(times, default=None))
        return Walk(tuple(steps), tuple(held), min(times, default=None))

    def _key(self, pod: Pod) -> StepKey:
        return StepKey(self.operation, StepName.EVICT, pod.ref.uid)


def _paced(pod: Pod, view: View) -> Blocker | None:
    if view.evictions_left > 0:
        return None
    return blocker("paced", str(pod.ref), evictions_max=view.settings.evictions_per_minute_max)


def _final(pod: Pod, answered: Answered | None) -> Fail | None:
    """Return how a drain fails of a pod that the cluster refuses to evict, again and again."""
    if answered is None or not isinstance(answered.answer, Denied):
        return None
    denied = answered.answer
    if answered.tries < (WEBHOOK_DENIED_TRIES_MAX if denied.by_webhook else DENIED_TRIES_MAX):
        return None
    return Fail("eviction_denied", f"the cluster refuses to evict {pod.ref}: {denied.message}")


def _retry(pod: Pod, answered: Answered) -> Blocker | None:
    """Return the blocker of an eviction that was not taken, by its cause; None where it was."""
    match answered.answer:
        case Busy(trouble=Trouble.NAMESPACE_TERMINATING):
            return blocker("namespace_terminating", str(pod.ref))
        case Busy(message=message, trouble=trouble):
            return blocker("retry", str(pod.ref), trouble=trouble.value, why=message)
        case Denied(message=message, by_webhook=by_webhook):
            return blocker(
                "retry", str(pod.ref), trouble="denied by a webhook" if by_webhook else "denied", why=message
            )
        case BudgetFull(message=message):
            return blocker("retry", str(pod.ref), trouble="budget", why=message)
        case SeveralBudgets(message=message):
            return blocker("retry", str(pod.ref), trouble="several budgets", why=message)
        case Withheld(message=message):
            return blocker("retry", str(pod.ref), trouble="not sent", why=message)
        case _:
            return None

"""What a drain waits for once it has begun: pods that end, owners that load, and who else holds a budget."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from hangar.domain.blockers import blocker, listed
from hangar.domain.decision import Answered, Blocker
from hangar.domain.ids import OperationId
from hangar.domain.limits import LANDING_MAX_S, RETRY_MAX_S
from hangar.domain.moves import Tally, TrackedPod
from hangar.domain.owners import name_of
from hangar.domain.snapshot import Pod
from hangar.domain.view import View


def not_gone(count: Tally) -> tuple[Blocker, ...]:
    """Return a blocker for each pod that was told to end, or may have been, and is not gone yet."""
    ending = tuple(
        blocker("terminating", str(pod.ref), held=f" ({pod.waiting})" if pod.waiting else "")
        for pod in count.terminating
    )
    return ending + tuple(blocker("landing", str(pod.ref)) for pod in count.unknown)


def landed_at(tracked: TrackedPod, answered: Answered | None, now: datetime) -> datetime:
    """Return when to look again at a pod that an eviction of unknown outcome may still end."""
    since = max(
        (each for each in (tracked.sent_at, answered.at if answered is not None else None) if each is not None),
        default=now,
    )
    until = since + timedelta(seconds=LANDING_MAX_S)
    # By then it does not count any more, unless it is another operation's, of which this one does not know when.
    return until if until > now else now + timedelta(seconds=RETRY_MAX_S)


def unavailable(held: Iterable[tuple[Pod, Blocker]], view: View) -> tuple[Blocker, ...]:
    """Return, for each budget or owner that holds a pod, which of its pods do not serve, and why or for whom."""
    found: dict[str, list[Pod]] = {}
    for pod, why in held:
        if why.code == "budget_spent":
            (budget,) = view.snapshot.budgets_of(pod)
            guarded = view.snapshot.pods_by_budget.get(budget.uid, ())
            found.setdefault(str(budget), [view.snapshot.pods[uid] for uid in guarded])
        elif why.code == "last_ready" and (owner := view.snapshot.top_owner(pod)) is not None:
            found.setdefault(name_of(owner, pod.ref.namespace), list(view.snapshot.pods_of(owner.uid)))
    told = {
        name: [_why_not_serving(pod, view) for pod in sorted(pods, key=lambda each: each.ref) if _is_missing(pod, view)]
        for name, pods in found.items()
    }
    return tuple(blocker("unavailable", name, pods=listed(reasons)) for name, reasons in told.items() if reasons)


def _is_missing(pod: Pod, view: View) -> bool:
    return not pod.is_finished and not view.serving(pod)


def _why_not_serving(pod: Pod, view: View) -> str:
    mover = _mover_of(pod, view)
    if mover is not None:
        return f"{pod.ref} is moved by {mover}"
    if pod.is_terminating or pod.ref.uid in view.leaving:
        return f"{pod.ref} is terminating"
    return f"{pod.ref}: {pod.waiting or 'not ready'}"


def _mover_of(pod: Pod, view: View) -> OperationId | None:
    return next((operation for operation, each in view.claims.items() if pod.ref.uid in each.sent), None)

"""Pods that do not serve, and why: on their way because of us, or for a reason of their own."""

from collections.abc import Iterable

from hangar.domain.decision import Rows
from hangar.domain.ids import OperationId
from hangar.domain.snapshot import Pod
from hangar.domain.view import View


def missing_pods(pods: Iterable[Pod], view: View) -> tuple[Rows, Rows]:
    """Return the pods that do not serve, each with why: those that are on their way, and those that have a trouble.

    On its way is what an operation moves, what ends, and what has begun without a complaint.
    """
    on_their_way: Rows = []
    troubled: Rows = []
    for pod in sorted(pods, key=lambda each: each.ref):
        if pod.is_finished or view.serving(pod):
            continue
        why, is_trouble = _why(pod, view)
        (troubled if is_trouble else on_their_way).append({"pod": str(pod.ref), "why": why})
    return on_their_way, troubled


def _why(pod: Pod, view: View) -> tuple[str, bool]:
    mover = _mover_of(pod, view)
    if mover is not None:
        return f"moved by {mover}", False
    if pod.is_terminating or pod.ref.uid in view.leaving:
        return "terminating", False
    return pod.waiting or "not ready", not _is_young(pod, view)


def _is_young(pod: Pod, view: View) -> bool:
    """Tell whether a pod was made since an open drain of its owner began: it comes in the place of one that left."""
    owner = view.snapshot.top_owner(pod)
    if owner is None:
        return False
    since = [at for claim in view.claims.values() if owner.uid in claim.baselines for at in claim.sent.values()]
    return bool(since) and pod.created_at >= min(since).replace(microsecond=0)


def _mover_of(pod: Pod, view: View) -> OperationId | None:
    return next((operation for operation, each in view.claims.items() if pod.ref.uid in each.sent), None)

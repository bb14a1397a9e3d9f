"""Whether a pod may be evicted under its PodDisruptionBudgets, and if not, why, in numbers.

The API server decides in the end. We decide first, so as never to have more evictions under way than a budget
allows, whatever a stale status would let through, and to say who holds it.
"""

from collections.abc import Iterator

from hangar.domain.blockers import blocker
from hangar.domain.decision import Blocker
from hangar.domain.snapshot import Budget, Pod, PodPhase
from hangar.domain.view import View


def may_evict(pod: Pod, view: View) -> Blocker | None:
    """Return what in its budgets holds a pod now, or None if they let it go."""
    budgets = view.snapshot.budgets_of(pod)
    if not budgets or pod.phase is PodPhase.PENDING:
        return None  # the eviction API asks no budget about pods that have not started
    if len(budgets) > 1:
        return blocker("several_budgets", str(pod.ref), budgets=" and ".join(str(each) for each in budgets))
    (budget,) = budgets
    if not pod.ready and budget.always_allow_unready:
        return None  # whatever the status says
    if budget.sync_failure is not None:
        return blocker("budget_unsynced", str(pod.ref), budget=str(budget), why=budget.sync_failure)
    if not budget.is_current:
        return blocker("budget_behind", str(pod.ref), budget=str(budget))
    if not pod.ready and budget.healthy >= budget.desired_healthy > 0:
        return None
    if allowance(budget, view) > 0:
        return None
    return blocker(
        "budget_spent", str(pod.ref), budget=str(budget), needs=budget.desired_healthy, has=healthy(budget, view)
    )


def healthy(budget: Budget, view: View) -> int:
    """Return how many ready pods a budget guards, without those that evictions of ours are about to end."""
    return sum(1 for pod in _guarded(budget, view) if view.serving(pod))


def allowance(budget: Budget, view: View) -> int:
    """Return how many more pods may go now: the smaller of the budget's own word and our count.

    The status falls behind the pods, and both fall behind what we have just sent, so that is taken off either: what
    is already in them is then counted twice for the moment until the pod is seen to be terminating.
    """
    going = sum(1 for pod in _guarded(budget, view) if pod.serves and not view.serving(pod))
    return min(budget.allowed - going, healthy(budget, view) - budget.desired_healthy)


def _guarded(budget: Budget, view: View) -> Iterator[Pod]:
    return (view.snapshot.pods[uid] for uid in view.snapshot.pods_by_budget.get(budget.uid, ()))


def never_allows(pod: Pod, view: View) -> Blocker | None:
    """Return why a pod's budgets can never allow its eviction as things are, or None if they may yet.

    Never: every expected pod is healthy, nothing is being disrupted, and still none may go.
    """
    budgets = view.snapshot.budgets_of(pod)
    if pod.phase is PodPhase.PENDING or not budgets:
        return None
    if len(budgets) > 1:
        return may_evict(pod, view)
    (budget,) = budgets
    if budget.sync_failure is not None:
        return may_evict(pod, view)
    is_settled = budget.is_current and not budget.has_disrupted and budget.expected > 0
    return may_evict(pod, view) if is_settled and budget.healthy >= budget.expected and budget.allowed == 0 else None

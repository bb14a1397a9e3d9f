"""Whether a pod may be evicted under its PodDisruptionBudgets, and if not, why: by class, with pods and numbers.

The API server decides in the end. We decide first, so as never to have more evictions under way than a budget
allows, whatever a stale status would let through, and to say who holds it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hangar.domain.blockers import blocker
from hangar.domain.decision import Blocker
from hangar.domain.ids import BudgetUid
from hangar.domain.serving import missing_pods
from hangar.domain.snapshot import Budget, Pod, PodPhase, Snapshot
from hangar.domain.view import View


class Cause(StrEnum):
    """Why budgets hold a pod, as far as one pod shows it."""

    SEVERAL = "several"  # more than one guards it, which the eviction API cannot handle
    UNSYNCED = "unsynced"  # its controller cannot compute it, so that it allows nothing
    BEHIND = "behind"  # its status is behind its spec
    SPENT = "spent"
    NEVER = "never"  # all its pods are healthy, and still none may go


@dataclass(frozen=True, slots=True)
class Hold:
    """Budgets that hold a pod back: one, or all of them where there are several."""

    cause: Cause
    budgets: tuple[Budget, ...]

    @property
    def is_final(self) -> bool:
        """Tell whether nothing that a drain waits for can end it."""
        return self.cause in (Cause.NEVER, Cause.SEVERAL, Cause.UNSYNCED)


def may_evict(pod: Pod, view: View) -> Hold | None:
    """Return what in its budgets holds a pod now, or None if they let it go."""
    budgets = view.snapshot.budgets_of(pod)
    if not budgets or pod.phase is PodPhase.PENDING:
        return None  # the eviction API asks no budget about pods that have not started
    if len(budgets) > 1:
        return Hold(Cause.SEVERAL, budgets)
    (budget,) = budgets
    if not pod.ready and budget.always_allow_unready:
        return None  # whatever the status says
    if budget.sync_failure is not None:
        return Hold(Cause.UNSYNCED, budgets)
    if not budget.is_current:
        return Hold(Cause.BEHIND, budgets)
    if not pod.ready and budget.healthy >= budget.desired_healthy > 0:
        return None
    if allowance(budget, view) > 0:
        return None
    # Never: every expected pod is healthy, nothing is being disrupted, and still none may go.
    is_settled = not budget.has_disrupted and budget.expected > 0 and not _going(budget, view)
    is_never = is_settled and budget.healthy >= budget.expected and budget.allowed == 0
    return Hold(Cause.NEVER if is_never else Cause.SPENT, budgets)


def explain(hold: Hold, pods: Sequence[Pod], view: View) -> Blocker:
    """Return the one blocker for all the pods that the same budgets hold for the same cause."""
    names = [str(pod.ref) for pod in pods]
    budget = hold.budgets[0]
    match hold.cause:
        case Cause.SEVERAL:
            budgets = " and ".join(str(each) for each in hold.budgets)
            return blocker("several_budgets", ", ".join(names), pods=names, budgets=budgets)
        case Cause.UNSYNCED:
            return blocker("budget_unsynced", str(budget), pods=names, why=budget.sync_failure)
        case Cause.BEHIND:
            return blocker("budget_behind", str(budget), pods=names)
        case Cause.NEVER | Cause.SPENT:
            numbers: dict[str, int] = {"needs": budget.desired_healthy, "has": healthy(budget, view)}
            if hold.cause is Cause.NEVER:
                return blocker("budget_never", str(budget), pods=names, **numbers)
            ours, others = missing_pods(_guarded(budget, view), view)
            if others:
                return blocker("budget_unhealthy", str(budget), pods=names, missing=others + ours, **numbers)
            code = "budget_ours" if ours else "budget_spent"
            return blocker(code, str(budget), pods=names, missing=ours, **numbers)


def held_together(held: Iterable[tuple[Pod, Hold]]) -> list[tuple[Hold, list[Pod]]]:
    """Return each hold once, with all the pods that it holds back, in the order they came."""
    together: dict[tuple[Cause, tuple[str, ...]], tuple[Hold, list[Pod]]] = {}
    for pod, hold in held:
        key = (hold.cause, tuple(each.uid for each in hold.budgets))
        together.setdefault(key, (hold, []))[1].append(pod)
    return list(together.values())


def healthy(budget: Budget, view: View) -> int:
    """Return how many ready pods a budget guards, without those that evictions of ours are about to end."""
    counted = view.snapshot.once(_no_counts)
    if budget.uid not in counted:
        counted[budget.uid] = sum(1 for pod in _guarded(budget, view) if pod.serves)
    return counted[budget.uid] - _going(budget, view)


def allowance(budget: Budget, view: View) -> int:
    """Return how many more pods may go now: the smaller of the budget's own word and our count.

    The status falls behind the pods, and both fall behind what we have just sent, so that is taken off either: what
    is already in them is then counted twice for the moment until the pod is seen to be terminating.
    """
    return min(budget.allowed - _going(budget, view), healthy(budget, view) - budget.desired_healthy)


def _no_counts(_snapshot: Snapshot) -> dict[BudgetUid, int]:
    """Return where the counts of a snapshot's ready pods are kept, by budget, as they are asked for."""
    return {}


def _going(budget: Budget, view: View) -> int:
    """Return how many pods that a budget counts as ready are about to be ended by us."""
    guarded_by = view.snapshot.budgets_by_pod
    return sum(1 for pod in view.ending() if pod.serves and budget.uid in guarded_by.get(pod.ref.uid, ()))


def _guarded(budget: Budget, view: View) -> Iterator[Pod]:
    return (view.snapshot.pods[uid] for uid in view.snapshot.pods_by_budget.get(budget.uid, ()))

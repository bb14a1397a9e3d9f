"""Crossed budgets: each of two drains holds a budget that the other waits for; the younger lets the older go first."""

from collections.abc import Iterator

from hangar.domain.blockers import blocker
from hangar.domain.budgets import allowance
from hangar.domain.decision import Blocker
from hangar.domain.ids import BudgetUid, OperationId
from hangar.domain.owners import shortfall
from hangar.domain.view import Claims, View


def crossed_by(operation: OperationId, view: View) -> Blocker | None:
    """Return what a drain waits for where it is the younger of two that cross, or None."""
    own = view.claims.get(operation)
    if own is None:
        return None
    waits, holds = frozenset(_waits(own, view)), frozenset(_holds(own, view))
    for other, claims in sorted(view.claims.items()):
        if other >= operation:
            return None  # this one is the oldest so far; the others wait for it
        crossed = waits & frozenset(_holds(claims, view))
        if crossed and holds & frozenset(_waits(claims, view)):
            names = sorted(str(view.snapshot.budgets[uid]) for uid in crossed)
            return blocker("budget_crossed", ", ".join(names), operation=other)
    return None


def _waits(claims: Claims, view: View) -> Iterator[BudgetUid]:
    """Yield the budgets that have nothing left for pods which a drain has not evicted yet."""
    if claims.draining is None:
        return
    name, uid = claims.draining
    node = view.snapshot.nodes.get(name)
    for pod in view.snapshot.pods_on(name) if node is not None and node.uid == uid else ():
        if not pod.is_terminating and not pod.is_finished and pod.ref.uid not in view.leaving:
            for budget in view.snapshot.budgets_of(pod):
                if allowance(budget, view) <= 0:
                    yield budget.uid


def _holds(claims: Claims, view: View) -> Iterator[BudgetUid]:
    """Yield the budgets over owners of which a drain has evicted pods that do not serve elsewhere yet."""
    for owner in claims.moved:
        if shortfall(owner, view) is not None:
            for pod in view.snapshot.pods_of(owner):
                yield from view.snapshot.budgets_by_pod.get(pod.ref.uid, ())

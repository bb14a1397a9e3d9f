"""How fast a drain could go, and what its owners could lose on the way: arithmetic on budgets and ready pods."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from hangar.domain.blockers import sentence
from hangar.domain.budgets import allowance, explain, healthy, may_evict
from hangar.domain.groups import Group
from hangar.domain.ids import BudgetUid, OwnerUid, PodUid
from hangar.domain.owners import baseline_of, desired_by, name_of, ready_count
from hangar.domain.plan import PlannedBudget, PlannedLoss
from hangar.domain.snapshot import Budget, Pod, PodPhase
from hangar.domain.view import View

Budgets = Mapping[BudgetUid, PlannedBudget]


def budgets_of(moving: Iterable[Pod], view: View) -> dict[BudgetUid, PlannedBudget]:
    """Return how each budget paces the pods that move, in the order of the budgets' names."""
    under: dict[BudgetUid, list[Pod]] = {}
    for pod in moving:
        for budget in view.snapshot.budgets_of(pod):
            if _has_a_say(budget, pod):
                under.setdefault(budget.uid, []).append(pod)
    budgets = sorted((view.snapshot.budgets[uid] for uid in under), key=str)
    return {each.uid: _planned(each, under[each.uid], view) for each in budgets}


def _has_a_say(budget: Budget, pod: Pod) -> bool:
    """Tell whether a pod's eviction is one that a budget could refuse."""
    if pod.is_terminating or pod.phase is PodPhase.PENDING:
        return False
    return pod.ready or not (budget.always_allow_unready or budget.healthy >= budget.desired_healthy > 0)


def _planned(budget: Budget, pods: list[Pod], view: View) -> PlannedBudget:
    allowed = max(0, allowance(budget, view))
    message = f"needs {budget.desired_healthy} has {healthy(budget, view)}"
    holds = [(pod, hold) for pod in pods if (hold := may_evict(pod, view)) is not None]
    if holds:
        first = holds[0][1]
        held = [pod for pod, each in holds if each.cause is first.cause]
        message = sentence(explain(first, held, view)).removeprefix(f"{budget} ")
    return PlannedBudget(str(budget), len(pods), allowed, ceil(len(pods) / max(1, allowed)), message)


@dataclass(frozen=True, slots=True)
class Part:
    """The pods of one owner among those that move. `name` is the owner's as people write it."""

    name: str
    owner: OwnerUid
    pods: tuple[Pod, ...]


def parts_of(moving: Iterable[Pod], view: View) -> tuple[Part, ...]:
    """Return the pods that move by their owners, in the order of the owners' names."""
    by_owner: dict[tuple[str, OwnerUid], list[Pod]] = {}
    for pod in moving:
        if (top := view.snapshot.top_owner(pod)) is not None:
            by_owner.setdefault((name_of(top, pod.ref.namespace), top.uid), []).append(pod)
    return tuple(Part(name, uid, tuple(pods)) for (name, uid), pods in sorted(by_owner.items()))


def loss_of(part: Part, budgets: Budgets, view: View) -> PlannedLoss:
    """Return how far an owner may fall: by what its budgets let go at once, but not to nothing while it wants more."""
    ready = ready_count(part.owner, view)
    lowest = max(ready - _down_at_once(part, budgets, view), min(ready, _floor(part, view)))
    return PlannedLoss(part.name, ready, len(_units(part.pods)), lowest)


def steps_of(part: Part, budgets: Budgets, view: View) -> int:
    """Return in how many steps, one after another, an owner's pods can go at the fastest."""
    guards = {each.uid for pod in part.pods for each in view.snapshot.budgets_of(pod)}
    by_budgets = [budgets[uid].steps for uid in guards if uid in budgets]
    serving = _units(pod for pod in part.pods if view.serving(pod))
    keeps_one = bool(serving) and len(serving) >= ready_count(part.owner, view) and _floor(part, view) > 0
    return max([1 + keeps_one, *by_budgets])


def _floor(part: Part, view: View) -> int:
    """Return how many ready units an owner keeps at least: its last one, if it wants more than that one."""
    desired = desired_by(part.owner, view.snapshot)
    return int((baseline_of(part.owner, view) if desired is None else desired) > 1)


def _down_at_once(part: Part, budgets: Budgets, view: View) -> int:
    """Return how many of an owner's serving units may be gone at a time, before anything has come in their place."""
    under: dict[tuple[BudgetUid, ...], list[Pod]] = {}
    for pod in part.pods:
        if view.serving(pod):
            under.setdefault(tuple(each.uid for each in view.snapshot.budgets_of(pod)), []).append(pod)
    down: set[Group | PodUid] = set()
    for guards, pods in under.items():
        units = sorted(_units(pods), key=str)
        # The eviction API takes no pod that several budgets guard.
        down.update(units if not guards else units[: budgets[guards[0]].allowed] if len(guards) == 1 else ())
    return len(down)


def _units(pods: Iterable[Pod]) -> set[Group | PodUid]:
    """Return what an owner counts these pods as: each by itself, or the group that it is of."""
    return {pod.group or pod.ref.uid for pod in pods}

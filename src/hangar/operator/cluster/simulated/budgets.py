"""The disruption controller: what each budget's status says of the pods it guards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from hangar.domain.ids import BudgetUid, PodUid
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import Budget, OwnerRef, Pod
from hangar.operator.cluster.simulated.spec import BudgetSpec
from hangar.operator.cluster.simulated.state import State

BUDGET_LAG_S = 0.03
"""From a change of pods to the budget's status."""

Scale = Callable[[OwnerRef], int]
"""Returns how many pods a controller wants."""


@dataclass(slots=True)
class _Kept:
    """A budget as its controller keeps it."""

    spec: BudgetSpec
    uid: BudgetUid
    disrupted: set[PodUid]
    version: int = 0

    def guards(self, pod: Pod) -> bool:
        """Tell whether the budget selects a pod."""
        return self.spec.namespace == pod.ref.namespace and self.spec.selector.items() <= pod.labels.items()


class Budgets:
    """The budgets of a cluster.

    Attributes:
        lag_s: From a change of pods to a status that knows it.
    """

    def __init__(self, state: State, scale: Scale) -> None:
        self._state = state
        self._scale = scale
        self._kept: dict[BudgetUid, _Kept] = {}
        self._stale: set[BudgetUid] = set()
        self.lag_s = BUDGET_LAG_S
        state.on_pod.append(self._follow)

    def add(self, spec: BudgetSpec) -> BudgetUid:
        """Add a budget with its status computed at once."""
        uid = BudgetUid(self._state.new_uid("budget"))
        self._kept[uid] = _Kept(spec, uid, set())
        self.sync(uid)
        return uid

    def change(self, uid: BudgetUid, spec: BudgetSpec) -> None:
        """Replace a budget's spec; its status follows."""
        self._kept[uid].spec = spec
        self._changed(uid)

    def drop_all(self, namespace: str) -> None:
        """Take away the budgets of a namespace."""
        for uid in [uid for uid, each in self._kept.items() if each.spec.namespace == namespace]:
            del self._kept[uid]
            self._state.index.drop_budget(uid)

    def spend(self, budget: Budget, pod: Pod) -> None:
        """Take one disruption off a budget's status at once, as the eviction API does."""
        kept = self._kept[budget.uid]
        kept.disrupted.add(pod.ref.uid)
        kept.version += 1
        spent = replace(budget, allowed=budget.allowed - 1, has_disrupted=True, version=str(kept.version))
        self._state.index.put_budget(spent)
        self._changed(budget.uid)

    def sync(self, uid: BudgetUid) -> None:
        """Compute a budget's status from the pods as they are."""
        self._stale.discard(uid)
        kept = self._kept.get(uid)
        if kept is None:
            return
        pods = [pod for pod in self._state.snapshot().pods.values() if kept.guards(pod) and not pod.is_finished]
        kept.disrupted &= {pod.ref.uid for pod in pods if not pod.is_terminating}
        kept.version += 1
        healthy = sum(1 for pod in pods if pod.serves and pod.ref.uid not in kept.disrupted)
        expected = self._expected(pods)
        bound = kept.spec.min_available
        desired = bound if bound is not None else max(0, expected - (kept.spec.max_unavailable or 0))
        self._state.index.put_budget(
            Budget(
                namespace=kept.spec.namespace,
                name=kept.spec.name,
                uid=uid,
                selector=_selector(kept.spec.selector),
                expected=expected,
                healthy=healthy,
                desired_healthy=desired,
                allowed=max(0, healthy - desired) if expected else 0,
                version=str(kept.version),
                always_allow_unready=kept.spec.always_allow_unready,
                has_disrupted=bool(kept.disrupted),
            )
        )
        self._state.on_change()

    def _expected(self, pods: list[Pod]) -> int:
        controllers = {pod.controller for pod in pods if pod.controller is not None}
        return sum(1 for pod in pods if pod.controller is None) + sum(map(self._scale, controllers))

    def _follow(self, pod: Pod) -> None:
        for uid, kept in self._kept.items():
            if kept.guards(pod):
                self._changed(uid)

    def _changed(self, uid: BudgetUid) -> None:
        if uid not in self._stale:
            self._stale.add(uid)
            self._state.at(self.lag_s, lambda: self.sync(uid))


def _selector(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    return tuple(Requirement(key, SelectorOp.IN, frozenset({value})) for key, value in sorted(labels.items()))

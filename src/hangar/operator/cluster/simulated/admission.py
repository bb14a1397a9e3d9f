"""What the API server lets in: no new pods beyond a quota or in a namespace that is being deleted."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from hangar.domain.placing import Quota
from hangar.domain.snapshot import Pod
from hangar.operator.cluster.simulated.spec import QuotaSpec
from hangar.operator.cluster.simulated.state import State

COUNTED_BY = ("pods", "count/pods")
"""How a quota names the number of pods."""

PLAIN = ("cpu", "memory", "ephemeral-storage")
"""Resources whose requests a quota may name without saying so."""


class Admission:
    """Quotas and namespaces.

    Attributes:
        on_less: Called when a quota has more left than before.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._terminating: set[str] = set()
        self.on_less: Callable[[], None] = lambda: None
        state.on_pod.append(lambda pod: self._recount(pod.ref.namespace))

    def add_quota(self, spec: QuotaSpec) -> None:
        """Add a quota, or replace it."""
        self._state.index.put_quota(Quota(spec.namespace, spec.name, spec.hard, self._used(spec.namespace, spec.hard)))
        self.on_less()
        self._state.on_change()

    def terminate(self, namespace: str) -> None:
        """Let nothing new into a namespace from now on."""
        self._terminating.add(namespace)

    def is_terminating(self, namespace: str) -> bool:
        """Tell whether a namespace is being deleted."""
        return namespace in self._terminating

    def why_not(self, pod: Pod) -> str | None:
        """Return why a pod must not be created, in the API server's words, or None."""
        namespace, name = pod.ref.namespace, pod.ref.name
        forbidden = f'pods "{name}" is forbidden: '
        if self.is_terminating(namespace):
            return f"{forbidden}unable to create new content in namespace {namespace} because it is being terminated"
        for quota in self._quotas(namespace):
            asked = {each: amount for each in quota.hard if (amount := _amount(pod, each))}
            over = [each for each, amount in asked.items() if quota.used.get(each, 0) + amount > quota.hard[each]]
            if over:
                figures = (("requested", asked), ("used", quota.used), ("limited", quota.hard))
                said = ", ".join(f"{word}: {_listed(over, amounts)}" for word, amounts in figures)
                return f"{forbidden}exceeded quota: {quota.name}, {said}"
        return None

    def _quotas(self, namespace: str) -> list[Quota]:
        return [each for each in self._state.snapshot().quotas.values() if each.namespace == namespace]

    def _recount(self, namespace: str) -> None:
        for quota in self._quotas(namespace):
            used = self._used(namespace, quota.hard)
            if used != quota.used:
                self._state.index.put_quota(replace(quota, used=used))
                if any(used[each] < quota.used.get(each, 0) for each in used):
                    self.on_less()

    def _used(self, namespace: str, hard: Mapping[str, int]) -> Mapping[str, int]:
        """Return what the pods of a namespace hold; one that terminates holds its share until it is gone."""
        used: Counter[str] = Counter()
        for pod in self._state.snapshot().pods.values():
            if pod.ref.namespace == namespace and not pod.is_finished:
                used.update({each: _amount(pod, each) for each in hard})
        return {each: used[each] for each in hard}


def _amount(pod: Pod, name: str) -> int:
    """Return how much of what a quota names a pod takes."""
    if name in COUNTED_BY:
        return 1
    resource = name.removeprefix("requests.")
    return pod.requests.get(resource, 0) if resource != name or name in PLAIN else 0


def _listed(names: list[str], amounts: Mapping[str, int]) -> str:
    return ",".join(f"{each}={amounts.get(each, 0)}{'m' if each.endswith('cpu') else ''}" for each in sorted(names))

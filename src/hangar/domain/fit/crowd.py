"""Crowd: a cluster's pods, found by their labels, by whom they keep away, and by the volume claims they mount."""

from collections.abc import Iterable, Iterator

from hangar.domain.placing import ANY_LABEL, NO_DEMANDS, PodTerm, Requirement, SelectorOp, labels_to
from hangar.domain.snapshot import Pod


class Crowd:
    """Some pods of a cluster. What is asked for is found by one label first: thousands of pods share few namespaces."""

    def __init__(self, pods: Iterable[Pod] = ()) -> None:
        self._pods: list[Pod] = []
        self._labelled: dict[str, dict[str, list[Pod]]] = {}  # by key and value; a key's is made when it is asked for
        self._keeping: dict[tuple[str, str], list[tuple[Pod, PodTerm]]] = {}
        self._holding: dict[tuple[str, str], list[Pod]] = {}
        for pod in pods:
            self.add(pod)

    def add(self, pod: Pod) -> None:
        """Add a pod."""
        self._pods.append(pod)
        for key, by_value in self._labelled.items():
            if key in pod.labels:
                by_value.setdefault(pod.labels[key], []).append(pod)
        if pod.demands is NO_DEMANDS:
            return
        for name in pod.demands.claims:
            self._holding.setdefault((pod.ref.namespace, name), []).append(pod)
        for term in pod.demands.apart_from:
            for label in labels_to(term.selector):
                self._keeping.setdefault(label, []).append((pod, term))

    def matching(self, selector: tuple[Requirement, ...], namespaces: frozenset[str] | None) -> Iterator[Pod]:
        """Yield the pods that a selector selects in some namespaces (None: in all)."""
        for pod in self._candidates(selector):
            if (namespaces is None or pod.ref.namespace in namespaces) and _selects(selector, pod):
                yield pod

    def keeping_away(self, pod: Pod) -> Iterator[tuple[Pod, PodTerm]]:
        """Yield the other pods that will not share a domain with this one, each with the term that says so."""
        for label in (*pod.labels.items(), ANY_LABEL):
            for other, term in self._keeping.get(label, ()):
                if other.ref.uid != pod.ref.uid and applies(term, pod):
                    yield other, term

    def holding(self, namespace: str, claim: str) -> Iterable[Pod]:
        """Return the pods that mount a volume claim."""
        return self._holding.get((namespace, claim), ())

    def _candidates(self, selector: tuple[Requirement, ...]) -> Iterable[Pod]:
        way = next((each for each in selector if each.op is SelectorOp.IN), None)
        if way is None:
            return self._pods
        by_value = self._labelled.get(way.key)
        if by_value is None:
            by_value = self._labelled[way.key] = {}
            for pod in self._pods:
                if way.key in pod.labels:
                    by_value.setdefault(pod.labels[way.key], []).append(pod)
        return [pod for value in way.values for pod in by_value.get(value, ())]


def applies(term: PodTerm, pod: Pod) -> bool:
    """Tell whether a term is on such a pod."""
    return (term.namespaces is None or pod.ref.namespace in term.namespaces) and _selects(term.selector, pod)


def _selects(selector: tuple[Requirement, ...], pod: Pod) -> bool:
    for each in selector:  # noqa: SIM110  (asked for very many pods: half the time of `all`)
        if not each.matches(pod.labels):
            return False
    return True

"""Neighbours: the domains (nodes with one value of a label) that other pods close to a pod, or that it needs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hangar.domain.fit.crowd import Crowd, applies
from hangar.domain.fit.node_rules import Objection, passes_cordons, repelling_taint, suits
from hangar.domain.fit.scene import Scene
from hangar.domain.ids import NodeName
from hangar.domain.placing import PodTerm, Spread
from hangar.domain.snapshot import Node, Pod


@dataclass(frozen=True, slots=True)
class DomainRule:
    """The values of a node's label that keep a pod off: those `closed`, and where `only` is set all others than those.

    With `is_needed` a node without the label is in no domain, and takes no such pod.
    """

    objection: Objection
    key: str
    closed: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    is_needed: bool = False

    def bars(self, node: Node) -> bool:
        """Tell whether a node is out of the question."""
        value = node.labels.get(self.key)
        if value is None:
            return self.is_needed
        return value in self.closed or (self.only is not None and value not in self.only)


def certain_rules(pod: Pod, scene: Scene) -> tuple[DomainRule, ...]:
    """Return what bars a pod for certain, whatever moves or gives way: what it stands on is the pods that stay."""
    near = _near_for_certain(pod, scene)
    even = [
        DomainRule(Objection.SPREAD, each.topology_key, _uneven_for_certain(pod, each, scene), is_needed=True)
        for each in pod.demands.spread
    ]
    return (*_apart(_stayers_apart(pod, scene), scene), *near, *even)


def _stayers_apart(pod: Pod, scene: Scene) -> Iterator[tuple[Pod, PodTerm]]:
    return ((other, term) for other, term in _apart_from(pod, scene.crowd) if scene.stays(other))


def _apart_from(pod: Pod, crowd: Crowd) -> Iterator[tuple[Pod, PodTerm]]:
    """Yield the pods that a pod keeps away from, and those that keep it away."""
    for term in pod.demands.apart_from:
        for other in crowd.matching(term.selector, term.namespaces):
            yield other, term
    yield from crowd.keeping_away(pod)


def _apart(pairs: Iterable[tuple[Pod, PodTerm]], scene: Scene) -> list[DomainRule]:
    closed: dict[str, set[str]] = {}
    for other, term in pairs:
        value = scene.labels_around(other).get(term.topology_key)
        if value is not None:
            closed.setdefault(term.topology_key, set()).add(value)
    return [DomainRule(Objection.APART, key, frozenset(values)) for key, values in sorted(closed.items())]


def company_of(pod: Pod, crowd: Crowd) -> list[Pod]:
    """Return the other pods that a pod must be near to: they match all of its terms at once, as Kubernetes has it."""
    if not pod.demands.near:
        return []
    first, *others = pod.demands.near
    return [
        each
        for each in crowd.matching(first.selector, first.namespaces)
        if each.ref.uid != pod.ref.uid and all(applies(term, each) for term in others)
    ]


def is_its_own_company(pod: Pod) -> bool:
    """Tell whether a pod matches its own terms: then the first of its sort may go anywhere."""
    return all(applies(term, pod) for term in pod.demands.near)


def _near_for_certain(pod: Pod, scene: Scene) -> list[DomainRule]:
    company = company_of(pod, scene.crowd)
    is_settled = bool(company) and all(scene.stays(each) for each in company)
    rules = _near(pod, company if is_settled else None, scene)
    if is_its_own_company(pod) and not any(each.only for each in rules):
        return _near(pod, None, scene)  # its company is in no domain at all, so it may be the first
    return rules


def _near(pod: Pod, company: Iterable[Pod] | None, scene: Scene) -> list[DomainRule]:
    """Return that a pod must be in a domain of its company; where that is None, in any domain at all."""
    if company is None:
        return [DomainRule(Objection.NEAR, term.topology_key, is_needed=True) for term in pod.demands.near]
    around = [scene.labels_around(each) for each in company]
    return [
        DomainRule(
            Objection.NEAR,
            term.topology_key,
            only=frozenset(labels[term.topology_key] for labels in around if term.topology_key in labels),
            is_needed=True,
        )
        for term in pod.demands.near
    ]


def _domains(pod: Pod, spread: Spread, scene: Scene) -> dict[NodeName, str]:
    """Return the nodes whose pods a constraint counts, each with its domain.

    A cordoned node counts as well, unless taints are honoured: a cordon is one, and a drained node will have it.
    """
    keys = [each.topology_key for each in pod.demands.spread]
    passes = passes_cordons(pod)
    found = {}
    for node in scene.nodes:
        if any(key not in node.labels for key in keys) or (spread.honors_affinity and not suits(node, pod)):
            continue
        if spread.honors_taints and (
            (_is_shut(node, scene) and not passes) or (node.taints and repelling_taint(node, pod) is not None)
        ):
            continue
        found[node.name] = node.labels[spread.topology_key]
    return found


def _is_shut(node: Node, scene: Scene) -> bool:
    return node.unschedulable or node.name in scene.draining


def _uneven_for_certain(pod: Pod, spread: Spread, scene: Scene) -> frozenset[str]:
    """Return the domains in which a pod would be one too many, however the pods that do not stay end up.

    The emptiest domain may fill up with all of those, unless all of its nodes are shut. What moves off the drained
    node is taken as gone from there where it is all of a sort and one controller wants all of it back: the last of
    them to move finds it so.
    """
    domains = _domains(pod, spread, scene)
    company = [
        each
        for each in scene.crowd.matching(spread.selector, frozenset({pod.ref.namespace}))
        if each.ref.uid != pod.ref.uid
    ]
    own = pod.controller, shape_of(pod)
    are_alike = all((each.controller, shape_of(each)) == own for each in company if scene.is_moving(each))
    staying: Counter[str] = Counter()
    there: Counter[str] = Counter()
    loose: list[Pod] = []
    for each in company:
        value = domains.get(each.node) if each.node is not None else None
        if not (stays := scene.stays(each)):
            loose.append(each)
        if value is not None and not each.is_terminating and (stays or not (are_alike and scene.is_moving(each))):
            there[value] += 1
            staying[value] += stays
    may_land = _may_land(domains, loose, scene)
    most = {value: staying[value] + len(loose) if value in may_land else there[value] for value in domains.values()}
    least = _least(most, spread)
    return _too_many(pod, spread, staying, domains.values(), least)


def _may_land(domains: Mapping[NodeName, str], loose: Iterable[Pod], scene: Scene) -> frozenset[str]:
    """Return the domains that pods without a settled place may still come to."""
    if any(passes_cordons(each) for each in loose):
        return frozenset(domains.values())
    return frozenset(value for name, value in domains.items() if not _is_shut(scene.snapshot.nodes[name], scene))


def _least(counts: Mapping[str, int], spread: Spread) -> int:
    return min(counts.values(), default=0) if len(counts) >= spread.min_domains else 0


def _too_many(pod: Pod, spread: Spread, counts: Counter[str], domains: Iterable[str], least: int) -> frozenset[str]:
    more = int(applies(PodTerm(spread.topology_key, spread.selector, None), pod))
    return frozenset(value for value in domains if counts[value] + more - least > spread.max_skew)


Shape = tuple[object, ...]


def shape_of(pod: Pod) -> Shape:
    """Return all of a pod that decides where it may go: pods of one shape may go to the same nodes."""
    return (
        pod.ref.namespace,
        frozenset(pod.labels.items()),
        frozenset(pod.requests.items()),
        frozenset(pod.node_selector.items()),
        pod.tolerations,
        pod.demands,
        pod.node,
        pod.phase,
    )


class Surroundings:
    """What bars a pod in a cluster as it is, however the pods that do not stay end up: made once for each shape."""

    def __init__(self, pod: Pod, scene: Scene) -> None:
        self._pod = pod
        self._scene = scene
        self._apart = [pair for pair in _apart_from(pod, scene.crowd) if scene.is_there(pair[0])]
        company = [each for each in company_of(pod, scene.crowd) if scene.is_there(each)]
        self._company = [each for each in company if scene.stays(each)]
        self._may_be_first = is_its_own_company(pod) and not company
        self._counts = [(each, _domains(pod, each, scene)) for each in pod.demands.spread]
        self._present = [self._tally(each, domains) for each, domains in self._counts]

    def rules(self, placed: Crowd, promised: Crowd) -> tuple[DomainRule, ...]:
        """Return what bars the pod beside others that have been given a place.

        Of those the ones that a place is only promised to are in its way as well, but nothing is built on them.
        """
        pod, scene = self._pod, self._scene
        apart = _apart([*self._apart, *_apart_from(pod, placed), *_apart_from(pod, promised)], scene)
        company = [*self._company, *company_of(pod, placed)]
        is_first = self._may_be_first and not company and not company_of(pod, promised)
        return (*apart, *_near(pod, None if is_first else company, scene), *self._even(placed, promised))

    def _tally(self, spread: Spread, domains: Mapping[NodeName, str]) -> tuple[Counter[str], Counter[str]]:
        """Count the pods in each domain: those that are there, and of them those that certainly stay."""
        there: Counter[str] = Counter()
        staying: Counter[str] = Counter()
        for each in self._scene.crowd.matching(spread.selector, frozenset({self._pod.ref.namespace})):
            value = domains.get(each.node) if each.node is not None else None
            if value is not None and self._scene.is_there(each) and not each.is_terminating:
                there[value] += 1
                staying[value] += self._scene.stays(each)
        return there, staying

    def _even(self, placed: Crowd, promised: Crowd) -> Iterator[DomainRule]:
        for (spread, domains), (there, staying) in zip(self._counts, self._present, strict=True):
            more, perhaps = self._come(placed, spread, domains), self._come(promised, spread, domains)
            least = _least({value: staying[value] + more[value] for value in domains.values()}, spread)
            closed = _too_many(self._pod, spread, there + more + perhaps, domains.values(), least)
            yield DomainRule(Objection.SPREAD, spread.topology_key, closed, is_needed=True)

    def _come(self, pods: Crowd, spread: Spread, domains: Mapping[NodeName, str]) -> Counter[str]:
        company = pods.matching(spread.selector, frozenset({self._pod.ref.namespace}))
        return Counter(domains[each.node] for each in company if each.node is not None and each.node in domains)

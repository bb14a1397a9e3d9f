"""A scheduler by the letter of Kubernetes' filters, and a search through all that a drain could come to: slow, plain.

It shares no code with the product, so that the two can be held against each other.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hangar.domain.ids import NodeName
from hangar.domain.placing import NodeRequirement, PodTerm, Requirement, Spread, Volume, VolumeClaim
from hangar.domain.snapshot import Node, Pod, Toleration

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True)
class Place:
    """The world of one filter run: nodes, the pods bound to them, claims and volumes."""

    nodes: Mapping[NodeName, Node]
    pods: tuple[Pod, ...]
    claims: Mapping[tuple[str, str], VolumeClaim]
    volumes: Mapping[str, Volume]


def admits(place: Place, node: Node, pod: Pod) -> bool:
    """Tell whether every filter passes the node for a pod that is not bound."""
    here = [each for each in place.pods if each.node == node.name]
    return (
        node.ready
        and (not node.unschedulable or _tolerates(pod, UNSCHEDULABLE, "", "NoSchedule"))
        and all(
            taint.effect == "PreferNoSchedule" or _tolerates(pod, taint.key, taint.value, taint.effect)
            for taint in node.taints
        )
        and _node_affinity(node, pod)
        and _resources(node, here, pod)
        and _ports(here, pod)
        and _volumes(place, node, pod)
        and _anti_affinity(place, node, pod)
        and _affinity(place, node, pod)
        and all(_spread(place, node, pod, each) for each in pod.demands.spread)
    )


def _tolerates(pod: Pod, key: str, value: str, effect: str) -> bool:
    def one(each: Toleration) -> bool:
        if each.effect not in ("", effect):
            return False
        if each.operator == "Exists":
            return each.key in ("", key)
        return (each.key, each.value) == (key, value)

    return any(one(each) for each in pod.tolerations)


def _node_affinity(node: Node, pod: Pod) -> bool:
    selected = all(node.labels.get(key) == value for key, value in pod.node_selector.items())
    return selected and _node_terms(node, pod.demands.node_terms)


def _node_terms(node: Node, terms: Sequence[tuple[NodeRequirement, ...]]) -> bool:
    if not terms:
        return True
    labels = {**node.labels, "metadata.name": str(node.name)}
    return any(bool(term) and all(_requirement(labels, each) for each in term) for term in terms)


def _requirement(labels: Mapping[str, str], each: NodeRequirement) -> bool:
    if each.op == "Exists":
        return each.key in labels
    if each.op == "DoesNotExist":
        return each.key not in labels
    if each.op == "NotIn":
        return each.key not in labels or labels[each.key] not in each.values
    if each.key not in labels:
        return False
    if each.op == "In":
        return labels[each.key] in each.values
    try:
        has, bound = int(labels[each.key]), int(each.values[0])
    except ValueError:
        return False
    return has > bound if each.op == "Gt" else has < bound


def _resources(node: Node, here: Iterable[Pod], pod: Pod) -> bool:
    here = list(here)
    if len(here) + 1 > node.allocatable.get("pods", 0):
        return False
    return all(
        amount == 0 or amount + sum(each.requests.get(name, 0) for each in here) <= node.allocatable.get(name, 0)
        for name, amount in pod.requests.items()
    )


def _ports(here: Iterable[Pod], pod: Pod) -> bool:
    taken = [port for each in here for port in each.demands.host_ports]
    return not any(
        (one.port, one.protocol) == (two.port, two.protocol)
        and ({one.address, two.address} & {"", "0.0.0.0"} or one.address == two.address)
        for one in pod.demands.host_ports
        for two in taken
    )


def _volumes(place: Place, node: Node, pod: Pod) -> bool:
    for name in pod.demands.claims:
        claim = place.claims.get((pod.ref.namespace, name))
        if claim is None or claim.volume is None:
            continue
        volume = place.volumes.get(claim.volume)
        if volume is not None and not _node_terms(node, volume.node_terms):
            return False
    return True


def _matches(pod: Pod, selector: Iterable[Requirement]) -> bool:
    def one(each: Requirement) -> bool:
        has = each.key in pod.labels
        if each.op == "Exists":
            return has
        if each.op == "DoesNotExist":
            return not has
        return (has and pod.labels[each.key] in each.values) == (each.op == "In")

    return all(one(each) for each in selector)


def _in_term(term: PodTerm, pod: Pod) -> bool:
    return (term.namespaces is None or pod.ref.namespace in term.namespaces) and _matches(pod, term.selector)


def _value(place: Place, pod: Pod, key: str) -> str | None:
    node = place.nodes.get(pod.node) if pod.node is not None else None
    return node.labels.get(key) if node is not None else None


def _anti_affinity(place: Place, node: Node, pod: Pod) -> bool:
    for other in place.pods:
        pairs = [(term, other) for term in pod.demands.apart_from] + [(term, pod) for term in other.demands.apart_from]
        for term, whom in pairs:
            value = _value(place, other, term.topology_key)
            if _in_term(term, whom) and value is not None and node.labels.get(term.topology_key) == value:
                return False
    return True


def _affinity(place: Place, node: Node, pod: Pod) -> bool:
    terms = pod.demands.near
    company = [each for each in place.pods if all(_in_term(term, each) for term in terms)]
    counts = {(term.topology_key, _value(place, each, term.topology_key)) for term in terms for each in company}
    counts = {each for each in counts if each[1] is not None}
    if any(term.topology_key not in node.labels for term in terms):
        return False
    if all((term.topology_key, node.labels[term.topology_key]) in counts for term in terms):
        return True
    return not counts and all(_in_term(term, pod) for term in terms)


def _spread(place: Place, node: Node, pod: Pod, constraint: Spread) -> bool:
    keys = [each.topology_key for each in pod.demands.spread]
    if any(key not in node.labels for key in keys):
        return False
    counted = [
        each
        for each in place.nodes.values()
        if all(key in each.labels for key in keys)
        and (not constraint.honors_affinity or _node_affinity(each, pod))
        and (not constraint.honors_taints or _untainted(each, pod))
    ]
    counts = {each.labels[constraint.topology_key]: 0 for each in counted}
    names = {each.name for each in counted}
    for each in place.pods:
        is_alike = each.ref.namespace == pod.ref.namespace and _matches(each, constraint.selector)
        value = _value(place, each, constraint.topology_key)
        if value is not None and each.node in names and is_alike and each.deletion_at is None:
            counts[value] += 1
    least = min(counts.values()) if len(counts) >= constraint.min_domains and counts else 0
    here = counts.get(node.labels[constraint.topology_key], 0)
    return here + _matches(pod, constraint.selector) - least <= constraint.max_skew


def _untainted(node: Node, pod: Pod) -> bool:
    taints = [(each.key, each.value, each.effect) for each in node.taints if each.effect != "PreferNoSchedule"]
    taints += [(UNSCHEDULABLE, "", "NoSchedule")] if node.unschedulable else []
    return all(_tolerates(pod, *each) for each in taints)


State = tuple[tuple[NodeName | None, bool], ...]
"""For each pod that may change its place: where it is, and whether it is terminating there."""


def can_all_move(place: Place, moving: Sequence[Pod], loose: Sequence[Pod], draining: frozenset[NodeName]) -> bool:
    """Tell whether the moving pods can all get a place off the draining nodes, in any order, whatever the loose do.

    A loose pod may leave its place at any time, and come to any place that takes it, or not. A draining node must be
    unschedulable already.
    """
    free = (*moving, *loose)
    uids = {each.ref.uid for each in free}
    still = tuple(each for each in place.pods if each.ref.uid not in uids)
    start: State = tuple((each.node, each.deletion_at is not None) for each in free)
    seen, open_ = {start}, deque([start])
    while open_:
        state = open_.popleft()
        if all(_is_settled(where, draining) for where, _ in state[: len(moving)]):
            return True
        for following in _next(state, free, len(moving), replace(place, pods=still), draining):
            if following not in seen:
                seen.add(following)
                open_.append(following)
    return False


def _is_settled(node: NodeName | None, draining: frozenset[NodeName]) -> bool:
    return node is not None and node not in draining


def _next(
    state: State, free: tuple[Pod, ...], moving: int, still: Place, draining: frozenset[NodeName]
) -> Iterator[State]:
    for index, (where, _) in enumerate(state):
        if where is not None:
            if index >= moving or not _is_settled(where, draining):
                yield _with(state, index, None)
            continue
        others = tuple(
            replace(pod, node=node, deletion_at=pod.deletion_at if is_terminating else None)
            for pod, (node, is_terminating) in zip(free, state, strict=True)
            if node is not None
        )
        now = replace(still, pods=still.pods + others)
        for node in now.nodes.values():
            if node.name not in draining and admits(now, node, free[index]):
                yield _with(state, index, node.name)


def _with(state: State, index: int, node: NodeName | None) -> State:
    return (*state[:index], (node, False), *state[index + 1 :])

"""Why a node is not one for a pod: the scheduler's filters, each in the scheduler's words.

They are written anew, beside what the domain says of the fit, so that one mistake cannot hide the other.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from hangar.domain.ids import NodeName
from hangar.domain.placing import NAME_FIELD, HostPort, NodeOp, NodeRequirement, NodeTerm, PodTerm, Spread
from hangar.domain.snapshot import UNSCHEDULABLE_TAINT, Node, Pod, Snapshot, Taint

_CORDON = Taint(UNSCHEDULABLE_TAINT, "", "NoSchedule")
_EVERYWHERE = ("", "0.0.0.0")  # noqa: S104  (addresses of made-up ports)


@dataclass(frozen=True, slots=True)
class Company:
    """The pods that are placed, those of them that keep others away, and the cluster they are in."""

    placed: tuple[Pod, ...]
    aloof: tuple[Pod, ...]
    snapshot: Snapshot

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """Return the company that a pod would come into."""
        placed = tuple(each for each in snapshot.pods.values() if each.node is not None and not each.is_finished)
        return cls(placed, tuple(each for each in placed if each.demands.apart_from), snapshot)


def why_not(pod: Pod, node: Node, company: Company) -> str | None:
    """Return why a pod cannot go to a node as the cluster is, or None."""
    snapshot = company.snapshot
    if not node.ready:
        return "node(s) were not ready"
    if node.unschedulable and not any(each.tolerates(_CORDON) for each in pod.tolerations):
        return "node(s) were unschedulable"
    if is_repelled(pod, node):
        return "node(s) had untolerated taint(s)"
    if not is_chosen(pod, node):
        return "node(s) didn't match Pod's node affinity/selector"
    return _why_full(pod, node, snapshot) or _why_apart(pod, node, company) or _why_not_reached(pod, node, snapshot)


def is_repelled(pod: Pod, node: Node) -> bool:
    """Tell whether a node's taints keep a pod away."""
    return any(
        taint.effect != "PreferNoSchedule" and not any(each.tolerates(taint) for each in pod.tolerations)
        for taint in node.taints
    )


def is_chosen(pod: Pod, node: Node) -> bool:
    """Tell whether a pod's node selector and node affinity choose a node."""
    selected = all(node.labels.get(key) == value for key, value in pod.node_selector.items())
    return selected and reaches(pod.demands.node_terms, node)


def reaches(terms: Iterable[NodeTerm], node: Node) -> bool:
    """Tell whether one of the terms holds for a node; no terms at all hold for every node."""
    terms = tuple(terms)
    return not terms or any(term and all(_holds(each, node) for each in term) for term in terms)


def _holds(requirement: NodeRequirement, node: Node) -> bool:
    value = node.name if requirement.key == NAME_FIELD else node.labels.get(requirement.key)
    match requirement.op:
        case NodeOp.IN:
            return value in requirement.values
        case NodeOp.NOT_IN:
            return value not in requirement.values
        case NodeOp.EXISTS:
            return value is not None
        case NodeOp.DOES_NOT_EXIST:
            return value is None
        case NodeOp.GREATER:
            return value is not None and value.isdecimal() and int(value) > int(requirement.values[0])
        case NodeOp.LESS:
            return value is not None and value.isdecimal() and int(value) < int(requirement.values[0])


# --- room -------------------------------------------------------------------------------------------------------------


def _why_full(pod: Pod, node: Node, snapshot: Snapshot) -> str | None:
    here = [each for each in snapshot.pods_on(node.name) if not each.is_finished]
    used: Counter[str] = Counter()
    for each in here:
        used.update(_asked(each))
    short = sorted(name for name, amount in _asked(pod).items() if node.allocatable.get(name, 0) - used[name] < amount)
    if short:
        return f"Insufficient {short[0]}"
    taken = [port for each in here for port in each.demands.host_ports]
    if any(_clash(wanted, port) for wanted in pod.demands.host_ports for port in taken):
        return "node(s) didn't have free ports for the requested pod ports"
    return None


def _asked(pod: Pod) -> Mapping[str, int]:
    return {**pod.requests, "pods": 1}


def _clash(first: HostPort, second: HostPort) -> bool:
    if (first.port, first.protocol) != (second.port, second.protocol):
        return False
    return first.address == second.address or first.address in _EVERYWHERE or second.address in _EVERYWHERE


# --- company ----------------------------------------------------------------------------------------------------------


def _why_apart(pod: Pod, node: Node, company: Company) -> str | None:
    snapshot, placed = company.snapshot, company.placed
    if any(_is_in_domain(term, each, node, snapshot) for term in pod.demands.apart_from for each in placed):
        return "node(s) didn't match pod anti-affinity rules"
    if any(
        _counts(term, pod) and _shares(term.topology_key, each, node, snapshot)
        for each in company.aloof
        for term in each.demands.apart_from
    ):
        return "node(s) didn't satisfy existing pods anti-affinity rules"
    for term in pod.demands.near:
        is_first = _counts(term, pod) and not any(_counts(term, each) for each in placed)
        if not (is_first or any(_is_in_domain(term, each, node, snapshot) for each in placed)):
            return "node(s) didn't match pod affinity rules"
    if any(_is_too_many(spread, pod, node, company) for spread in pod.demands.spread):
        return "node(s) didn't match pod topology spread constraints"
    return None


def _is_in_domain(term: PodTerm, other: Pod, node: Node, snapshot: Snapshot) -> bool:
    return _counts(term, other) and _shares(term.topology_key, other, node, snapshot)


def _counts(term: PodTerm, other: Pod) -> bool:
    """Tell whether a term is about a pod."""
    if term.namespaces is not None and other.ref.namespace not in term.namespaces:
        return False
    return all(each.matches(other.labels) for each in term.selector)


def _shares(key: str, other: Pod, node: Node, snapshot: Snapshot) -> bool:
    """Tell whether a pod is in a node's domain."""
    its = snapshot.nodes.get(other.node) if other.node is not None else None
    return its is not None and key in its.labels and its.labels[key] == node.labels.get(key)


def _is_too_many(spread: Spread, pod: Pod, node: Node, company: Company) -> bool:
    snapshot = company.snapshot
    mine = node.labels.get(spread.topology_key)
    if mine is None:
        return True
    counts = {
        domain: 0
        for each in snapshot.nodes.values()
        if (domain := each.labels.get(spread.topology_key)) is not None and _is_counted(spread, pod, each)
    }
    for other in company.placed:
        place = snapshot.nodes.get(other.node or NodeName(""))
        if place is None or other.ref.namespace != pod.ref.namespace or other.is_terminating:
            continue
        domain = place.labels.get(spread.topology_key)
        if domain in counts and _is_counted(spread, pod, place) and _is_selected(spread, other):
            counts[domain] += 1
    least = min(counts.values(), default=0) if len(counts) >= spread.min_domains else 0
    return counts.get(mine, 0) + _is_selected(spread, pod) - least > spread.max_skew


def _is_counted(spread: Spread, pod: Pod, node: Node) -> bool:
    if spread.honors_affinity and not is_chosen(pod, node):
        return False
    return not (spread.honors_taints and is_repelled(pod, node))


def _is_selected(spread: Spread, pod: Pod) -> bool:
    return all(each.matches(pod.labels) for each in spread.selector)


# --- volumes ----------------------------------------------------------------------------------------------------------


def _why_not_reached(pod: Pod, node: Node, snapshot: Snapshot) -> str | None:
    for name in sorted(pod.demands.claims):
        claim = snapshot.claims.get((pod.ref.namespace, name))
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        volume = snapshot.volumes.get(claim.volume) if claim.volume is not None else None
        if volume is not None and not reaches(volume.node_terms, node):
            return "node(s) didn't match PersistentVolume's node affinity"
    return None

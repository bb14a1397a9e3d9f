"""What a node by itself says to a new pod: whether it is open, and whether its taints, labels and volumes let it in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from hangar.domain.ids import NodeName
from hangar.domain.placing import NAME_FIELD, NodeOp, NodeRequirement, NodeTerm
from hangar.domain.snapshot import UNSCHEDULABLE_TAINT, Node, Pod, Snapshot, Taint
from hangar.domain.view import View

CORDON_TAINT = Taint(UNSCHEDULABLE_TAINT, "", "NoSchedule")
"""What a cordon amounts to for the scheduler, whether the taint is on the node already or not yet."""

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


class Objection(StrEnum):
    """Why a node does not take a pod, in the order in which it is looked for."""

    LABELS = "labels"
    VOLUME = "volume"
    DRAINED = "drained"
    CORDONED = "cordoned"
    NOT_READY = "not_ready"
    TAINT = "taint"
    HELD = "held"  # a volume of it is in use on another node
    PORT = "port"
    APART = "apart"
    NEAR = "near"
    SPREAD = "spread"
    ROOM = "room"


def open_nodes(view: View) -> list[Node]:
    """Return the nodes that ordinary new pods may go to: ready, not cordoned, and not about to be emptied."""
    draining = view.draining_nodes()
    nodes = view.snapshot.nodes.values()
    return [node for node in nodes if node.ready and not node.unschedulable and node.name not in draining]


def takes(node: Node, pod: Pod) -> bool:
    """Tell whether a node's taints and labels let a pod in."""
    return repelling_taint(node, pod) is None and suits(node, pod)


def repelling_taint(node: Node, pod: Pod) -> Taint | None:
    """Return a taint of the node that the pod does not tolerate, or None."""
    for taint in node.taints:
        if taint.effect != "PreferNoSchedule" and not any(each.tolerates(taint) for each in pod.tolerations):
            return taint
    return None


def passes_cordons(pod: Pod) -> bool:
    """Tell whether the scheduler would place a pod on a cordoned node."""
    return any(each.tolerates(CORDON_TAINT) for each in pod.tolerations)


def suits(node: Node, pod: Pod) -> bool:
    """Tell whether a node's labels and name are what the pod's node selector and required node affinity ask for."""
    for key, value in pod.node_selector.items():
        if node.labels.get(key) != value:
            return False
    return meets_one(node, pod.demands.node_terms)


def meets_one(node: Node, terms: Iterable[NodeTerm]) -> bool:
    """Tell whether a node meets one of the terms; where there are none, any node does."""
    terms = tuple(terms)
    return not terms or any(term and all(_meets(node, each) for each in term) for term in terms)


def _meets(node: Node, wanted: NodeRequirement) -> bool:
    has = node.name if wanted.key == NAME_FIELD else node.labels.get(wanted.key)
    match wanted.op:
        case NodeOp.IN:
            return has in wanted.values
        case NodeOp.NOT_IN:
            return has not in wanted.values
        case NodeOp.EXISTS:
            return has is not None
        case NodeOp.DOES_NOT_EXIST:
            return has is None
        case NodeOp.GREATER:
            return _is_less(wanted.values[0], has) if wanted.values else False
        case NodeOp.LESS:
            return _is_less(has, wanted.values[0]) if wanted.values else False


def _is_less(one: str | None, other: str | None) -> bool:
    """Compare two whole numbers; what is none compares with nothing."""
    if one is None or other is None or not _WHOLE_NUMBER.fullmatch(one) or not _WHOLE_NUMBER.fullmatch(other):
        return False
    return int(one) < int(other)


@dataclass(frozen=True, slots=True)
class Reach:
    """Which nodes can mount all of a pod's volumes that are known; `unknown` are claims that nothing is known of."""

    terms: tuple[tuple[NodeTerm, ...], ...] = ()
    claims: tuple[str, ...] = ()  # those that bind the pod to some nodes
    unknown: tuple[str, ...] = ()

    def includes(self, node: Node) -> bool:
        """Tell whether a node can mount all of them."""
        return all(meets_one(node, each) for each in self.terms)


def is_made_anew(pod: Pod, claim: str) -> bool:
    """Tell whether a claim may be one that goes with its pod (an ephemeral volume's): the next pod has another one."""
    return claim.startswith(f"{pod.ref.name}-")


def reach_of(pod: Pod, snapshot: Snapshot) -> Reach:
    """Return where a pod's volumes can be mounted, by the affinity of each."""
    terms: list[tuple[NodeTerm, ...]] = []
    claims: list[str] = []
    unknown: list[str] = []
    for name in sorted(pod.demands.claims):
        claim = snapshot.claims.get((pod.ref.namespace, name))
        volume = snapshot.volumes.get(claim.volume) if claim is not None and claim.volume is not None else None
        if volume is None or is_made_anew(pod, name):
            unknown.append(name)
        elif volume.node_terms:
            terms.append(volume.node_terms)
            claims.append(name)
    return Reach(tuple(terms), tuple(claims), tuple(unknown))


def objection_of(node: Node, pod: Pod, reach: Reach, draining: frozenset[NodeName]) -> Objection | None:
    """Return why a node by itself does not take a pod, or None: other pods may still be in the way."""
    if not suits(node, pod):
        return Objection.LABELS
    if not reach.includes(node):
        return Objection.VOLUME
    if node.name in draining:
        return Objection.DRAINED
    if node.unschedulable and not passes_cordons(pod):
        return Objection.CORDONED
    if not node.ready:
        return Objection.NOT_READY
    return Objection.TAINT if node.taints and repelling_taint(node, pod) is not None else None

"""Where a pod goes: a node that takes it and has the room, the emptiest first."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from hangar.domain.ids import NodeName
from hangar.domain.node_rules import takes
from hangar.domain.snapshot import UNSCHEDULABLE_TAINT, Node, Pod, Snapshot, Taint

_CORDON = Taint(UNSCHEDULABLE_TAINT, "", "NoSchedule")


@dataclass(frozen=True, slots=True)
class NoRoom:
    """Why no node takes a pod, in the words a scheduler would use."""

    message: str


def place(pod: Pod, snapshot: Snapshot) -> NodeName | NoRoom:
    """Return the node a pod is bound to: of those with room, fewest siblings first, then pods, then name."""
    reasons: Counter[str] = Counter()
    fitting: list[tuple[int, int, NodeName]] = []
    for node in snapshot.nodes.values():
        reason = _why_not(pod, node, snapshot)
        if reason is not None:
            reasons[reason] += 1
            continue
        here = list(snapshot.pods_on(node.name))
        siblings = sum(1 for each in here if each.controller == pod.controller)
        fitting.append((siblings, len(here), node.name))
    if fitting:
        return min(fitting)[2]
    why = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    return NoRoom(f"0/{len(snapshot.nodes)} nodes are available: {why}")


def _why_not(pod: Pod, node: Node, snapshot: Snapshot) -> str | None:
    if not node.ready:
        return "node(s) were not ready"
    if node.unschedulable and not any(each.tolerates(_CORDON) for each in pod.tolerations):
        return "node(s) were unschedulable"
    if not takes(node, pod):
        return "node(s) did not match the pod's node selector or tolerations"
    free = _free(node, snapshot)
    short = sorted(name for name, amount in {**pod.requests, "pods": 1}.items() if free.get(name, 0) < amount)
    return f"Insufficient {short[0]}" if short else None


def _free(node: Node, snapshot: Snapshot) -> Mapping[str, int]:
    used: Counter[str] = Counter()
    for pod in snapshot.pods_on(node.name):
        if not pod.is_finished:
            used.update({**pod.requests, "pods": 1})
    return {name: amount - used[name] for name, amount in node.allocatable.items()}

"""What the hub is told of the nodes: whole documents of those that changed, cordon and ready flips at once."""

from collections.abc import Mapping
from dataclasses import dataclass

from hangar.domain.drain.selection import Skip, select
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Node, Snapshot
from hangar.wire.operator import CordonDoc, NodeDoc


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from what was told last."""

    nodes: list[NodeDoc]
    gone: list[str]


def documents(snapshot: Snapshot) -> dict[NodeName, NodeDoc]:
    """Return a document of every node, by its name."""
    return {name: _document(node, snapshot) for name, node in snapshot.nodes.items()}


def changes(before: dict[NodeName, NodeDoc], after: dict[NodeName, NodeDoc]) -> Changes:
    """Return what to tell of the way from one set of documents to another."""
    changed = [doc for name, doc in after.items() if before.get(name) != doc]
    return Changes(changed, sorted(before.keys() - after.keys()))


def flipped(before: Mapping[NodeName, Node], after: Mapping[NodeName, Node]) -> bool:
    """Tell whether a node came or went, became ready or not, or its cordon changed: what people wait to see."""
    if before.keys() != after.keys():
        return True
    return any(before[name] is not node and _facts(before[name]) != _facts(node) for name, node in after.items())


def _facts(node: Node) -> tuple[object, ...]:
    return (node.uid, node.ready, node.unschedulable, node.mark, node.cordon_manager)


def _document(node: Node, snapshot: Snapshot) -> NodeDoc:
    allocated: dict[str, int] = {}
    replicas = 0
    for pod in snapshot.pods_on(node.name):
        if pod.is_finished:
            continue
        allocated["pods"] = allocated.get("pods", 0) + 1
        for resource, amount in pod.requests.items():  # of every pod, every second: no Counter
            allocated[resource] = allocated.get(resource, 0) + amount
        replicas += not isinstance(select(pod, snapshot), Skip)
    return NodeDoc(
        name=node.name,
        uid=node.uid,
        ready=node.ready,
        cordoned=node.unschedulable,
        cordon=_cordon(node),
        labels=dict(node.labels),
        capacity=dict(node.capacity),
        allocatable=dict(node.allocatable),
        allocated=allocated,
        replicas=replicas,
    )


def _cordon(node: Node) -> CordonDoc | None:
    """Return whose cordon a node carries: our mark where the field is ours, else the field manager alone."""
    if not node.unschedulable:
        return None
    mark = node.mark if node.mark is not None and (node.cordon_is_ours or node.mark.prior_unschedulable) else None
    return CordonDoc(
        operation=mark.operation if mark else None,
        actor=mark.actor if mark else None,
        reason=mark.reason if mark else None,
        manager=node.cordon_manager,
    )

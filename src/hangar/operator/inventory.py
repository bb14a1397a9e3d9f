"""What the hub is told of the nodes: whole documents of those that changed, cordon and ready flips at once."""

from collections import Counter
from dataclasses import dataclass

from hangar.domain.ids import NodeName
from hangar.domain.selection import Skip, select
from hangar.domain.snapshot import Node, Snapshot
from hangar.wire.operator import CordonDoc, NodeDoc


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from what was told last."""

    nodes: list[NodeDoc]
    gone: list[str]
    is_urgent: bool  # a node's cordon or readiness flipped, or a node came or went


def documents(snapshot: Snapshot) -> dict[NodeName, NodeDoc]:
    """Return a document of every node, by its name."""
    return {name: _document(node, snapshot) for name, node in snapshot.nodes.items()}


def changes(before: dict[NodeName, NodeDoc], after: dict[NodeName, NodeDoc]) -> Changes:
    """Return what to tell of the way from one set of documents to another."""
    changed = [doc for name, doc in after.items() if before.get(name) != doc]
    gone = sorted(before.keys() - after.keys())
    is_urgent = bool(gone) or any(_flipped(before.get(NodeName(doc.name)), doc) for doc in changed)
    return Changes(changed, list(gone), is_urgent)


def _flipped(before: NodeDoc | None, after: NodeDoc) -> bool:
    if before is None:
        return True
    return (before.uid, before.ready, before.cordoned, before.cordon) != (
        after.uid,
        after.ready,
        after.cordoned,
        after.cordon,
    )


def _document(node: Node, snapshot: Snapshot) -> NodeDoc:
    allocated: Counter[str] = Counter()
    replicas = 0
    for pod in snapshot.pods_on(node.name):
        if pod.is_finished:
            continue
        allocated.update({**pod.requests, "pods": 1})
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
        allocated=dict(allocated),
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

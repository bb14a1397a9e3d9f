"""What the hub is told of nodes and graphs: whole documents of those that changed, what people wait to see at once."""

from collections.abc import Mapping
from dataclasses import dataclass

from hangar.domain.devices import GPU_RESOURCES, DeviceCount, devices_by_node, speaks_for_gpus
from hangar.domain.drain.selection import Skip, select
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Node, Snapshot
from hangar.domain.workloads.graph import Component, Graph, GraphRef
from hangar.wire.operator import ComponentDoc, CordonDoc, DeviceDoc, GraphDoc, GraphKey, NodeDoc


@dataclass(frozen=True, slots=True)
class Documents:
    """A document of every node and of every graph; `graphs` None: the cluster cannot tell of them."""

    nodes: Mapping[NodeName, NodeDoc]
    graphs: Mapping[GraphRef, GraphDoc] | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from what was told last; `is_complete`: it is all there is. `graphs` None says nothing of graphs."""

    is_complete: bool
    nodes: list[NodeDoc]
    gone: list[str]
    graphs: list[GraphDoc] | None
    gone_graphs: list[GraphKey]

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to tell."""
        return not (self.is_complete or self.nodes or self.gone or self.graphs or self.gone_graphs)


def documents(snapshot: Snapshot, nodes: Mapping[NodeName, NodeDoc] | None = None) -> Documents:
    """Return all that can be told of a cluster.

    `nodes` are the documents to keep of the nodes where only graphs are in a hurry: those of a thousand nodes take
    tens of milliseconds to make, and graphs that start may change many times a second.
    """
    if nodes is None:
        nodes = {name: _document(node, snapshot) for name, node in snapshot.nodes.items()}
    if snapshot.graphs_unreadable is not None:
        return Documents(nodes)
    return Documents(nodes, {ref: _graph(graph) for ref, graph in snapshot.graphs.items()})


def changes(before: Documents | None, after: Documents) -> Changes:
    """Return what to tell of the way from what was told (None: nothing yet) to what is to be.

    The first word on graphs is a complete inventory again: only such a one takes away what the hub knows of before.
    """
    if before is None or (before.graphs is None and after.graphs is not None):
        graphs = None if after.graphs is None else list(after.graphs.values())
        return Changes(True, list(after.nodes.values()), [], graphs, [])
    changed = [doc for name, doc in after.nodes.items() if before.nodes.get(name) != doc]
    gone: list[str] = sorted(before.nodes.keys() - after.nodes.keys())
    if before.graphs is None or after.graphs is None:
        return Changes(False, changed, gone, None, [])
    graphs = [graph for ref, graph in after.graphs.items() if before.graphs.get(ref) != graph]
    gone_graphs = [GraphKey(namespace=ref.namespace, name=ref.name) for ref in before.graphs if ref not in after.graphs]
    return Changes(False, changed, gone, graphs, gone_graphs)


def told(before: Documents | None, after: Documents) -> Documents:
    """Return what the hub knows once the changes are told: of graphs that cannot be told of now, what it knew."""
    if before is None or after.graphs is not None:
        return after
    return Documents(after.nodes, before.graphs)


def flipped(before: Mapping[NodeName, Node], after: Mapping[NodeName, Node]) -> bool:
    """Tell whether a node came or went, became ready or not, or its cordon changed: what people wait to see."""
    if before.keys() != after.keys():
        return True
    return any(before[name] is not node and _facts(before[name]) != _facts(node) for name, node in after.items())


def graphs_flipped(before: Mapping[GraphRef, Graph], snapshot: Snapshot) -> bool:
    """Tell whether a graph came or went, was asked for something else, or is further on: what people wait to see."""
    after = snapshot.graphs
    if snapshot.graphs_unreadable is not None:
        return False
    if before.keys() != after.keys():
        return True
    return any(before[ref] is not graph and _strides(before[ref]) != _strides(graph) for ref, graph in after.items())


def _strides(graph: Graph) -> tuple[object, ...]:
    """Return what people follow a graph by: of its pods only whether any are left, which is what ends a drain."""
    components = tuple((each.name, each.replicas, each.counts, each.pods > 0) for each in graph.components)
    return (graph.uid, graph.applied_rev, graph.is_observed, graph.rollout, graph.is_paused, components)


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
        devices=_devices(node, snapshot),
    )


def _devices(node: Node, snapshot: Snapshot) -> list[DeviceDoc] | None:
    """Return what drivers publish on a node; of GPUs only where that is what they are to be read from."""
    counts = snapshot.once(_published).get(node.name, ())
    if not counts:
        return None
    is_theirs = speaks_for_gpus(counts, node.capacity)
    return [
        DeviceDoc(
            resource=each.resource,
            capacity=each.capacity,
            allocatable=each.allocatable,
            allocated=each.allocated,
            free=each.free,
        )
        for each in counts
        if is_theirs or each.resource not in GPU_RESOURCES
    ]


def _published(snapshot: Snapshot) -> Mapping[NodeName, tuple[DeviceCount, ...]]:
    claims = snapshot.device_claims
    return devices_by_node(snapshot.device_slices.values(), None if claims is None else claims.values())


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


def _graph(graph: Graph) -> GraphDoc:
    return GraphDoc(
        namespace=graph.ref.namespace,
        name=graph.ref.name,
        uid=graph.uid,
        api_version=graph.api_version,
        components=[_component(each) for each in graph.components],
        applied_rev=graph.applied_rev,
        is_observed=graph.is_observed,
        rollout=graph.rollout,
        unready=graph.unready,
        is_paused=graph.is_paused,
    )


def _component(component: Component) -> ComponentDoc:
    counted = component.counts
    return ComponentDoc(
        name=component.name,
        role=component.role.value,
        replicas=component.replicas,
        counted=counted.replicas if counted else None,
        updated=counted.updated if counted else None,
        ready=counted.ready if counted else None,
        pods=component.pods,
        node_count=component.node_count,
        gpus_per_pod=component.gpus_per_pod,
        has_adapter=component.has_adapter,
        written_by=component.written_by,
    )

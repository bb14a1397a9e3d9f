"""What the hub is told of nodes and graphs: whole documents of those that changed, what people wait to see at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hangar.domain.devices import GPU_RESOURCES, DeviceCount, devices_by_node, speaks_for_gpus
from hangar.domain.drain.selection import Skip, select
from hangar.domain.ids import NodeName, OperationId
from hangar.domain.snapshot import Node, Snapshot
from hangar.domain.view import Claims
from hangar.domain.workloads.graph import Component, Graph, GraphRef, Unwritten
from hangar.wire.operator import ComponentDoc, CordonDoc, DeviceDoc, GraphDoc, GraphKey, NodeDoc, RivalDoc, UnwrittenDoc


@dataclass(frozen=True, slots=True)
class News:
    """What the operator itself makes of graphs, as of its last turn.

    `drains`: the open node drains that touch a graph. `unwritten`: why what is desired is not on it yet; None until the
    hub has said in this session what is desired.
    """

    drains: Mapping[GraphRef, tuple[OperationId, ...]] = field(default_factory=dict)
    unwritten: Mapping[GraphRef, Unwritten] | None = None


NO_NEWS = News()


@dataclass(frozen=True, slots=True)
class Documents:
    """A document of every node and of every graph; `graphs` None: the cluster cannot tell of them.

    `unwritten` None: it is not known what is desired.
    """

    nodes: Mapping[NodeName, NodeDoc]
    graphs: Mapping[GraphRef, GraphDoc] | None = None
    unwritten: list[UnwrittenDoc] | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from what was told last; `is_complete`: it is all there is.

    `graphs` None says nothing of graphs, `unwritten` None that it is as it was.
    """

    is_complete: bool
    nodes: list[NodeDoc]
    gone: list[str]
    graphs: list[GraphDoc] | None
    gone_graphs: list[GraphKey]
    unwritten: list[UnwrittenDoc] | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to tell."""
        changed = self.is_complete or self.nodes or self.gone or self.graphs or self.gone_graphs
        return not changed and self.unwritten is None


def documents(snapshot: Snapshot, nodes: Mapping[NodeName, NodeDoc] | None = None, news: News = NO_NEWS) -> Documents:
    """Return all that can be told of a cluster.

    `nodes` are the documents to keep of the nodes where only graphs are in a hurry: those of a thousand nodes take
    tens of milliseconds to make, and graphs that start may change many times a second.
    """
    if nodes is None:
        nodes = {name: _document(node, snapshot) for name, node in snapshot.nodes.items()}
    unwritten = unwritten_docs(news)
    if snapshot.graphs_unreadable is not None:
        return Documents(nodes, None, unwritten)
    graphs = {ref: _graph(graph, news.drains.get(ref, ())) for ref, graph in snapshot.graphs.items()}
    return Documents(nodes, graphs, unwritten)


def unwritten_docs(news: News) -> list[UnwrittenDoc] | None:
    """Return all that is desired and not written, None while it is not known what is desired."""
    if news.unwritten is None:
        return None
    return [
        UnwrittenDoc(namespace=ref.namespace, graph=ref.name, rev=each.rev, code=each.code, why=each.why)
        for ref, each in sorted(news.unwritten.items())
    ]


def drains_of(claims: Mapping[OperationId, Claims], snapshot: Snapshot) -> Mapping[GraphRef, tuple[OperationId, ...]]:
    """Return the open node drains that touch each graph: that have moved pods of it, or whose node holds some."""
    touched: dict[GraphRef, tuple[OperationId, ...]] = {}
    for operation, claim in sorted(claims.items()):
        if claim.draining is None:
            continue
        name, uid = claim.draining
        node = snapshot.nodes.get(name)
        there = snapshot.pods_on(name) if node is not None and node.uid == uid else ()
        parts = [*claim.parts.values(), *(pod.part for pod in there if not pod.is_finished)]
        for ref in {part.graph for part in parts if part is not None}:
            touched[ref] = (*touched.get(ref, ()), operation)
    return touched


def changes(before: Documents | None, after: Documents) -> Changes:
    """Return what to tell of the way from what was told (None: nothing yet) to what is to be.

    The first word on graphs is a complete inventory again: only such a one takes away what the hub knows of before.
    """
    if before is None or (before.graphs is None and after.graphs is not None):
        graphs = None if after.graphs is None else list(after.graphs.values())
        return Changes(True, list(after.nodes.values()), [], graphs, [], after.unwritten)
    changed = [doc for name, doc in after.nodes.items() if before.nodes.get(name) != doc]
    gone: list[str] = sorted(before.nodes.keys() - after.nodes.keys())
    unwritten = after.unwritten if after.unwritten != before.unwritten else None
    if before.graphs is None or after.graphs is None:
        return Changes(False, changed, gone, None, [], unwritten)
    graphs = [graph for ref, graph in after.graphs.items() if before.graphs.get(ref) != graph]
    gone_graphs = [GraphKey(namespace=ref.namespace, name=ref.name) for ref in before.graphs if ref not in after.graphs]
    return Changes(False, changed, gone, graphs, gone_graphs, unwritten)


def told(before: Documents | None, after: Documents) -> Documents:
    """Return what the hub knows once the changes are told: of graphs that cannot be told of now, what it knew."""
    if before is None or after.graphs is not None:
        return after
    return Documents(after.nodes, before.graphs, after.unwritten)


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
    components = tuple(
        (each.name, each.replicas, each.counts, each.pods > 0, each.has_adapter, each.adapter is None)
        for each in graph.components
    )
    seen = (graph.uid, graph.applied_rev, graph.is_observed, graph.rollout, graph.is_paused, graph.is_ours)
    return (*seen, graph.rivals, components)


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


def _graph(graph: Graph, drains: tuple[OperationId, ...]) -> GraphDoc:
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
        is_ours=graph.is_ours,
        rivals=[RivalDoc(kind=each.kind.value, name=each.name, component=each.component) for each in graph.rivals],
        drains=list(drains),
    )


def _component(component: Component) -> ComponentDoc:
    """Return a component as it is told; who wrote its number is who wrote its adapter, which hands it on."""
    counted, adapter = component.counts, component.adapter
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
        adapter=adapter.name if adapter is not None else None,
        written_by=adapter.written_by if adapter is not None else component.written_by,
    )

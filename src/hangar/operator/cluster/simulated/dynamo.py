"""The Dynamo operator of a simulated cluster: it sees what graphs ask for, has pods made of it, and counts them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from hangar.domain.ids import OwnerUid
from hangar.domain.snapshot import Pod
from hangar.domain.workloads.graph import Component, Counts, Graph, GraphRef
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL, Part, part_of
from hangar.operator.cluster.simulated.controllers import Controllers
from hangar.operator.cluster.simulated.groups import GROUP_LABEL
from hangar.operator.cluster.simulated.spec import GPU, GROUPED, ComponentSpec, GraphSpec, WorkloadSpec
from hangar.operator.cluster.simulated.state import State

API_VERSION = "nvidia.com/v1beta1"
TYPE_LABEL = "nvidia.com/dynamo-component-type"

OBSERVED_AFTER_S = 0.2
"""From a change of a graph to its operator's having seen it, and told the controllers of its components."""

COUNTED_AFTER_S = 0.1
"""From a change of a graph's pods to its status that counts them."""


class Dynamo:
    """The graphs of a cluster, each component kept as a workload named GRAPH-COMPONENT, in lower case.

    A component whose replicas are several pods each is kept as a LeaderWorkerSet, any other as a Deployment.
    """

    def __init__(self, state: State, controllers: Controllers) -> None:
        self._state = state
        self._controllers = controllers
        self._owners: dict[GraphRef, dict[str, OwnerUid]] = {}  # of each component by its name
        self._stale: set[GraphRef] = set()
        self._versions = 0
        state.on_pod.append(self._follow)

    # --- what people do -----------------------------------------------------------------------------------------------

    def add(self, spec: GraphSpec) -> GraphRef:
        """Add a graph whose pods are placed and ready at once."""
        ref = GraphRef(spec.namespace, spec.name)
        components = tuple(_component(each) for each in spec.components)
        self._owners[ref] = {each.name: self._controllers.add(_workload(spec, each)).uid for each in spec.components}
        self._put(Graph(ref, self._state.new_uid("graph"), "", API_VERSION, components))
        self._count(ref)
        return ref

    def drop(self, ref: GraphRef) -> None:
        """Delete a graph; its pods follow."""
        for owner in self._owners.pop(ref).values():
            if owner in self._controllers.workloads:
                self._controllers.remove(owner)
        self._state.index.drop_graph(ref)
        self._state.on_change()

    def drop_all(self, namespace: str) -> None:
        """Delete the graphs of a namespace."""
        for ref in [ref for ref in self._owners if ref.namespace == namespace]:
            self.drop(ref)

    def write(self, ref: GraphRef, counts: Mapping[str, int], manager: str, rev: int | None = None) -> None:
        """Ask for other counts of components; `rev` is our revision, which None leaves as it is."""
        graph = self._state.snapshot().graphs[ref]
        components = tuple(_asked(each, counts.get(each.name, each.replicas), manager) for each in graph.components)
        is_observed = graph.is_observed and components == graph.components
        applied_rev = graph.applied_rev if rev is None else rev
        self._put(replace(graph, components=components, applied_rev=applied_rev, is_observed=is_observed))
        self._state.at(OBSERVED_AFTER_S, lambda: self._observe(ref))

    def pause(self, ref: GraphRef, *, on: bool) -> None:
        """Mark a graph so that its operator leaves it alone, or take the mark off."""
        self._put(replace(self._state.snapshot().graphs[ref], is_paused=on))
        self._state.at(OBSERVED_AFTER_S, lambda: self._observe(ref))

    # --- what the operator does ---------------------------------------------------------------------------------------

    def _observe(self, ref: GraphRef) -> None:
        """See what is asked for by now, and hand it on."""
        graph = self._state.snapshot().graphs.get(ref)
        if graph is None or graph.is_paused or graph.is_observed:
            return
        for component in graph.components:
            workload = self._controllers.workloads[self._owners[ref][component.name]]
            if workload.replicas != component.replicas:
                self._controllers.scale(workload.top.uid, component.replicas)
        self._put(replace(graph, is_observed=True, unready=_unready(graph.components)))
        self._changed(ref)

    def _count(self, ref: GraphRef) -> None:
        """Tell in a graph's status how far its components are, where that has changed."""
        self._stale.discard(ref)
        graph = self._state.snapshot().graphs.get(ref)
        if graph is None:
            return
        components = tuple(replace(each, counts=self._counts(ref, each)) for each in graph.components)
        counted = replace(graph, components=components, unready=_unready(components))
        if counted != graph:
            self._put(counted)

    def _counts(self, ref: GraphRef, component: Component) -> Counts:
        """Count the replicas of a component as its controller does: what is on its way out does not count any more."""
        replicas: dict[str, list[Pod]] = defaultdict(list)
        for pod in self._state.snapshot().pods.values():
            if _part(pod) == Part(ref, component.name):
                replicas[pod.labels.get(GROUP_LABEL, pod.ref.uid)].append(pod)
        there = [pods for pods in replicas.values() if not any(pod.is_terminating or pod.is_finished for pod in pods)]
        ready = [pods for pods in there if len(pods) == component.node_count and all(pod.serves for pod in pods)]
        return Counts(len(there), len(there), len(ready))

    def _follow(self, pod: Pod) -> None:
        part = _part(pod)
        if part is not None and part.graph in self._owners:
            self._changed(part.graph)

    def _changed(self, ref: GraphRef) -> None:
        if ref not in self._stale:
            self._stale.add(ref)
            self._state.at(COUNTED_AFTER_S, lambda: self._count(ref))

    def _put(self, graph: Graph) -> None:
        """Store a graph at a new version, as every write of an object does, one of its status too."""
        self._versions += 1
        self._state.index.put_graph(replace(graph, version=str(self._versions)))
        self._state.on_change()


def _component(spec: ComponentSpec) -> Component:
    gpus = spec.template.requests.get(GPU, 0)
    return Component(spec.name, spec.role, spec.replicas, spec.node_count, gpus)


def _workload(graph: GraphSpec, spec: ComponentSpec) -> WorkloadSpec:
    labels = {GRAPH_LABEL: graph.name, COMPONENT_LABEL: spec.name, TYPE_LABEL: spec.role.value}
    return WorkloadSpec(
        GROUPED if spec.node_count > 1 else "Deployment",
        f"{graph.name}-{spec.name}".lower(),
        spec.replicas,
        replace(spec.template, labels={**spec.template.labels, **labels}),
        graph.namespace,
        group_size=spec.node_count,
    )


def _asked(component: Component, replicas: int, manager: str) -> Component:
    """Return a component that is asked for; a field whose value does not change keeps its owner."""
    if component.replicas == replicas:
        return component
    return replace(component, replicas=replicas, written_by=manager)


def _unready(components: tuple[Component, ...]) -> str | None:
    """Return why a graph is not ready, as its operator would say it."""
    behind = [
        f"{each.name} {each.counts.ready if each.counts else 0}/{each.replicas}"
        for each in components
        if each.counts != Counts(each.replicas, each.replicas, each.replicas)
    ]
    return f"pods_not_ready: {', '.join(behind)}" if behind else None


def _part(pod: Pod) -> Part | None:
    return part_of(pod.ref.namespace, pod.labels, None if pod.controller is None else pod.controller.kind)

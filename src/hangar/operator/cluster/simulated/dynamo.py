"""The Dynamo operator of a simulated cluster: it sees what graphs ask for, has pods made of it, and counts them."""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import replace

from hangar.domain.decision import Answer
from hangar.domain.devices import GPU
from hangar.domain.ids import OwnerUid
from hangar.domain.snapshot import Pod
from hangar.domain.workloads.graph import Component, Counts, Graph, GraphRef, Rival
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL, Part
from hangar.operator.cluster.simulated.controllers import Controllers
from hangar.operator.cluster.simulated.graph_store import GraphStore
from hangar.operator.cluster.simulated.groups import GROUP_LABEL
from hangar.operator.cluster.simulated.rivals import Rivals
from hangar.operator.cluster.simulated.scaling_adapters import FOLLOWER, ScalingAdapters
from hangar.operator.cluster.simulated.spec import GROUPED, ComponentSpec, GraphSpec, RivalSpec, WorkloadSpec
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

    Attributes:
        refusals: What the next writes of graphs are answered, one each, before any of them is let in.
    """

    def __init__(self, state: State, controllers: Controllers) -> None:
        self._state = state
        self._controllers = controllers
        self._owners: dict[GraphRef, dict[str, OwnerUid]] = {}  # of each component by its name
        self._stale: set[GraphRef] = set()
        self._store = GraphStore(state)
        self.adapters = ScalingAdapters(state, self._store, self._hand_on)
        self._rivals = Rivals(state, self._store, self._put_back)
        self.refusals: deque[Answer] = deque()
        state.on_pod.append(self._follow)

    def graph(self, ref: GraphRef) -> Graph | None:
        """Return a graph as it is now, None where there is none."""
        return self._store.get(ref)

    # --- what people do -----------------------------------------------------------------------------------------------

    def add(self, spec: GraphSpec) -> GraphRef:
        """Add a graph whose pods are placed and ready at once."""
        ref = GraphRef(spec.namespace, spec.name)
        self._add(ref, spec, {each.name: each.replicas for each in spec.components})
        self.adapters.make(ref)
        self._count(ref)
        return ref

    def create(self, spec: GraphSpec, rev: int) -> None:
        """Add a graph as ours: its operator sees it, has its pods and adapters made, and counts them."""
        ref = GraphRef(spec.namespace, spec.name)
        graph = self._add(ref, spec, dict.fromkeys((each.name for each in spec.components), 0))
        self._store.put(replace(graph, applied_rev=rev, is_ours=True, is_observed=False))
        self._state.at(OBSERVED_AFTER_S, lambda: self._observe(ref))

    def _add(self, ref: GraphRef, spec: GraphSpec, made: Mapping[str, int]) -> Graph:
        """Add a graph with so many replicas made of each component."""
        self._owners[ref] = {
            each.name: self._controllers.add(_workload(spec, each, made[each.name])).uid for each in spec.components
        }
        self._rivals.add(ref, spec)
        rivals = tuple(Rival(each.kind, each.name, each.component) for each in spec.rivals)
        components = tuple(_component(each) for each in spec.components)
        graph = Graph(ref, self._state.new_uid("graph"), "", API_VERSION, components, rivals=rivals)
        self._store.put(graph)
        return graph

    def drop(self, ref: GraphRef) -> None:
        """Delete a graph; its pods follow."""
        for owner in self._owners.pop(ref).values():
            if owner in self._controllers.workloads:
                self._controllers.remove(owner)
        self._rivals.drop(ref)
        self._store.drop(ref)

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
        self._store.put(replace(graph, components=components, applied_rev=applied_rev, is_observed=is_observed))
        self._state.at(OBSERVED_AFTER_S, lambda: self._observe(ref))
        self._store.tell_of(ref, manager)

    def ask(self, ref: GraphRef, counts: Mapping[str, int], manager: str) -> None:
        """Ask for other counts as whoever knows the rules does: through the adapters of those that have one."""
        graph = self._state.snapshot().graphs[ref]
        adapted = [each for each in graph.components if each.name in counts and each.adapter is not None]
        for component in adapted:
            self.adapters.scale(ref, component, counts[component.name], manager)
        direct = counts.keys() - {each.name for each in adapted}
        if direct or not counts:
            self.write(ref, {name: counts[name] for name in direct}, manager)

    def pause(self, ref: GraphRef, *, on: bool) -> None:
        """Mark a graph so that its operator leaves it alone, or take the mark off."""
        self._store.put(replace(self._state.snapshot().graphs[ref], is_paused=on))
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
        self._store.put(replace(graph, is_observed=True, unready=_unready(graph.components)))
        self.adapters.make(ref)
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
            self._store.put(counted)

    def _counts(self, ref: GraphRef, component: Component) -> Counts:
        """Count the replicas of a component as its controller does: what is on its way out does not count any more."""
        replicas: dict[str, list[Pod]] = defaultdict(list)
        for pod in self._state.snapshot().pods.values():
            if pod.part == Part(ref, component.name):
                replicas[pod.labels.get(GROUP_LABEL, pod.ref.uid)].append(pod)
        there = [pods for pods in replicas.values() if not any(pod.is_terminating or pod.is_finished for pod in pods)]
        ready = [pods for pods in there if len(pods) == component.node_count and all(pod.serves for pod in pods)]
        return Counts(len(there), len(there), len(ready))

    def _follow(self, pod: Pod) -> None:
        part = pod.part
        if part is not None and part.graph in self._owners:
            self._changed(part.graph)

    def _changed(self, ref: GraphRef) -> None:
        if ref not in self._stale:
            self._stale.add(ref)
            self._state.at(COUNTED_AFTER_S, lambda: self._count(ref))

    def _hand_on(self, ref: GraphRef, name: str, count: int) -> None:
        self.write(ref, {name: count}, FOLLOWER)

    def _put_back(self, ref: GraphRef, rival: RivalSpec, counts: Mapping[str, int]) -> None:
        if rival.replaces:
            self._store.put(replace(self._state.snapshot().graphs[ref], applied_rev=None))
        if counts:
            self.ask(ref, counts, rival.name)


def _component(spec: ComponentSpec) -> Component:
    gpus = spec.template.requests.get(GPU, 0)
    return Component(spec.name, spec.role, spec.replicas, spec.node_count, gpus, has_adapter=spec.has_adapter)


def _workload(graph: GraphSpec, spec: ComponentSpec, replicas: int) -> WorkloadSpec:
    labels = {GRAPH_LABEL: graph.name, COMPONENT_LABEL: spec.name, TYPE_LABEL: spec.role.value}
    return WorkloadSpec(
        GROUPED if spec.node_count > 1 else "Deployment",
        f"{graph.name}-{spec.name}".lower(),
        replicas,
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

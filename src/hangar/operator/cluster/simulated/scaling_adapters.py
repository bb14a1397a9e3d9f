"""The scaling adapters of a simulated cluster: the number of such a component is theirs, and the graph follows."""

from collections.abc import Callable
from dataclasses import replace

from hangar.domain.workloads.graph import Adapter, Component, GraphRef
from hangar.operator.cluster.simulated.graph_store import GraphStore
from hangar.operator.cluster.simulated.state import State

FOLLOWED_AFTER_S = 0.3
"""From a change of an adapter to the graph that shows it."""

FOLLOWER = "dynamo-operator"
"""Whose hand the number is in the graph itself."""


class ScalingAdapters:
    """Keeps the adapters; the Dynamo operator makes one where a component asks for it, with the component's number."""

    def __init__(self, state: State, store: GraphStore, follow: Callable[[GraphRef, str, int], None]) -> None:
        self._state = state
        self._store = store
        self._follow = follow

    def make(self, ref: GraphRef) -> None:
        """Make the adapters that a graph asks for and has not."""
        graph = self._store.get(ref)
        for name in [each.name for each in graph.components if each.has_adapter] if graph is not None else ():
            graph = self._store.get(ref)
            component = graph.component(name) if graph is not None else None
            if graph is not None and component is not None and component.adapter is None:
                uid = self._state.new_uid("adapter")
                self._store.put_adapter(graph, component, Adapter(_name(ref, name), uid, "", component.replicas))

    def scale(self, ref: GraphRef, component: Component, replicas: int, manager: str) -> None:
        """Write an adapter's number; a field whose value does not change keeps its owner."""
        graph, adapter = self._store.get(ref), component.adapter
        assert graph is not None, "who scales has seen it"
        assert adapter is not None, "who scales has seen it"
        if adapter.replicas != replicas:
            self._store.put_adapter(graph, component, replace(adapter, replicas=replicas, written_by=manager))
            self._state.at(FOLLOWED_AFTER_S, lambda: self._hand_on(ref, component.name))
            self._store.tell_of(ref, manager)

    def remove(self, ref: GraphRef, name: str) -> None:
        """Delete an adapter by hand; nobody makes it again."""
        graph = self._store.get(ref)
        component = graph.component(name) if graph is not None else None
        assert graph is not None
        assert component is not None, f"{ref} has no component {name}"
        self._store.put_adapter(graph, component, None)

    def _hand_on(self, ref: GraphRef, name: str) -> None:
        graph = self._store.get(ref)
        component = graph.component(name) if graph is not None else None
        adapter = component.adapter if component is not None else None
        if component is not None and adapter is not None and component.replicas != adapter.replicas:
            self._follow(ref, name, adapter.replicas)


def _name(ref: GraphRef, component: str) -> str:
    return f"{ref.name}-{component}".lower()

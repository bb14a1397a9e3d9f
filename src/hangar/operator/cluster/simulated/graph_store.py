"""The graphs of a simulated cluster as its API server keeps them: each write makes a new version of one object."""

from collections.abc import Callable
from dataclasses import replace

from hangar.domain.workloads.graph import Adapter, Component, Graph, GraphRef
from hangar.operator.cluster.simulated.state import State


class GraphStore:
    """Graphs with the scaling adapters of their components.

    Attributes:
        on_asked: Called with each graph that somebody asked other numbers of, and with who it was.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._versions = 0
        self.on_asked: list[Callable[[GraphRef, str], None]] = []

    def get(self, ref: GraphRef) -> Graph | None:
        """Return a graph as it is now, None where there is none."""
        return self._state.snapshot().graphs.get(ref)

    def put(self, graph: Graph) -> None:
        """Store a graph at a new version, as every write of an object does, one of its status too."""
        self._store(replace(graph, version=self._new_version()))

    def put_adapter(self, graph: Graph, component: Component, adapter: Adapter | None) -> None:
        """Store the adapter of a component, or that there is none: an object of its own, with its own version."""
        if adapter is not None:
            adapter = replace(adapter, version=self._new_version())
        changed = replace(component, adapter=adapter)
        components = tuple(changed if each.name == component.name else each for each in graph.components)
        self._store(replace(graph, components=components))

    def drop(self, ref: GraphRef) -> None:
        """Take a graph away."""
        self._state.index.drop_graph(ref)
        self._state.on_change()

    def tell_of(self, ref: GraphRef, manager: str) -> None:
        """Say that somebody asked other numbers of a graph."""
        for look in self.on_asked:
            look(ref, manager)

    def _store(self, graph: Graph) -> None:
        self._state.index.put_graph(graph)
        self._state.on_change()

    def _new_version(self) -> str:
        self._versions += 1
        return str(self._versions)

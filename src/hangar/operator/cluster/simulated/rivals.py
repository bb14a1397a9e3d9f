"""Who else writes the numbers of a simulated cluster's graphs: it puts back what it holds, some time after a change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.operator.cluster.simulated.graph_store import GraphStore
from hangar.operator.cluster.simulated.spec import GraphSpec, RivalSpec
from hangar.operator.cluster.simulated.state import State

PutBack: TypeAlias = Callable[[GraphRef, RivalSpec, Mapping[str, int]], None]
"""Asks the counts of a graph that a rival holds and finds changed."""


@dataclass(frozen=True, slots=True)
class _Held:
    """The numbers that a rival holds."""

    by: RivalSpec
    counts: Mapping[str, int]


class Rivals:
    """The autoscalers and the like of a cluster. What they write is theirs by name."""

    def __init__(self, state: State, store: GraphStore, put_back: PutBack) -> None:
        self._state = state
        self._store = store
        self._put_back = put_back
        self._held: dict[GraphRef, tuple[_Held, ...]] = {}
        store.on_asked.append(self._look)

    def add(self, ref: GraphRef, spec: GraphSpec) -> None:
        """Let the rivals of a graph hold it as it is declared."""
        counts = {each.name: each.replicas for each in spec.components}
        self._held[ref] = tuple(
            _Held(each, counts if each.component is None else {each.component: counts[each.component]})
            for each in spec.rivals
        )

    def drop(self, ref: GraphRef) -> None:
        """Let go of a graph."""
        self._held.pop(ref, None)

    def _look(self, ref: GraphRef, manager: str) -> None:
        for held in self._held.get(ref, ()):
            if manager != held.by.name:
                self._state.at(held.by.after_s, lambda each=held: self._hold(ref, each))  # type: ignore[misc]

    def _hold(self, ref: GraphRef, held: _Held) -> None:
        graph = self._store.get(ref)
        if graph is None or held not in self._held.get(ref, ()):
            return
        changed = {name: count for name, count in held.counts.items() if _asked(graph, name) != count}
        if changed or (held.by.replaces and graph.applied_rev is not None):
            self._put_back(ref, held.by, changed)


def _asked(graph: Graph, name: str) -> int | None:
    component = graph.component(name)
    if component is None:
        return None
    return component.adapter.replicas if component.adapter is not None else component.replicas

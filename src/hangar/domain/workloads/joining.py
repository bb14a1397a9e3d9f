"""Joins to graphs what other objects say of them: the adapters of their components, and what scales those by itself."""

from dataclasses import dataclass, replace

from hangar.domain.workloads.graph import Adapter, Component, Graph, GraphRef, Rival, RivalKind
from hangar.domain.workloads.members import Part


@dataclass(frozen=True, slots=True)
class PartAdapter:
    """A scaling adapter, and the component whose number it owns."""

    part: Part
    adapter: Adapter


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """What scales an adapter of its namespace by itself.

    `adapter` is empty where it scales something else, or is switched off. One that another has made goes by the name
    and the kind of its maker.
    """

    uid: str
    namespace: str
    adapter: str
    kind: RivalKind
    name: str


class Joining:
    """What is known beside graphs, whichever of all that came first. Every change tells which graphs it is about."""

    def __init__(self) -> None:
        self._adapters: dict[str, PartAdapter] = {}
        self._autoscalers: dict[str, Autoscaler] = {}
        self._adapters_by_part: dict[Part, dict[str, PartAdapter]] = {}
        self._autoscalers_by_adapter: dict[tuple[str, str], dict[str, Autoscaler]] = {}

    def put_adapter(self, adapter: PartAdapter) -> frozenset[GraphRef]:
        """Add or replace an adapter, by its UID; return the graphs that this changes."""
        uid = adapter.adapter.uid
        before = self.drop_adapter(uid)
        self._adapters[uid] = adapter
        self._adapters_by_part.setdefault(adapter.part, {})[uid] = adapter
        return before | {adapter.part.graph}

    def drop_adapter(self, uid: str) -> frozenset[GraphRef]:
        """Forget an adapter; return the graphs that this changes."""
        adapter = self._adapters.pop(uid, None)
        if adapter is None:
            return frozenset()
        of_part = self._adapters_by_part[adapter.part]
        del of_part[uid]
        if not of_part:
            del self._adapters_by_part[adapter.part]
        return frozenset({adapter.part.graph})

    def put_autoscaler(self, autoscaler: Autoscaler) -> frozenset[GraphRef]:
        """Add or replace an autoscaler, by its UID; return the graphs that this changes."""
        before = self.drop_autoscaler(autoscaler.uid)
        self._autoscalers[autoscaler.uid] = autoscaler
        key = autoscaler.namespace, autoscaler.adapter
        self._autoscalers_by_adapter.setdefault(key, {})[autoscaler.uid] = autoscaler
        return before | self._scaled_by(autoscaler)

    def drop_autoscaler(self, uid: str) -> frozenset[GraphRef]:
        """Forget an autoscaler; return the graphs that this changes."""
        autoscaler = self._autoscalers.pop(uid, None)
        if autoscaler is None:
            return frozenset()
        key = autoscaler.namespace, autoscaler.adapter
        of_adapter = self._autoscalers_by_adapter[key]
        del of_adapter[uid]
        if not of_adapter:
            del self._autoscalers_by_adapter[key]
        return self._scaled_by(autoscaler)

    def joined(self, graph: Graph) -> Graph:
        """Return a graph with the adapters of its components, and with the rivals that write those."""
        adapters = {each.name: self._adapter_of(graph.ref, each) for each in graph.components}
        found = {each for name, adapter in adapters.items() for each in self._rivals(graph.ref, name, adapter)}
        rivals = sorted(found.difference(graph.rivals), key=lambda each: (each.kind, each.name, each.component or ""))
        components = tuple(replace(each, adapter=adapters[each.name] or each.adapter) for each in graph.components)
        return replace(graph, components=components, rivals=(*graph.rivals, *rivals))

    def _adapter_of(self, graph: GraphRef, component: Component) -> Adapter | None:
        """Return the adapter of a component that has one; of several the one that the graph's operator would make."""
        if not component.has_adapter:
            return None
        usual = f"{graph.name}-{component.name}".lower()
        adapters = (each.adapter for each in self._adapters_by_part.get(Part(graph, component.name), {}).values())
        return min(adapters, key=lambda each: (each.name != usual, each.name), default=None)

    def _rivals(self, graph: GraphRef, component: str, adapter: Adapter | None) -> list[Rival]:
        if adapter is None:
            return []
        autoscalers = self._autoscalers_by_adapter.get((graph.namespace, adapter.name), {}).values()
        return [Rival(each.kind, each.name, component) for each in autoscalers]

    def _scaled_by(self, autoscaler: Autoscaler) -> frozenset[GraphRef]:
        target = autoscaler.namespace, autoscaler.adapter
        adapters = self._adapters.values()
        return frozenset(
            each.part.graph for each in adapters if (each.part.graph.namespace, each.adapter.name) == target
        )

"""Stages: what is to be written next of a graph, where not all of it may be written at once.

A component behind a scaling adapter is written through that alone, and the graph shows its number later. So that a
graph never has more on the way than it is to have in the end, what falls is written and seen before what rises, and
the revision is written last, once every number was read back.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hangar.domain.decision import Apply, Scale, Step
from hangar.domain.ids import OperationId
from hangar.domain.workloads.errands import errand, reductions
from hangar.domain.workloads.graph import Adapter, Component, Desired, Graph, Unwritten

Errands: TypeAlias = tuple[tuple[OperationId, Step], ...]

IsUndone: TypeAlias = Callable[[OperationId, Step], bool]
"""Tells whether a step was taken before, and somebody has put back what it wrote."""


@dataclass(frozen=True, slots=True)
class Adapted:
    """A component behind its adapter, and what it is to have."""

    component: Component
    adapter: Adapter
    count: int

    @property
    def is_seen(self) -> bool:
        """Tell whether the graph shows what the adapter was given."""
        return self.component.replicas == self.count


def next_stage(graph: Graph, desired: Desired, is_undone: IsUndone) -> Errands | Unwritten:
    """Return what to write now of a revision that a graph lacks, or why nothing can be.

    What somebody has put back after it was written counts as settled: the rest goes on, so that the revision is on the
    graph and its other numbers are shown as what they are.
    """
    if (unwritable := _unwritable(graph, desired)) is not None:
        return unwritable
    adapted = tuple(_adapted(graph, desired))
    behind = {each.component.name for each in adapted}
    direct = {name: count for name, count in desired.counts.items() if name not in behind}
    scales = [(each, _scale(graph, each)) for each in adapted if each.adapter.replicas != each.count]
    open_scales = [(each, step) for each, step in scales if not is_undone(errand(desired), step)]
    rising: Errands = tuple((errand(desired), step) for each, step in open_scales if each.count > each.adapter.replicas)
    falling: Errands = tuple(
        (errand(desired), step) for each, step in open_scales if each.count < each.adapter.replicas
    )
    if rising and (first := _falling(graph, direct)):
        step = Apply(graph.ref, graph.uid, graph.version, None, first)
        falling += () if is_undone(reductions(desired), step) else ((reductions(desired), step),)
    if falling:
        return falling
    unseen = [each for each in adapted if each.adapter.replicas == each.count and not each.is_seen]
    if falls := [each for each in unseen if each.component.replicas > each.count]:
        return _unseen(falls, desired)
    if rising:
        return rising
    if unseen:
        return _unseen(unseen, desired)
    last = Apply(graph.ref, graph.uid, graph.version, desired.rev, direct)
    if is_undone(errand(desired), last):
        why = "it was written, and somebody has taken that back, the revision with it: it is not written again"
        return Unwritten(desired.rev, "reverted", why)
    return ((errand(desired), last),)


def takes(graph: Graph, steps: Iterable[Step]) -> dict[str, int]:
    """Return how many replicas steps take off each component that they lower."""
    asked = {each.name: each.adapter.replicas if each.adapter else each.replicas for each in graph.components}
    counts: dict[str, int] = {}
    for step in steps:
        match step:
            case Apply():
                counts |= step.counts
            case Scale():
                counts[step.component] = step.replicas
            case _:
                pass
    return {name: asked[name] - count for name, count in counts.items() if count < asked[name]}


def _unwritable(graph: Graph, desired: Desired) -> Unwritten | None:
    """Return why nothing of a graph may be written."""
    if graph.is_paused:
        why = "it carries nvidia.com/paused: somebody asked its operator to leave it alone"
        return Unwritten(desired.rev, "graph_paused", why)
    if missing := [name for name in desired.counts if graph.component(name) is None]:
        has = ", ".join(each.name for each in graph.components) or "none"
        return Unwritten(desired.rev, "component_missing", f"it has no component {', '.join(missing)}; it has {has}")
    found = (graph.component(name) for name in desired.counts)
    if lost := [each.name for each in found if each is not None and each.has_adapter and each.adapter is None]:
        why = f"the scaling adapter of {', '.join(lost)} is missing, and nothing is written past it"
        return Unwritten(desired.rev, "adapter_missing", why)
    return None


def _adapted(graph: Graph, desired: Desired) -> Iterable[Adapted]:
    for name, count in desired.counts.items():
        component = graph.component(name)
        if component is not None and component.has_adapter and component.adapter is not None:
            yield Adapted(component, component.adapter, count)


def _scale(graph: Graph, each: Adapted) -> Scale:
    adapter = each.adapter
    return Scale(graph.ref, each.component.name, adapter.name, adapter.uid, adapter.version, each.count)


def _falling(graph: Graph, counts: dict[str, int]) -> dict[str, int]:
    asked = {each.name: each.replicas for each in graph.components}
    return {name: count for name, count in counts.items() if count < asked[name]}


def _unseen(unseen: Iterable[Adapted], desired: Desired) -> Unwritten:
    words = [
        f"{each.adapter.name} has {each.count} for {each.component.name}, and the graph still {each.component.replicas}"
        for each in unseen
    ]
    return Unwritten(desired.rev, "adapter_pending", f"its scaling adapter is not followed yet: {'; '.join(words)}")

"""Shape: how many of each component make one replica of a workload."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from hangar.domain.workloads.graph import Component, Graph, Role

Shape: TypeAlias = Mapping[str, int]
"""A count of each scaled component, by its name; each at least 1."""

PAIRED = frozenset({Role.PREFILL, Role.DECODE})
UNSCALED = frozenset({Role.FRONTEND, Role.PLANNER, Role.EPP})
"""Frontends keep a fixed count, an EPP stays 1, and a planner is somebody else's."""


@dataclass(frozen=True, slots=True)
class NoShape:
    """Why a graph has no shape of its own: somebody has to name one."""

    why: str


def default_shape(graph: Graph) -> Shape | NoShape:
    """Return what one replica of a graph is, where that can be told from the graph alone.

    A single worker component: one of it. Prefill and decode: their present ratio in lowest terms, which is what was
    tuned; 1 to 1 where both are at 0.
    """
    scaled = [each for each in graph.components if each.role not in UNSCALED]
    if len(scaled) == 1:
        return {scaled[0].name: 1}
    roles = {each.role for each in scaled}
    if roles == PAIRED and len(scaled) == len(PAIRED):
        counts = {each.name: each.replicas for each in scaled}
        if not any(counts.values()):
            return dict.fromkeys(counts, 1)
        if not all(counts.values()):
            idle = next(name for name, count in counts.items() if not count)
            return NoShape(f"{idle} is at 0 and the other is not, so there is no ratio to keep")
        step = gcd(*counts.values())
        return {name: count // step for name, count in counts.items()}
    if not scaled:
        return NoShape("it has no component that could be scaled")
    names = ", ".join(f"{each.name} ({each.role})" for each in scaled)
    return NoShape(f"it has several components that could be scaled: {names}")


def shape_problems(shape: Shape, graph: Graph) -> list[str]:
    """Return all that keeps a named shape from being one of this graph."""
    problems = []
    for name in shape:
        component = graph.component(name)
        if component is None:
            names = ", ".join(each.name for each in graph.components) or "none"
            problems.append(f"{graph.ref} has no component {name!r}; it has {names}")
        elif component.role in (Role.PLANNER, Role.EPP):
            problems.append(f"{name} is a {component.role}, which is never scaled")
    return problems


def counts_of(shape: Shape, replicas: int) -> dict[str, int]:
    """Return how many of each component so many replicas are."""
    return {name: each * replicas for name, each in shape.items()}


def asked_replicas(graph: Graph, shape: Shape) -> int | None:
    """Return how many replicas a graph is asked to run, None where its numbers are no multiple of the shape."""
    counts = {name: _component(graph, name).replicas for name in shape if graph.component(name) is not None}
    if len(counts) != len(shape) or not counts:
        return None
    name, count = next(iter(counts.items()))
    replicas, rest = divmod(count, shape[name])
    return replicas if not rest and counts == counts_of(shape, replicas) else None


def ready_replicas(graph: Graph, shape: Shape) -> int:
    """Return how many whole replicas are ready: as many as the scarcest component allows."""
    ready = []
    for name, each in shape.items():
        component = graph.component(name)
        counts = component.counts if component is not None else None
        ready.append(counts.ready // each if counts is not None else 0)
    return min(ready, default=0)


def gpus_per_replica(graph: Graph, shape: Shape) -> int | None:
    """Return how many GPUs one replica needs, None where that cannot be counted."""
    whole = 0
    for name, each in shape.items():
        component = graph.component(name)
        if component is None or component.gpus_per_pod is None:
            return None
        whole += each * component.node_count * component.gpus_per_pod
    return whole


def _component(graph: Graph, name: str) -> Component:
    found = graph.component(name)
    assert found is not None, "the caller has looked"
    return found

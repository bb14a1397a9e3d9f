"""Which component of which graph a pod belongs to, by the labels that the graph's operator gives it."""

from collections.abc import Mapping
from typing import NamedTuple

from hangar.domain.workloads.graph import GraphRef

GRAPH_LABEL = "nvidia.com/dynamo-graph-deployment-name"
COMPONENT_LABEL = "nvidia.com/dynamo-component"
CAPTURE_LABEL = "nvidia.com/snapshot-job-uid"
"""On the pods of Jobs that capture a component's state for fast starts: they serve nothing."""


class Part(NamedTuple):
    """One component of one graph."""

    graph: GraphRef
    component: str


def part_of(namespace: str, labels: Mapping[str, str], controller_kind: str | None) -> Part | None:
    """Return what a pod is a part of, None where it is of no graph."""
    graph, component = labels.get(GRAPH_LABEL), labels.get(COMPONENT_LABEL)
    if not graph or not component:
        return None
    if CAPTURE_LABEL in labels and controller_kind == "Job":
        return None
    return Part(GraphRef(namespace, graph), component)

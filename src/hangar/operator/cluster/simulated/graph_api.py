"""What the simulated cluster's API server answers to steps on graphs and their scaling adapters."""

from typing import assert_never

from hangar.domain.decision import (
    Accepted,
    Answer,
    Apply,
    Busy,
    Create,
    Denied,
    Gone,
    Namesake,
    Remove,
    Scale,
    Trouble,
)
from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.operator.cluster.simulated.dynamo import Dynamo
from hangar.operator.cluster.simulated.templates import TemplateError, graph_spec

MANAGER = "hangar-operator"

WEBHOOK = "dynamographdeployment.nvidia.com"


def take(dynamo: Dynamo, step: Apply | Scale | Create | Remove) -> Answer:
    """Let a step take effect now, and return the answer."""
    if isinstance(step, Apply | Create) and dynamo.refusals:
        return dynamo.refusals.popleft()
    match step:
        case Apply():
            return _apply(dynamo, step)
        case Scale():
            return _scale(dynamo, step)
        case Create():
            return _create(dynamo, step)
        case Remove():
            return _remove(dynamo, step)
        case _ as never:
            assert_never(never)


def _apply(dynamo: Dynamo, step: Apply) -> Answer:
    graph = _seen(dynamo, step.graph, step.uid)
    if not isinstance(graph, Graph):
        return graph
    if graph.version != step.version:
        return Busy(f"409: graph {step.graph} was changed since it was read", trouble=Trouble.CONFLICT)
    if missing := [name for name in step.counts if graph.component(name) is None]:
        return Denied(f"422: graph {step.graph} has no component {', '.join(missing)}")
    if adapted := [each.name for each in graph.components if each.has_adapter and each.name in step.counts]:
        why = f"{', '.join(adapted)}: replicas cannot be modified directly when scaling adapter is enabled"
        return Denied(f'403: admission webhook "{WEBHOOK}" denied the request: {why}')
    dynamo.write(step.graph, step.counts, MANAGER, step.rev)
    return Accepted()


def _scale(dynamo: Dynamo, step: Scale) -> Answer:
    graph = dynamo.graph(step.graph)
    component = graph.component(step.component) if graph is not None else None
    if component is None or component.adapter is None or component.adapter.name != step.adapter:
        return Gone()
    if component.adapter.uid != step.uid:
        return Namesake()
    if component.adapter.version != step.version:
        return Busy(f"409: adapter {step.adapter} was changed since it was read", trouble=Trouble.CONFLICT)
    dynamo.adapters.scale(step.graph, component, step.replicas, MANAGER)
    return Accepted()


def _create(dynamo: Dynamo, step: Create) -> Answer:
    if dynamo.graph(step.graph) is not None:
        return Busy(f"409: graph {step.graph} already exists", trouble=Trouble.CONFLICT)
    try:
        spec = graph_spec(step.graph, step.template, step.counts)
    except TemplateError as error:
        return Denied(f"422: {error}")
    dynamo.create(spec, step.rev)
    return Accepted()


def _remove(dynamo: Dynamo, step: Remove) -> Answer:
    graph = _seen(dynamo, step.graph, step.uid)
    if not isinstance(graph, Graph):
        return graph
    if not graph.is_ours:
        return Denied(f"graph {step.graph} was not created by Wingsmith: it is left alone")
    dynamo.drop(step.graph)
    return Accepted()


def _seen(dynamo: Dynamo, ref: GraphRef, uid: str) -> Graph | Gone | Namesake:
    graph = dynamo.graph(ref)
    if graph is None:
        return Gone()
    return graph if graph.uid == uid else Namesake()

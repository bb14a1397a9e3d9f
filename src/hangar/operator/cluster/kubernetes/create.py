"""Creates a graph from a template, in the version that the template is written in, with the counts that are desired."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType

import msgspec

from hangar.domain.decision import Answer, Busy, Create, Denied
from hangar.domain.workloads.graph import Document
from hangar.operator.cluster.kubernetes import dynamo_v1alpha1, dynamo_v1beta1
from hangar.operator.cluster.kubernetes.answers import of_create
from hangar.operator.cluster.kubernetes.api import Api
from hangar.operator.cluster.kubernetes.served import Served
from hangar.operator.cluster.kubernetes.translate import FIELD_MANAGER
from hangar.operator.cluster.kubernetes.translate_graph import (
    APPLIED_REV_ANNOTATION,
    KIND,
    PLURAL,
    WORKLOAD_ANNOTATION,
    SeenGraph,
    given,
)
from hangar.operator.cluster.port import Gate

FILLED: Mapping[str, Callable[[Document, Mapping[str, int]], Document]] = MappingProxyType(
    {dynamo_v1beta1.VERSION: dynamo_v1beta1.filled, dynamo_v1alpha1.VERSION: dynamo_v1alpha1.filled}
)

OF_ANOTHER_OBJECT = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
"""Metadata that only one object can have: templates are made of graphs that are there. An owner that is not in this
cluster would have the graph deleted as soon as it is created."""


async def create(api: Api, graphs: Served[SeenGraph], step: Create, gate: Gate, left_s: Callable[[], float]) -> Answer:
    """Create a step's graph; where its name is taken, nothing is done.

    Args:
        api: The API server.
        graphs: Which versions are served; learns what the creation returned.
        step: What to create.
        gate: Asked at the last moment before the creation leaves.
        left_s: Returns how long all that is still to be done may take.

    Raises:
        WithheldError: The gate was closed.
        NotSentError: The creation did not leave.
        NoReplyError: It left, and there is no reply.
    """
    if not graphs.all_served and (why := graphs.health.unreadable()) is not None:
        return Busy(f"not sent: {why}")
    served = graphs.named(str(step.template.get("apiVersion")))
    if served is None or step.template.get("kind") != KIND:
        return Denied(_not_served(graphs, step))
    try:
        body = _object(step, FILLED[served.version])
    except ValueError as error:
        return Denied(f"the template of graph {step.graph} cannot be used: {error}")
    reply = await api.call(
        "POST",
        f"/apis/{served.api_version}/namespaces/{step.graph.namespace}/{PLURAL}",
        params={"fieldManager": FIELD_MANAGER},
        body=body,
        gate=gate,
        timeout_s=left_s(),
    )
    if reply.is_success:
        # What cannot be understood now, the watch will bring, and say so.
        with suppress(msgspec.DecodeError, ValueError):
            graphs.mirror.merge(served.read(reply.body))
    return of_create(reply)


def _object(step: Create, filled: Callable[[Document, Mapping[str, int]], Document]) -> Document:
    """Return the object to create.

    Raises:
        ValueError: The template is no graph of its version, or lacks a component that is to be counted.
    """
    whole = given("metadata", step.template.get("metadata") or {}, dict[str, object])
    annotations = given("metadata.annotations", whole.get("annotations") or {}, dict[str, object])
    metadata = {
        **{name: value for name, value in whole.items() if name not in OF_ANOTHER_OBJECT},
        "name": step.graph.name,
        "namespace": step.graph.namespace,
        "annotations": {
            **annotations,
            APPLIED_REV_ANNOTATION: str(step.rev),
            WORKLOAD_ANNOTATION: str(step.workload),
        },
    }
    spec = filled(given("spec", step.template.get("spec"), dict[str, object]), step.counts)
    rest = {name: value for name, value in step.template.items() if name != "status"}
    return {**rest, "metadata": metadata, "spec": spec}


def _not_served(graphs: Served[SeenGraph], step: Create) -> str:
    of = f"the template of graph {step.graph} is a {step.template.get('kind')} of {step.template.get('apiVersion')}"
    versions = ", ".join(each.api_version for each in graphs.all_served)
    if not versions:
        return f"{of}, and this cluster serves no {KIND}: Dynamo is not installed in it"
    return f"{of}, and this cluster serves {KIND} as {versions}"

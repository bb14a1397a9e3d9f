"""Deletes a graph that Wingsmith has created, and no other."""

from collections.abc import Callable

from hangar.domain.decision import Accepted, Answer, Denied, Remove
from hangar.operator.cluster.kubernetes.answers import of_remove
from hangar.operator.cluster.kubernetes.api import Api
from hangar.operator.cluster.kubernetes.apply import look, not_served
from hangar.operator.cluster.kubernetes.served import Served
from hangar.operator.cluster.kubernetes.translate_graph import WORKLOAD_ANNOTATION, SeenGraph, path
from hangar.operator.cluster.port import Gate


async def remove(api: Api, graphs: Served[SeenGraph], step: Remove, gate: Gate, left_s: Callable[[], float]) -> Answer:
    """Delete a step's graph, as it is read right before: one that is not ours by now is left alone.

    Args:
        api: The API server.
        graphs: Which version is served.
        step: What to delete.
        gate: Asked at the last moment before the deletion leaves.
        left_s: Returns how long all that is still to be done may take.

    Raises:
        WithheldError: The gate was closed.
        NotSentError: The deletion did not leave.
        NoReplyError: It left, and there is no reply.
        msgspec.DecodeError, ValueError: The graph as it is now cannot be understood.
    """
    served = graphs.served
    if served is None:
        return not_served(graphs)
    seen = await look(api, served, step.graph, step.uid, left_s())
    if not isinstance(seen, SeenGraph):
        return seen
    if seen.is_terminating:
        return Accepted()
    if not seen.graph.is_ours:
        return Denied(
            f"graph {step.graph} was not created by Wingsmith, as it does not carry the annotation "
            f"{WORKLOAD_ANNOTATION}: it is left alone"
        )
    reply = await api.call(
        "DELETE",
        path(served.version, step.graph),
        body={
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": step.uid, "resourceVersion": seen.graph.version},
            "propagationPolicy": "Background",
        },
        gate=gate,
        timeout_s=left_s(),
    )
    return of_remove(reply)

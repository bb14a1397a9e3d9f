"""Writes what is desired of a graph: one patch of all counts and the revision, at the version that was decided on."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from hangar.domain.decision import Answer, Apply, Busy, Denied, Gone, Namesake, Trouble
from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.joining import PartAdapter
from hangar.operator.cluster.kubernetes import dynamo_v1alpha1, dynamo_v1beta1
from hangar.operator.cluster.kubernetes.answers import of_apply
from hangar.operator.cluster.kubernetes.api import JSON_PATCH, MERGE_PATCH, Api, NoReplyError, NotSentError
from hangar.operator.cluster.kubernetes.served import Served
from hangar.operator.cluster.kubernetes.translate import FIELD_MANAGER
from hangar.operator.cluster.kubernetes.translate_graph import Json, SeenGraph, path, why_not
from hangar.operator.cluster.kubernetes.watched import Watched
from hangar.operator.cluster.port import Gate


@dataclass(frozen=True, slots=True)
class Patching:
    """How one version of graphs is patched."""

    content_type: str
    patch: Callable[[SeenGraph, Apply], Json]


PATCHING: Mapping[str, Patching] = MappingProxyType(
    {
        dynamo_v1beta1.VERSION: Patching(JSON_PATCH, dynamo_v1beta1.patch),
        dynamo_v1alpha1.VERSION: Patching(MERGE_PATCH, dynamo_v1alpha1.patch),
    }
)


async def apply(api: Api, graphs: Served[SeenGraph], step: Apply, gate: Gate, left_s: Callable[[], float]) -> Answer:
    """Write a step's counts to its graph; where the graph has changed since, nothing is written.

    Args:
        api: The API server.
        graphs: Where the graph was seen; learns what the write returned.
        step: What to write.
        gate: Asked at the last moment before the write leaves.
        left_s: Returns how long all that is still to be done may take.

    Raises:
        WithheldError: The gate was closed.
        NotSentError: The write did not leave.
        NoReplyError: It left, and there is no reply.
    """
    served = graphs.served
    if served is None:
        return not_served(graphs)
    entry = graphs.mirror.get(step.uid)
    seen = entry.value if entry is not None else await look(api, served, step.graph, step.uid, left_s())
    if not isinstance(seen, SeenGraph):
        return seen
    if seen.graph.version != step.version:
        return Busy(f"graph {step.graph} has changed since it was decided on", trouble=Trouble.CONFLICT)
    if (why := why_not(seen.graph, step)) is not None:
        return Denied(why)
    version = graphs.named(seen.graph.api_version) or served  # what a creation returned may be of another than is read
    patching = PATCHING[version.version]
    reply = await api.call(
        "PATCH",
        path(version.version, step.graph),
        params={"fieldManager": FIELD_MANAGER},
        body=patching.patch(seen, step),
        content_type=patching.content_type,
        gate=gate,
        timeout_s=left_s(),
    )
    if reply.is_success:
        # What cannot be understood now, the watch will bring, and say so.
        with suppress(msgspec.DecodeError, ValueError):
            graphs.mirror.merge(version.read(reply.body))
    answer = of_apply(reply)
    if isinstance(answer, Busy) and answer.trouble is Trouble.CONFLICT:
        with suppress(*_NOT_SEEN):
            now = await look(api, served, step.graph, step.uid, left_s())
            return now if isinstance(now, Gone | Namesake) else answer
    return answer


_NOT_SEEN = (NotSentError, NoReplyError, msgspec.DecodeError, ValueError)


def not_served(kind: Served[SeenGraph] | Served[PartAdapter]) -> Answer:
    """Return the answer to a step on an object of a kind of which no version is served, or known to be."""
    why = kind.health.unreadable()
    return Gone() if why is None else Busy(f"not sent: {why}")


async def look(api: Api, served: Watched[SeenGraph], graph: GraphRef, uid: str, left_s: float) -> SeenGraph | Answer:
    """Return a graph as it is now, or the answer to a step on it where it is not there or cannot be read."""
    reply = await api.call("GET", path(served.version, graph), timeout_s=left_s)
    if not reply.is_success:
        return of_apply(reply)
    entry = served.read(reply.body)
    return entry.value if entry.uid == uid else Namesake()

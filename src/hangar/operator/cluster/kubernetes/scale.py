"""Writes the number of one component to its scaling adapter, at the version that was decided on."""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from hangar.domain.decision import Answer, Busy, Gone, Namesake, Scale, Trouble
from hangar.domain.workloads.graph import Adapter
from hangar.domain.workloads.joining import PartAdapter
from hangar.domain.workloads.members import Part
from hangar.operator.cluster.kubernetes.answers import of_apply
from hangar.operator.cluster.kubernetes.api import MERGE_PATCH, Api, NoReplyError, NotSentError
from hangar.operator.cluster.kubernetes.apply import not_served
from hangar.operator.cluster.kubernetes.mirror import Entry
from hangar.operator.cluster.kubernetes.served import Served
from hangar.operator.cluster.kubernetes.translate import FIELD_MANAGER
from hangar.operator.cluster.kubernetes.translate_adapter import ScaleObject, path
from hangar.operator.cluster.port import Gate

_SCALE = msgspec.json.Decoder(ScaleObject)


async def scale(
    api: Api, adapters: Served[PartAdapter], step: Scale, gate: Gate, left_s: Callable[[], float]
) -> Answer:
    """Write a number to the `scale` of an adapter; where the adapter has changed since, nothing is written.

    The version is condition enough: no two objects ever have the same. The server would ignore a UID.

    Args:
        api: The API server.
        adapters: Where the adapter was seen; learns what the write returned.
        step: What to write.
        gate: Asked at the last moment before the write leaves.
        left_s: Returns how long all that is still to be done may take.

    Raises:
        WithheldError: The gate was closed.
        NotSentError: The write did not leave.
        NoReplyError: It left, and there is no reply.
    """
    served = adapters.served
    if served is None:
        return not_served(adapters)
    entry = adapters.mirror.get(step.uid)
    if entry is not None and entry.value.adapter.version != step.version:
        return Busy(f"adapter {step.adapter} has changed since it was decided on", trouble=Trouble.CONFLICT)
    where = path(served.version, step.graph.namespace, step.adapter)
    reply = await api.call(
        "PATCH",
        where,
        params={"fieldManager": FIELD_MANAGER},
        body={"metadata": {"resourceVersion": step.version}, "spec": {"replicas": step.replicas}},
        content_type=MERGE_PATCH,
        gate=gate,
        timeout_s=left_s(),
    )
    if reply.is_success:
        # What cannot be understood now, the watch will bring, and say so.
        with suppress(msgspec.DecodeError, ValueError):
            before = entry.value.adapter if entry is not None else None
            adapters.mirror.merge(_written(step, before, _SCALE.decode(reply.body)))
    answer = of_apply(reply)
    if isinstance(answer, Busy) and answer.trouble is Trouble.CONFLICT:
        with suppress(NotSentError, NoReplyError, msgspec.DecodeError):
            return await _now(api, where, step, left_s()) or answer
    return answer


def _written(step: Scale, before: Adapter | None, returned: ScaleObject) -> Entry[PartAdapter]:
    """Return the adapter as a write of ours has left it; a number that it had already keeps its owner."""
    meta, replicas = returned.metadata, returned.spec.replicas
    had_it = before is not None and before.replicas == replicas
    writer = before.written_by if before is not None and had_it else FIELD_MANAGER
    adapter = Adapter(meta.name, meta.uid, meta.resource_version, replicas, writer)
    return Entry(meta.uid, int(meta.resource_version), PartAdapter(Part(step.graph, step.component), adapter))


async def _now(api: Api, where: str, step: Scale, left_s: float) -> Gone | Namesake | None:
    """Tell whether the adapter that was meant is not there any more."""
    reply = await api.call("GET", where, timeout_s=left_s)
    if reply.is_success:
        return Namesake() if _SCALE.decode(reply.body).metadata.uid != step.uid else None
    answer = of_apply(reply)
    return answer if isinstance(answer, Gone) else None

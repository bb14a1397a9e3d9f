"""What users ask for, once it has been read and found well-formed."""

from dataclasses import dataclass

from hangar.wire.operator import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRequest:
    """What a user asks for. `target` is a bare name, or `cluster/name`."""

    type: str
    target: str
    cluster: str | None = None
    params: JsonObject
    reason: str | None = None

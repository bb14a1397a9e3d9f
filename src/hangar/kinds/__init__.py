"""The types of operations: one file a kind, pure, never importing each other; KINDS is all there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hangar.domain.kind import Kind
from hangar.kinds import node_cordon, node_drain, node_uncordon

KINDS: Mapping[str, Kind[Any, Any]] = MappingProxyType(
    {kind.name: kind for kind in (node_cordon.KIND, node_uncordon.KIND, node_drain.KIND)}
)

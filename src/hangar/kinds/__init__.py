"""The types of operations: one file a kind, pure, never importing each other; KINDS and WORKLOAD_KINDS are all."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hangar.domain.kind import Kind
from hangar.domain.workloads.kind import AnyWorkloadKind
from hangar.kinds import (
    node_cordon,
    node_drain,
    node_uncordon,
    workload_drain,
    workload_pause,
    workload_resume,
    workload_scale,
    workload_undrain,
)

KINDS: Mapping[str, Kind[Any, Any]] = MappingProxyType(
    {kind.name: kind for kind in (node_cordon.KIND, node_uncordon.KIND, node_drain.KIND)}
)
"""What operators carry out."""

WORKLOAD_KINDS: Mapping[str, AnyWorkloadKind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            workload_scale.KIND,
            workload_pause.KIND,
            workload_resume.KIND,
            workload_drain.KIND,
            workload_undrain.KIND,
        )
    }
)
"""What the hub decides itself."""

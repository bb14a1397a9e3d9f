"""A workload as a simulated cluster keeps it: what it wants, and the controllers above its pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import OwnerRef
from hangar.operator.cluster.simulated.spec import WorkloadSpec


@dataclass(slots=True)
class Workload:
    """One workload.

    `made` counts the pods that were made of it; `is_starved` while not all that it wants are let in; `groups` are the
    groups that were whole, by number, each with the controller of its workers.
    """

    spec: WorkloadSpec
    replicas: int
    top: OwnerRef
    controller: OwnerRef
    made: int = 0
    is_starved: bool = False
    groups: dict[int, OwnerRef] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A pod that is to be made: its name and controller, its labels beside the template's, and where it goes."""

    name: str
    controller: OwnerRef
    labels: Mapping[str, str] = field(default_factory=dict)
    node: NodeName | None = None
    is_ready: bool = False

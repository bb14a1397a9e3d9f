"""What a pod demands of the node that it goes to, beyond amounts of resources: as its spec says it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

HOST_NAME = "kubernetes.io/hostname"

NAME_FIELD = "metadata.name"
"""A requirement on this key is on the node's name, not on a label."""


class SelectorOp(StrEnum):
    """The operators of a label selector."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition of a label selector."""

    key: str
    op: SelectorOp
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels meet the condition, by Kubernetes' rules (NotIn also holds where the key is missing)."""
        match self.op:
            case SelectorOp.IN:
                return labels.get(self.key) in self.values
            case SelectorOp.NOT_IN:
                return labels.get(self.key) not in self.values
            case SelectorOp.EXISTS:
                return self.key in labels
            case SelectorOp.DOES_NOT_EXIST:
                return self.key not in labels


ANY_LABEL = ("", "")
"""Stands for selectors to which no single label leads; no label has an empty key."""


def labels_to(selector: Iterable[Requirement]) -> list[tuple[str, str]]:
    """Return labels, key and value, of which whatever the selector selects has exactly one; else ANY_LABEL."""
    way = next((each for each in selector if each.op is SelectorOp.IN), None)
    return [ANY_LABEL] if way is None else [(way.key, value) for value in way.values]


class NodeOp(StrEnum):
    """The operators of a node affinity."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GREATER = "Gt"
    LESS = "Lt"


@dataclass(frozen=True, slots=True)
class NodeRequirement:
    """One condition on a node's label, or on its name where the key is NAME_FIELD."""

    key: str
    op: NodeOp
    values: tuple[str, ...] = ()


NodeTerm = tuple[NodeRequirement, ...]
"""All of its conditions must hold; of several terms one must. A term without conditions matches no node."""


@dataclass(frozen=True, slots=True)
class PodTerm:
    """Other pods, and the domain (nodes with one value of a label) in which they count; namespaces None: all."""

    topology_key: str
    selector: tuple[Requirement, ...]
    namespaces: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Spread:
    """A topology spread constraint with DoNotSchedule: no domain more than `max_skew` above the emptiest.

    `honors_affinity` and `honors_taints` say whether nodes that the pod could not go to are left out of the domains
    (nodeAffinityPolicy, nodeTaintsPolicy; Kubernetes' defaults). `min_domains` below which the emptiest counts as 0.
    """

    topology_key: str
    max_skew: int
    selector: tuple[Requirement, ...]
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port of the node that a pod takes for itself; an empty address or 0.0.0.0 is all of the node's."""

    port: int
    protocol: str = "TCP"
    address: str = ""


@dataclass(frozen=True, slots=True)
class Demands:
    """All that a pod demands beyond its requests, tolerations and node selector.

    `node_terms` are required node affinity (empty: none). `claims` are the names of the PersistentVolumeClaims in its
    namespace that it mounts. `has_device_claims`: it asks for devices by ResourceClaims, which we cannot weigh.
    """

    node_terms: tuple[NodeTerm, ...] = ()
    apart_from: tuple[PodTerm, ...] = ()
    near: tuple[PodTerm, ...] = ()
    spread: tuple[Spread, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    claims: frozenset[str] = frozenset()
    has_device_claims: bool = False


NO_DEMANDS = Demands()


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    """A PersistentVolumeClaim. `volume` is the volume it is bound to; `once` where it may be mounted on one node only.

    Without a volume it is bound when its first pod is placed, anywhere that its class can reach.
    """

    namespace: str
    name: str
    volume: str | None
    once: bool


@dataclass(frozen=True, slots=True)
class Volume:
    """A PersistentVolume: the nodes that can reach it, one of the terms (empty: all nodes)."""

    name: str
    node_terms: tuple[NodeTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """A ResourceQuota without scopes: most and present amounts by its own names (`requests.cpu`, `pods`, …)."""

    namespace: str
    name: str
    hard: Mapping[str, int]
    used: Mapping[str, int]

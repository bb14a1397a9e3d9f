"""What Kubernetes' access rules must grant for each operation, and how to ask whether they do."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from hangar.operator.cluster.kubernetes.translate_graph import GROUP, PLURAL
from hangar.operator.cluster.kubernetes.watched import (
    ADAPTERS,
    AUTOSCALERS,
    BUDGETS,
    CLAIMS,
    DEVICE_CLAIMS,
    DEVICE_SLICES,
    NODES,
    OWNERS,
    PODS,
    QUOTAS,
    SCALED_OBJECTS,
    VOLUMES,
)

PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True)
class Access:
    """One verb on one kind of object, in all namespaces; `subresource` is empty for the objects themselves."""

    group: str
    resource: str
    verb: str
    subresource: str = ""

    def review(self) -> dict[str, Any]:
        """Return the question whether we have this access, as the API server takes it."""
        attributes = {
            "group": self.group,
            "resource": self.resource,
            "verb": self.verb,
            "subresource": self.subresource,
        }
        kind = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
        return {**kind, "spec": {"resourceAttributes": attributes}}


def _reading(group: str, plural: str) -> tuple[Access, ...]:
    return tuple(Access(group, plural, verb) for verb in ("list", "watch"))


_NODES = (*_reading(NODES.group, NODES.plural), Access("", "nodes", "get"), Access("", "nodes", "patch"))
_PODS = (
    *_reading(PODS.group, PODS.plural),
    *_reading(BUDGETS.group, BUDGETS.plural),
    *(access for each in OWNERS for access in _reading(each.group, each.plural)),
)

_DRAIN = (*_NODES, *_PODS, Access("", "pods", "create", subresource="eviction"))
_GRAPHS = (*_reading(GROUP, PLURAL), Access(GROUP, PLURAL, "get"), Access(GROUP, PLURAL, "patch"))
_ADAPTERS = (
    *_reading(GROUP, ADAPTERS[0].plural),
    *(Access(GROUP, ADAPTERS[0].plural, verb, subresource="scale") for verb in ("get", "patch")),
)

NEEDED: Mapping[str, tuple[Access, ...]] = MappingProxyType(
    {
        "cordon": _NODES,
        "drain": _DRAIN,
        "force": (*_DRAIN, Access("", "pods", "delete")),
        "scale": (*_GRAPHS, *_ADAPTERS),
        "deploy": (*_GRAPHS, Access(GROUP, PLURAL, "create"), Access(GROUP, PLURAL, "delete")),
    }
)
"""By operation. Beside these the operator needs `get` on the namespace kube-system, which pins the cluster."""

FOR_THE_FIT: tuple[Access, ...] = tuple(
    access for each in (CLAIMS, VOLUMES, QUOTAS) for access in _reading(each.group, each.plural)
)
"""What makes the judgement whether pods fit more exact; without it nothing is refused."""

FOR_DEVICES: tuple[Access, ...] = tuple(
    access for each in (DEVICE_SLICES, DEVICE_CLAIMS) for access in _reading(each.group, each.plural)
)
"""What shows devices that drivers publish themselves; without it they are missing in listings of devices."""

FOR_RIVALS: tuple[Access, ...] = tuple(
    access for each in (AUTOSCALERS, SCALED_OBJECTS) for access in _reading(each.group, each.plural)
)
"""What shows which autoscalers write the numbers of graphs; without it they are not told of, and may undo a write."""

OPTIONAL: tuple[Access, ...] = (*FOR_THE_FIT, *FOR_RIVALS, *FOR_DEVICES)
"""What nothing waits for."""


class ReviewStatus(msgspec.Struct):
    """The API server's answer."""

    allowed: bool = False


class Review(msgspec.Struct):
    """The question with its answer."""

    status: ReviewStatus = msgspec.field(default_factory=ReviewStatus)

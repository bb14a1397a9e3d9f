"""What many pods have in common, kept once: labels, selectors, tolerations, requests and owners.

Pods of one template are alike word for word. Each wording is read once and its value shared, which is less to do at
each event, and a fraction of the memory of ten thousand pods.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from hangar.domain.ids import OwnerUid
from hangar.domain.placing import Demands
from hangar.domain.snapshot import EMPTY, NO_AMOUNTS, OwnerRef, Toleration
from hangar.operator.cluster.kubernetes import resources_pod

SHARED_MAX = 4096
"""Values of a sort that are remembered for sharing: more templates than a cluster has in use at a time."""

_STRINGS = msgspec.json.Decoder(dict[str, str])
_TOLERATIONS = msgspec.json.Decoder(tuple[resources_pod.Toleration, ...])


def strings(raw: msgspec.Raw) -> Mapping[str, str]:
    """Return a map of strings, such as labels; the same value for the same wording."""
    return _strings(bytes(raw)) if raw else EMPTY


def tolerations(raw: msgspec.Raw) -> tuple[Toleration, ...]:
    """Return tolerations; the same value for the same wording."""
    return _tolerations(bytes(raw)) if raw else ()


def amounts(held: Mapping[str, int]) -> Mapping[str, int]:
    """Return amounts; the same value for equal ones."""
    return _amounts(tuple(held.items())) if held else NO_AMOUNTS


@lru_cache(maxsize=SHARED_MAX)
def owner(kind: str, name: str, uid: str) -> OwnerRef:
    """Return a reference to an owner; the same value for the same owner."""
    return OwnerRef(kind, name, OwnerUid(uid))


@lru_cache(maxsize=SHARED_MAX)
def demands(equal: Demands) -> Demands:
    """Return demands; the same value for equal ones."""
    return equal


@lru_cache(maxsize=SHARED_MAX)
def _strings(raw: bytes) -> Mapping[str, str]:
    return MappingProxyType(_STRINGS.decode(raw))


@lru_cache(maxsize=SHARED_MAX)
def _tolerations(raw: bytes) -> tuple[Toleration, ...]:
    return tuple(Toleration(each.key, each.operator, each.value, each.effect) for each in _TOLERATIONS.decode(raw))


@lru_cache(maxsize=SHARED_MAX)
def _amounts(items: tuple[tuple[str, int], ...]) -> Mapping[str, int]:
    return MappingProxyType(dict(items))

"""Kubernetes' quantities (`100m`, `2Ti`, `1e3`) as integers: millicores of CPU, bytes, pieces."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

CPU_NAMES = frozenset({"cpu", "requests.cpu", "limits.cpu"})
"""What counts in millicores: a pod's CPU, and what a quota calls it."""

_SUFFIXES: Mapping[str, Fraction] = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    **{letter: Fraction(1000**power) for power, letter in enumerate("kMGTPE", start=1)},
    **{f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", start=1)},
}
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)")


@lru_cache(maxsize=4096)
def amount(resource: str, quantity: str) -> int:
    """Return a quantity in the smallest unit that is used, rounded up as Kubernetes does.

    Args:
        resource: The resource's full name: `cpu` counts in millicores, all others in ones (bytes, pieces).
        quantity: The text, such as `1500m`, `1.5`, `64Gi` or `1e3`.

    Raises:
        ValueError: The text is not a quantity.
    """
    parts = _QUANTITY.fullmatch(quantity)
    if parts is None:
        raise ValueError(f"{resource}: {quantity!r} is not a quantity")
    number, exponent, suffix = parts.groups()
    value = Fraction(number) * (Fraction(10) ** int(exponent) if exponent else _SUFFIXES[suffix or ""])
    if resource in CPU_NAMES:
        value *= 1000
    return -int(-value // 1)


def amounts(quantities: Mapping[str, str]) -> dict[str, int]:
    """Return quantities by resource as integers."""
    return {resource: amount(resource, quantity) for resource, quantity in quantities.items()}


def total(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of amounts, resource by resource."""
    summed: dict[str, int] = {}
    for part in parts:
        for resource, each in part.items():
            summed[resource] = summed.get(resource, 0) + each
    return summed


def largest(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Return the larger of two amounts, resource by resource."""
    return {name: max(first.get(name, 0), second.get(name, 0)) for name in {**first, **second}}

"""Durations as people write and read them: `90`, `90s`, `10m`, `1h30m`."""

from __future__ import annotations

_UNITS_S = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def parse_s(text: str) -> int:
    """Return a duration in whole seconds; a bare number counts seconds.

    Raises:
        ValueError: it is not a number, nor numbers with units from large to small (`1h30m`).
    """
    if text.isascii() and text.isdigit():
        return int(text)
    total_s, rest, units = 0, text, list(_UNITS_S)
    while rest:
        digits = len(rest) - len(rest.lstrip("0123456789"))
        unit = rest[digits : digits + 1]
        if digits == 0 or unit not in units:
            raise ValueError(f"{text!r} is not a duration; write 90, 90s, 10m or 1h30m")
        total_s += int(rest[:digits]) * _UNITS_S[unit]
        units = units[units.index(unit) + 1 :]
        rest = rest[digits + 1 :]
    if not text:
        raise ValueError("a duration cannot be empty; write 90, 90s, 10m or 1h30m")
    return total_s


def exact(seconds: float) -> str:
    """Return a duration with all its units: 5400 is `1h30m`, 0 is `0s`."""
    left = int(seconds)
    words = []
    for unit, size_s in _UNITS_S.items():
        count, left = divmod(left, size_s)
        if count:
            words.append(f"{count}{unit}")
    return "".join(words) or "0s"


def rough(seconds: float) -> str:
    """Return a duration short enough for a table: at most two units, the second only while it matters."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole}s"
    if whole < 600:
        return exact(whole)
    if whole < 3 * 3_600:
        return exact(whole - whole % 60)
    if whole < 2 * 86_400:
        return f"{whole // 3_600}h"
    return f"{whole // 86_400}d"

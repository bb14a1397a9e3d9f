"""How a field of the API is called on the command line."""

from __future__ import annotations

_NAMED = {"type": "TYPE", "target": "TARGET", "name": "NAME", "role": "--role", "expires_in_s": "--expires"}
_SECONDS = "_s"


def flag_of(name: str) -> str:
    """Return the flag for a field: `deadline_s` is `--deadline`."""
    return "--" + name.removesuffix(_SECONDS).replace("_", "-").lower()


def as_typed(path: str) -> str:
    """Return what people typed for a path of the API: `params.deadline_s` is `--deadline`, `target` is `TARGET`.

    A path that no command line has, such as `params.a.b`, stays as it is.
    """
    if path in _NAMED:
        return _NAMED[path]
    where, dot, name = path.rpartition(".")
    if (not dot and path in ("cluster", "reason")) or where in ("params", "query", "header"):
        return flag_of(name)
    return path

"""The rule on limits.py: each bound has a unit in its name, and its reason below it."""

import ast
from collections.abc import Iterable, Sequence

from tests.tidy.finding import Finding, Rule
from tests.tidy.tree import Module

PATH = "src/hangar/domain/limits.py"
UNITS = frozenset({"S", "MS", "US", "BYTES", "CHARS", "PERCENT"})
"""Words that are units by themselves; what is counted stands in the plural: ROWS, WRITES, THREADS."""


def unclear_limits(modules: Sequence[Module]) -> Iterable[Finding]:
    """Find limits without a unit, and those without a reason."""
    for module in modules:
        if module.path != PATH:
            continue
        body = module.syntax.body
        for node, after in zip(body, [*body[1:], None], strict=True):
            for name in _names_of(node):
                if not any(word in UNITS or _is_plural(word) for word in name.split("_")):
                    yield Finding(PATH, node.lineno, f"{name} has no unit in its name", f"{name}::unit")
                if not _is_docstring(after):
                    yield Finding(PATH, node.lineno, f"{name} has no reason below it", f"{name}::reason")


def _names_of(node: ast.stmt) -> list[str]:
    match node:
        case ast.Assign(targets=targets):
            return [each.id for each in targets if isinstance(each, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("S") and not word.endswith("SS")


def _is_docstring(node: ast.stmt | None) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case _:
            return False


RULES = (
    Rule(
        "limit",
        "a bound without its unit is misread one day, and one without its reason is never changed again",
        unclear_limits,
    ),
)

"""What only the source text says: the constants' reasons, and the codes with which operations end."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RESULTS = (
    "src/hangar/domain/**/*.py",
    "src/hangar/kinds/*.py",
    "src/hangar/operator/conductor.py",
    "src/hangar/hub/usecases/*.py",
    "src/hangar/wire/operator.py",
)
"""Where results are made: every code is a literal that is given, somewhere here, for a parameter named `code`."""

REASONS = ("src/hangar/hub/present.py", "src/hangar/wire/shown.py")
"""Where the reasons of open operations are made."""

NOT_RESULTS = frozenset({"Blocker", "BlockerDoc", "blocker"})
"""Their codes are those of `hangar.domain.blockers.SENTENCES`."""

PARAMETER = "code"


class UnseenCodeError(Exception):
    """A code that is neither a literal nor handed on: the reference could not name it."""


@dataclass(frozen=True)
class Limit:
    """One constant of limits.py: its section, its name, its reason."""

    section: str
    name: str
    reason: str


def limits() -> Iterator[Limit]:
    """Yield every constant of limits.py, in its order."""
    text = (ROOT / "src/hangar/domain/limits.py").read_text(encoding="utf-8")
    sections = {
        number: line.strip("# -") for number, line in enumerate(text.splitlines(), 1) if line.startswith("# ---")
    }
    body = ast.parse(text).body
    for node, after in pairwise(body):
        if isinstance(node, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            section = sections[max(number for number in sections if number < node.lineno)]
            (target,) = node.targets
            yield Limit(section, ast.unparse(target), str(after.value.value))


def literal_codes(patterns: Iterable[str]) -> dict[str, list[str]]:
    """Return each code that is made in some files, with the files, sorted. Raises UnseenCodeError."""
    paths = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    modules = {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    return codes_in(modules)


def codes_in(modules: Mapping[str, ast.Module]) -> dict[str, list[str]]:
    """Return each code that modules make, with the modules. Raises UnseenCodeError."""
    takers = {path: dict(_takers(module)) for path, module in modules.items()}
    public = {name: place for each in takers.values() for name, place in each.items() if not name.startswith("_")}
    found: dict[str, set[str]] = {}
    for path, module in modules.items():
        for given, scope in _given(module, public | takers[path]):
            for code in _literals(given, scope, path):
                found.setdefault(code, set()).add(path)
    return {code: sorted(found[code]) for code in sorted(found)}


def _takers(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the functions and classes of a module that take a code, with its place among their arguments."""
    for node in ast.walk(module):
        match node:
            case ast.FunctionDef(name=name, args=arguments):
                names = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            case ast.ClassDef(name=name, body=body):
                names = [ast.unparse(each.target) for each in body if isinstance(each, ast.AnnAssign)]
            case _:
                continue
        if PARAMETER in names and name not in NOT_RESULTS:
            yield name, names.index(PARAMETER)


def _given(module: ast.Module, takers: Mapping[str, int]) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Yield what is given as a code, and the function, or statement of the module, in which it is."""
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    statements = [node for node in module.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for scope in [*functions, *statements]:
        for node in ast.walk(scope):
            if not isinstance(node, ast.Call) or (name := _last_name(node.func)) not in takers:
                continue
            place = takers[name]
            named = [each.value for each in node.keywords if each.arg == PARAMETER]
            given = named or node.args[place : place + 1]
            yield from ((each, scope) for each in given)


def _literals(given: ast.expr, scope: ast.AST, path: str) -> Sequence[str]:
    match given:
        case ast.Constant(value=str(code)):
            return [code]
        case ast.IfExp(body=one, orelse=other):
            return [*_literals(one, scope, path), *_literals(other, scope, path)]
        case ast.Attribute(attr="code") | ast.Subscript(slice=ast.Constant(value="code")):
            return []  # handed on: it was a literal where it was made
        case ast.Attribute(value=ast.Name(id="phase"), attr="value"):
            return []  # where there is no other, the phase's own name
        case ast.Name(id=name) if (values := _assigned(name, scope)) or name == PARAMETER:
            return [code for each in values for code in _literals(each, scope, path)]
        case _:
            raise UnseenCodeError(f"{path}:{given.lineno}: {ast.unparse(given)} is no literal")


def _assigned(name: str, scope: ast.AST) -> list[ast.expr]:
    return [
        node.value
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == name for target in node.targets)
    ]


def _last_name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""

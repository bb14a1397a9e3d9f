"""Rules on the code of one module at a time, read from its syntax tree."""

import ast
import re
from collections.abc import Iterator

from tests.tidy.finding import Finding, Rule, each_module
from tests.tidy.tree import Module

FUNCTION_LINES_MAX = 50
FILE_LINES_MAX = 400

TWO_LOOPS = {"src/hangar/operator/loop.py": 1, "src/hangar/hub/store/writer.py": 1}
"""The operator's turn and the hub's writer: they outlive whatever one turn or one job does."""

READ_THE_TIME = re.compile(r"src/hangar/(clock\.py|cli/.*)")
"""The one place that reads it; and hgr, which has no virtual time and does not import what hgr need not."""

CLOCKS = {
    "time": {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "localtime", "gmtime"},
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
}

PURE = re.compile(r"src/hangar/(domain|kinds)/")
PURE_IMPORTS = frozenset(
    {
        *("abc", "bisect", "collections", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools"),
        *("hangar", "heapq", "itertools", "math", "operator", "re", "string", "types", "typing"),
    }
)
"""An allow-list beside the layers' deny-list: a module that nobody thought of is refused too."""


def long_functions(module: Module) -> Iterator[Finding]:
    """Find functions of more than FUNCTION_LINES_MAX lines, docstring and decorators included."""
    for name, node in functions(module.syntax):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        lines = (node.end_lineno or first) - first + 1
        if lines > FUNCTION_LINES_MAX:
            yield Finding(module.path, first, f"{name} has {lines} lines", f"{module.path}::{name}", lines)


def long_files(module: Module) -> Iterator[Finding]:
    """Find files of more than FILE_LINES_MAX lines."""
    lines = module.text.count("\n")
    if lines > FILE_LINES_MAX:
        yield Finding(module.path, 1, f"it has {lines} lines", module.path, lines)


def sleeps(module: Module) -> Iterator[Finding]:
    """Find tests that sleep; `sleep(0)` only lets others run."""
    if not module.is_test:
        return
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Call) and _last_name(node.func) == "sleep" and not _is_zero(node.args):
            yield Finding(module.path, node.lineno, "it sleeps", module.path)


def broad_excepts(module: Module) -> Iterator[Finding]:
    """Find what swallows everything, outside the two loops; a handler that raises again swallows nothing."""
    lines = []
    for node in ast.walk(module.syntax):
        match node:
            case ast.ExceptHandler(body=[*_, ast.Raise(exc=None)]):
                pass
            case ast.ExceptHandler(type=caught) if _is_broad(caught):
                lines.append(node.lineno)
            case ast.Call(func=called, args=caught) if _last_name(called) == "suppress" and any(map(_is_broad, caught)):
                lines.append(node.lineno)
            case _:
                pass
    for line in sorted(lines)[TWO_LOOPS.get(module.path, 0) :]:
        yield Finding(module.path, line, "it catches everything", module.path)


def clocks(module: Module) -> Iterator[Finding]:
    """Find product code that reads the time outside clock.py."""
    if not module.is_product or READ_THE_TIME.fullmatch(module.path):
        return
    for node in ast.walk(module.syntax):
        match node:
            case ast.Attribute(value=ast.Name(id=of) | ast.Attribute(attr=of), attr=name) if name in CLOCKS.get(of, ()):
                yield Finding(module.path, node.lineno, f"it reads the time by {of}.{name}", module.path)
            case ast.ImportFrom(module="time", names=names):
                for each in names:
                    if each.name in CLOCKS["time"]:
                        yield Finding(module.path, node.lineno, f"it reads the time by {each.name}", module.path)
            case _:
                pass


def anys(module: Module) -> Iterator[Finding]:
    """Find `Any` in the product's code, each use of it."""
    if not module.is_product:
        return
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Name | ast.Attribute) and _last_name(node) == "Any":
            yield Finding(module.path, node.lineno, "it says Any", module.path)


def openings(module: Module) -> Iterator[Finding]:
    """Find modules that do not open with one sentence."""
    docstring = ast.get_docstring(module.syntax) or ""
    first = docstring.partition("\n\n")[0].replace("\n", " ")
    if not first.endswith((".", "!", "?")):
        yield Finding(module.path, 1, "it does not open with a sentence", module.path)
    elif re.search(r"[.!?] +[A-Z]", first):
        yield Finding(module.path, 1, "it opens with more than one sentence", module.path)


def impure_imports(module: Module) -> Iterator[Finding]:
    """Find imports in the pure packages that are not on their list."""
    if not PURE.match(module.path):
        return
    for node in ast.walk(module.syntax):
        match node:
            case ast.Import(names=imported):
                names = [each.name for each in imported]
            case ast.ImportFrom(module=str(name)):
                names = [name]
            case _:
                continue
        for name in names:
            if name.partition(".")[0] not in PURE_IMPORTS:
                yield Finding(module.path, node.lineno, f"it imports {name}", f"{module.path}::{name}")


def functions(syntax: ast.AST, inside: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function, also methods and inner ones, with its dotted name."""
    for node in ast.iter_child_nodes(syntax):
        name = inside
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{inside}.{node.name}" if inside else node.name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, node
        yield from functions(node, name)


def _last_name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_zero(arguments: list[ast.expr]) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], ast.Constant) and arguments[0].value == 0


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(_is_broad, caught.elts))
    return caught is None or _last_name(caught) in ("Exception", "BaseException")


RULES = (
    Rule(
        "function-length",
        f"a function of more than {FUNCTION_LINES_MAX} lines does more than its name says",
        each_module(long_functions),
    ),
    Rule(
        "file-length",
        f"a file of more than {FILE_LINES_MAX} lines is two files: nobody reads it in one go",
        each_module(long_files),
    ),
    Rule(
        "sleep",
        "a test that sleeps is slow on a good day and fails on a bad one: let time be virtual, or wait for an event",
        each_module(sleeps),
    ),
    Rule(
        "broad-except",
        "only the two loops may outlive what they did not foresee; elsewhere it would hide a bug",
        each_module(broad_excepts),
    ),
    Rule(
        "clock",
        "time is read in clock.py alone and handed in, so that tests can let it pass as they like",
        each_module(clocks),
    ),
    Rule(
        "any",
        "Any switches the type checker off, for all that is made of it; give it a type, or turn JSON into one",
        each_module(anys),
    ),
    Rule(
        "opening",
        "a module opens with one sentence that a newcomer could repeat to somebody else",
        each_module(openings),
    ),
    Rule(
        "pure-import",
        "what decides is pure: it can be tested, replayed and swept only without the world outside",
        each_module(impure_imports),
    ),
)

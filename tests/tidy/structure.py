"""Rules on the tree as a whole: nothing is unreachable, and every module has its test."""

import ast
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache

import grimp

from tests.tidy.code import functions
from tests.tidy.finding import Finding, Rule
from tests.tidy.tree import Module, texts

LOADED_BY_NAME = ("hangar.hub.store.migrations*",)
"""Alembic finds its files by their place, not by an import."""

EDGES: Mapping[str, str] = {
    "*/__init__.py": "says what a package is",
    "*/__main__.py": "is a root: it puts the parts together, and is run as a whole by the demo and the transcripts",
    "src/hangar/wire/*": "declares what crosses a process; the contract tests tie it to the bytes",
    "src/hangar/operator/cluster/*": "is a port or its adapters, judged by one contract suite",
    "src/hangar/hub/api/*": "are routes, judged through HTTP as a whole",
    "src/hangar/hub/store/*": "is the store, judged by one contract suite on SQLite and PostgreSQL",
    "src/hangar/demo/*": "is run as a whole by the transcripts",
}
"""Where a test of the whole says more than one test file a module."""


@cache
def _imports() -> dict[str, frozenset[str]]:
    graph = grimp.build_graph("hangar", cache_dir=None)
    return {module: frozenset(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def _roots(imports: Mapping[str, frozenset[str]]) -> set[str]:
    scripts = tomllib.loads(texts()["pyproject.toml"])["project"]["scripts"].values()
    named = {script.partition(":")[0] for script in scripts}
    return {module for module in imports if module in named or module.endswith(".__main__")}


def unreachable(imports: Mapping[str, frozenset[str]], roots: Iterable[str]) -> Iterable[Finding]:
    """Find modules that no root imports, be it by way of others."""
    open_, reached = list(roots), set[str]()
    while open_:
        module = open_.pop()
        if module in reached or module not in imports:
            continue
        reached.add(module)
        open_ += imports[module]
        open_ += [module.rpartition(".")[0]]  # importing a module imports its packages
    for module in sorted(imports.keys() - reached):
        if not any(fnmatchcase(module, pattern) for pattern in LOADED_BY_NAME):
            yield Finding(_path_of(module), 1, f"no root imports {module}", module)


def _path_of(module: str) -> str:
    path = f"src/{module.replace('.', '/')}"
    return f"{path}.py" if f"{path}.py" in texts() else f"{path}/__init__.py"


def untested(modules: Sequence[Module]) -> Iterable[Finding]:
    """Find modules with code of their own, outside the edges, that have no test file of their name."""
    there = {module.path for module in modules}
    for module in modules:
        if not module.is_product or any(fnmatchcase(module.path, pattern) for pattern in EDGES):
            continue
        folder, _, name = module.path.removeprefix("src/hangar/").rpartition("/")
        wanted = "/".join(filter(None, ("tests", folder, f"test_{name}")))
        if _has_code(module.syntax) and wanted not in there:
            yield Finding(module.path, 1, f"{wanted} is missing", module.path)


def _has_code(syntax: ast.Module) -> bool:
    """Tell whether there is a function besides those that only put an object together."""
    return any(not name.rpartition(".")[2].startswith("__") for name, _ in functions(syntax))


def _unreachable(_modules: Sequence[Module]) -> Iterable[Finding]:
    return unreachable(_imports(), _roots(_imports()))


RULES = (
    Rule(
        "unreachable",
        "what no root imports does not run: it is dead, or somebody forgot to put it to use",
        _unreachable,
    ),
    Rule("mirror", "the test of a module is found by the module's name, or it is not found", untested),
)

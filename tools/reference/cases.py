"""The page of cases: what went wrong with drains elsewhere, what is right, and the tests that show it here.

The words are in `cases.toml`; which test shows which case is what the docstrings of the tests say.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.reference.markdown import page, table
from tools.reference.sources import ROOT

DATA = Path(__file__).with_name("cases.toml")
NAMED = re.compile(r"\A((?:C\d\d(?:, )?)+)[:.]")


@dataclass(frozen=True, slots=True)
class Case:
    """One case in our words. `seen_in` are public threads, as OWNER/REPOSITORY#NUMBER."""

    name: str
    seen_in: Sequence[str]
    symptom: str
    outcome: str
    part: str = ""
    out_of_scope: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Shown:
    """A test that shows a case: its file below the root, and its name there."""

    path: str
    test: str


def cases() -> list[Case]:
    """Return all cases, by their names."""
    return [Case(name, **fields) for name, fields in tomllib.loads(DATA.read_text(encoding="utf-8")).items()]


@cache
def shown() -> Mapping[str, Sequence[Shown]]:
    """Return the tests that name each case in the first words of their docstrings."""
    found: dict[str, list[Shown]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for test, names in named_in(ast.parse(text)):
            for name in names:
                found.setdefault(name, []).append(Shown(str(path.relative_to(ROOT)), test))
    return {name: sorted(tests) for name, tests in found.items()}


def named_in(module: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """Yield each test or scene of a module that names cases, with their names: `C01, C02: one sentence`."""
    for node in ast.walk(module):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not _is_judged(node):
            continue
        named = NAMED.match(ast.get_docstring(node) or "")
        if named is not None:
            yield node.name, named.group(1).split(", ")


def _is_judged(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    scenes = (each.id for each in node.decorator_list if isinstance(each, ast.Name))
    return node.name.startswith("test_") or "scene" in scenes


def cases_page() -> str:
    """Return the page of cases."""
    here = [each for each in cases() if not each.out_of_scope]
    rows = [
        (each.name, _threads(each), each.symptom, _outcome(each), _tests(shown().get(each.name, ()))) for each in here
    ]
    others = [(each.name, _threads(each), each.symptom, each.out_of_scope) for each in cases() if each.out_of_scope]
    return page(
        "Cases",
        "What people have reported of drains with other tools, in public, in our own words; what is right; and the "
        "tests that show it here. A case without a test fails the build. Which thread it was seen in says nothing of "
        "how that tool behaves today.",
        table(("case", "seen in", "what was seen", "what is right", "shown by"), rows),
        "## Not shown here",
        table(("case", "seen in", "what was seen", "why not"), others),
    )


def _threads(case: Case) -> str:
    return ", ".join(f"[{each}](https://github.com/{each.replace('#', '/issues/')})" for each in case.seen_in)


def _outcome(case: Case) -> str:
    return f"{case.outcome} In part: {case.part}." if case.part else case.outcome


def _tests(tests: Sequence[Shown]) -> str:
    paths = sorted({each.path for each in tests})
    return "<br>".join(f"[{path.removeprefix('tests/')}](../../{path})" for path in paths)

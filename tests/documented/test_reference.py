"""The reference is what the code says today, and has everything that a user can meet."""

import dataclasses
import re
from pathlib import Path

import pytest

from hangar.cli.exits import Exit
from hangar.cli.flags import flag_of
from hangar.cli.kind_flags import ALL
from hangar.cli.nouns import COMMANDS, NOUNS
from hangar.domain.blockers import SENTENCES
from hangar.hub.principals import Role
from hangar.hub.settings import HubSettings
from hangar.hub.store.tx import EventType
from hangar.operator.settings import OperatorSettings
from hangar.telemetry.metrics import HUB, OPERATOR
from hangar.wire.problems import ProblemCode
from tests.documented.pages import pages, read
from tests.tidy.tree import ROOT, texts
from tools.reference import phases, sources
from tools.reference.pages import FOLDER
from tools.reference.pages import pages as written_today

VARIABLE = re.compile(r"\b(?:HGR|HANGAR)_[A-Z_]+[A-Z]\b")


def page(name: str) -> str:
    return read(f"{FOLDER}/{name}")


def test_the_pages_are_those_of_today() -> None:
    there = {path: text for path, text in pages().items() if path.startswith(f"{FOLDER}/")}
    today = written_today()
    stale = sorted(path for path in there.keys() | today.keys() if there.get(path) != today.get(path))
    if stale:
        pytest.fail("\n".join([*stale, "these differ from the code: make docs"]), pytrace=False)


def test_the_diagram_of_phases_is_that_of_the_table() -> None:
    text = read(phases.PAGE)
    assert phases.drawn_in(text) == text
    assert "pending --> running" in phases.diagram()
    assert "succeeded --> running" not in phases.diagram()


@pytest.mark.parametrize("kind", ALL.values(), ids=lambda kind: kind.name)
def test_every_kind_is_there_with_its_parameters_and_flags(kind: object) -> None:
    name, params = str(getattr(kind, "name", "")), getattr(kind, "params", None)
    assert isinstance(params, type)
    text = page("kinds.md")
    assert f"## {name}\n" in text
    for field in dataclasses.fields(params):
        assert f"| `{field.name}` | `{flag_of(field.name)}` |" in text
        assert flag_of(field.name) in page("command-line.md")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("exit-codes.md", [str(int(each)) for each in Exit]),
        ("problems.md", [each.code for each in ProblemCode]),
        ("blockers.md", list(SENTENCES)),
        ("results.md", [*sources.literal_codes(sources.RESULTS), *sources.literal_codes(sources.REASONS)]),
        ("events.md", [each.value for each in EventType]),
        ("roles.md", [each.value for each in Role]),
        ("limits.md", [each.name for each in sources.limits()]),
        ("metrics.md", [each.name for each in (*HUB, *OPERATOR)]),
        (
            "settings.md",
            [f"HANGAR_{name.upper()}" for of in (HubSettings, OperatorSettings) for name in of.model_fields],
        ),
    ],
)
def test_every_word_is_there(name: str, words: list[str]) -> None:
    text = page(name)
    assert len(words) > 3
    assert [word for word in words if f"`{word}`" not in text] == []


def test_every_constant_of_limits_is_taken_in() -> None:
    named = re.findall(r"^([A-Z][A-Z_]+)\b.* = ", texts()["src/hangar/domain/limits.py"], flags=re.MULTILINE)
    assert [each.name for each in sources.limits()] == named


def test_every_limit_is_one_that_something_keeps() -> None:
    product = "\n".join(
        text for path, text in texts().items() if path.startswith("src/") and not path.endswith("domain/limits.py")
    )
    assert [each.name for each in sources.limits() if not re.search(rf"\b{each.name}\b", product)] == []


def test_every_variable_that_hgr_reads_is_there() -> None:
    code = "\n".join(text for path, text in texts().items() if path.startswith("src/hangar/cli/"))
    assert set(VARIABLE.findall(code)) <= set(VARIABLE.findall(page("settings.md")))


def test_every_variable_that_a_page_names_is_one_that_is_read() -> None:
    known = set(VARIABLE.findall(page("settings.md")))
    assert {
        (path, name) for path, text in pages().items() for name in VARIABLE.findall(text) if name not in known
    } == set()


def test_every_noun_and_command_has_its_chapter() -> None:
    text = page("command-line.md")
    assert [name for name in (*NOUNS, *COMMANDS) if f"\n## hgr {name}\n" not in text] == []


def test_every_module_with_verbs_is_that_of_a_noun() -> None:
    modules = {path.stem for path in (Path(ROOT) / "src/hangar/cli").glob("*.py") if "VERBS = {" in path.read_text()}
    assert modules == set(NOUNS)

"""The pages hold together: links, files that they name, lengths, the form of decisions, the rules of style."""

import re
from pathlib import PurePosixPath
from typing import get_args

import pytest

from hangar.domain.decision import Step
from tests.documented.pages import CODE, LINK, anchors, pages, prose, read
from tests.tidy.test_tidy import RULES
from tests.tidy.tree import texts

LINES_MAX = {"ARCHITECTURE.md": 200, "STYLE.md": 150}
FIRST_SCREEN_LINES_MAX = 40
PAGE_LINES_MAX = 60
PAGE_WORDS_MAX = 480
PARTS = ["Context", "Decision", "Alternatives", "Consequences", "What would change our mind"]
FILE = re.compile(r"[\w./-]*\w\.(?:py|toml|md)|(?:src|tests|tools|docs|testbed)/[\w./-]*")

DECISIONS = sorted(page for page in pages() if page.startswith("docs/decisions/"))


@pytest.mark.parametrize("page", sorted(pages()))
def test_every_link_leads_somewhere(page: str) -> None:
    broken = []
    for target in LINK.findall(prose(pages()[page])):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        found = _resolved(page, path) if path else page
        is_folder = any(each.startswith(f"{found}/") for each in texts())
        if (found not in texts() and not is_folder) or (anchor and anchor not in anchors(texts()[found])):
            broken.append(target)
    assert broken == []


def _resolved(page: str, path: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(page).parent / path).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def test_headings_become_anchors_as_they_do_where_pages_are_read() -> None:
    assert anchors("# 1. A `code_x`, and [more](x.md)\n\n## Same\n\n## Same\n") == {
        "1-a-code_x-and-more",
        "same",
        "same-1",
    }


@pytest.mark.parametrize("page", sorted(pages()))
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    named = [code for code in CODE.findall(prose(pages()[page])) if FILE.fullmatch(code)]
    paths = [f"/{path}" for path in texts()]
    missing = [name for name in named if not any(f"/{name.strip('/')}" in path for path in paths)]
    assert [name for name in missing if name not in ("operator.yaml", "hgr/config.toml")] == []


@pytest.mark.parametrize(("page", "lines_max"), LINES_MAX.items())
def test_a_page_that_is_to_be_read_in_one_go_is_short(page: str, lines_max: int) -> None:
    assert read(page).count("\n") <= lines_max


def test_the_readme_shows_what_it_is_on_the_first_screen() -> None:
    first = read("README.md").partition("\n## ")[0]
    assert first.count("\n") <= FIRST_SCREEN_LINES_MAX
    assert "```console" in first


def test_the_readme_names_all_that_is_ever_done_to_a_cluster() -> None:
    sentence = next(line for line in read("README.md").splitlines() if line.startswith("It takes "))
    assert sorted(re.findall(r"\*\*(\w+)\*\*", sentence)) == sorted(step.__name__.lower() for step in get_args(Step))


def test_decisions_are_numbered_without_gaps() -> None:
    assert [page.rpartition("/")[2][:4] for page in DECISIONS] == [f"{n:04d}" for n in range(1, len(DECISIONS) + 1)]


@pytest.mark.parametrize("page", DECISIONS)
def test_a_decision_is_one_page_and_says_what_would_change_it(page: str) -> None:
    text = read(page)
    assert text.startswith(f"# {int(page.rpartition('/')[2][:4])}. ")
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == PARTS
    assert text.count("\n") <= PAGE_LINES_MAX
    assert len(text.split()) <= PAGE_WORDS_MAX


def test_every_rule_of_tidy_is_in_the_style_and_no_other() -> None:
    named = re.findall(r"checked: `([\w-]+)`", read("STYLE.md"))
    assert {rule.name for rule in RULES} - set(named) == set()


def test_every_rule_of_style_says_who_judges() -> None:
    rules = [line for line in read("STYLE.md").partition("## Names")[2].splitlines() if line.startswith("- ")]
    assert [rule for rule in rules if "(checked" not in rule and "(judged" not in rule] == []

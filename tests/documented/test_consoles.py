"""What the pages' consoles show is what the demo fleet prints."""

import pytest

from tests.documented import consoles
from tests.documented.consoles import Command, commands_in, commands_of, comparable, differences
from tests.documented.pages import pages, read

PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/how-to/a-stuck-drain.md",
    "docs/how-to/read-a-plan.md",
    "docs/how-to/take-a-rack-out.md",
    "docs/how-to/use-hgr-in-scripts.md",
)


@pytest.mark.parametrize("page", PAGES)
def test_a_console_prints_what_the_page_shows(page: str) -> None:
    found = differences(read(page))
    if found:
        pytest.fail("\n".join([*found, f"python -m tests.documented {page} writes it down anew"]), pytrace=False)


def test_no_page_has_a_console_that_nobody_runs() -> None:
    assert {page for page, text in pages().items() if commands_of(text)} - {"docs/manual.md"} == set(PAGES)


def test_a_command_is_what_follows_the_dollar_and_its_output_what_comes_below() -> None:
    assert commands_in("$ a \\\n  b\none\ntwo\n$ c\n") == [Command("a \\\n  b", "one\ntwo\n"), Command("c", "")]


def test_two_runs_are_compared_without_ids_instants_and_durations() -> None:
    one = comparable("op_01M8PNYFY7MD3WH1RQJRHSW307  done (2s) at 2026-11-30T16:52:26Z\nversion: 12\n")
    other = comparable("op_01M8PNYFY7MD3WH1RQJRHSW999 done (31s) at 2027-01-01T00:00:00Z\nversion: 7\n")
    assert one == other
    assert comparable("evicted 1/3") != comparable("evicted 2/3")


def test_a_page_that_is_wrong_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consoles, "run", lambda lines: ["today\n"] * len(lines))
    assert differences("```console\n$ hgr version\nyesterday\n```\n") != []
    assert differences("```console\n$ hgr version\ntoday\n```\n") == []

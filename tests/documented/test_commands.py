"""Every command and flag that a page names is one that the programs take."""

import re
import tomllib

import pytest

from hangar.cli.nouns import COMMANDS, NOUNS, WORDS, verbs_of
from hangar.hub.__main__ import _parser as hub_parser
from tests.documented.commands import FLAG, Named, in_blocks, in_prose, known_flags, lines_of, why_hgr_refuses
from tests.documented.consoles import run
from tests.documented.pages import read

OTHERS = frozenset({"--cacert", "--from-file", "--show-managed-fields"})
"""Flags of other programs."""


def test_every_call_of_hgr_would_be_taken() -> None:
    calls = in_blocks("hgr")
    assert len(calls) > 40
    assert [(call, why) for call in calls if (why := why_hgr_refuses(call.words))] == []


def test_a_call_that_hgr_refuses_is_noticed() -> None:
    assert why_hgr_refuses(("node", "ls", "--no-such-flag")) is not None
    assert why_hgr_refuses(("operation", "create", "node.reboot", "n1")) is not None
    assert why_hgr_refuses(("nodes", "ls")) is not None
    assert why_hgr_refuses(("login", "a", "b")) is not None
    assert why_hgr_refuses(("operation", "create", "node.drain", "n1", "--wait")) is None
    assert why_hgr_refuses(("login", "https://hub.example")) is None


def test_every_call_of_the_hub_would_be_taken() -> None:
    calls = in_blocks("hangar-server")
    assert calls
    for call in calls:
        hub_parser().parse_args(list(call.words))


@pytest.mark.parametrize("named", in_prose("hgr "), ids=lambda named: " ".join(named.words))
def test_a_noun_and_a_verb_in_running_text_are_there(named: Named) -> None:
    _, *words = named.words
    if words[0] == "…" or words[0] in (*WORDS, *COMMANDS, "NOUN"):
        return
    assert words[0] in NOUNS
    verb = words[1] if len(words) > 1 else "ls"
    assert verb in verbs_of(words[0])


def test_every_flag_in_running_text_is_there() -> None:
    named = [(each.page, word) for each in [*in_prose("--"), *in_prose("hgr ")] for word in each.words]
    flags = [(page, flag) for page, word in named if (flag := word.partition("=")[0]) and FLAG.fullmatch(flag)]
    assert len(flags) > 10
    assert [(page, flag) for page, flag in flags if flag not in known_flags() | OTHERS] == []


def test_the_commands_of_the_readme_run_as_they_stand() -> None:
    lines = list(lines_of("README.md", re.sub(r"```console.*?```", "", read("README.md"), flags=re.DOTALL)))
    targets = re.findall(r"^([\w-]+):", read("Makefile"), flags=re.MULTILINE)
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    on_demo = []
    for line in lines:
        match line.split(" "):
            case ["make", target]:
                assert target in targets  # itself what runs this test, or what runs until it is stopped
            case ["python3", "-m", "pip", "install", what]:
                assert what == "." or what.strip('"').removeprefix(".[").removesuffix("]") in extras
            case ["export", place]:
                assert place == 'PATH="$PWD/.venv/bin:$PATH"'
            case ["hgr", *_]:
                on_demo.append(line)
            case _:
                pytest.fail(f"nobody runs {line!r}")
    assert len(on_demo) >= 3
    printed = run([f"{line} || echo it failed with $?" for line in on_demo])
    assert [each for each in printed if not each or "it failed with" in each] == []

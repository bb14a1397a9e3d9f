"""hgr explains itself: its nouns, their verbs, each verb, and the exit codes."""

import pytest

from hangar.cli.exits import Exit
from hangar.cli.nouns import COMMANDS, NOUNS, verbs_of
from tests.cli.conftest import Hgr

ALL_VERBS = [(noun, verb) for noun in NOUNS for verb in verbs_of(noun)]


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("help",), ("--help", "node"), ("--server", "x", "--help")])
def test_help_lists_the_nouns(hgr: Hgr, words: tuple[str, ...]) -> None:
    ran = hgr(*words)
    assert (ran.code, ran.err) == (0, "")
    assert "usage: hgr" in ran.out


@pytest.mark.parametrize("noun", NOUNS)
def test_each_noun_lists_its_verbs(hgr: Hgr, noun: str) -> None:
    for words in ((noun, "--help"), ("help", noun)):
        ran = hgr(*words)
        assert ran.code == 0
        assert all(f"\n  {verb} " in ran.out for verb in verbs_of(noun))


@pytest.mark.parametrize(("noun", "verb"), ALL_VERBS)
def test_each_verb_explains_itself(hgr: Hgr, noun: str, verb: str) -> None:
    for words in ((noun, verb, "--help"), ("help", noun, verb)):
        ran = hgr(*words)
        assert ran.code == 0
        assert ran.out.startswith(f"usage: hgr {noun} {verb}")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(hgr: Hgr, command: str) -> None:
    for words in ((command, "--help"), ("help", command)):
        ran = hgr(*words)
        assert ran.code == 0
        assert ran.out.startswith(f"usage: hgr {command} ")
        assert COMMANDS[command] in hgr("--help").out


def test_the_exit_codes_are_printed_from_their_table(hgr: Hgr) -> None:
    lines = hgr("help", "exit-codes").out.splitlines()
    assert [(int(line[:3]), line[5:]) for line in lines] == [(code.value, code.meaning) for code in Exit]

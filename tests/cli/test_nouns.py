"""The nouns, and the verbs that the design promises for each."""

import pytest

from hangar.cli.nouns import COMMANDS, NOUNS, command_of, verbs_of


def test_each_noun_has_the_verbs_of_the_design() -> None:
    assert {noun: list(verbs_of(noun)) for noun in NOUNS} == {
        "operation": ["create", "ls", "get", "wait", "cancel", "events"],
        "workload": ["ls", "get", "apply", "scale", "pause", "resume", "delete"],
        "deployment": ["ls"],
        "node": ["ls", "get"],
        "device": ["ls"],
        "cluster": ["ls", "get"],
        "project": ["ls", "get", "apply", "delete"],
        "quota": ["ls"],
        "event": ["ls"],
        "token": ["create", "ls", "revoke"],
        "context": ["ls", "current", "use", "set", "rm"],
    }


def test_each_command_is_there_and_is_told_of_in_the_same_words() -> None:
    assert list(COMMANDS) == ["login", "completion"]
    assert {name: command_of(name).summary for name in COMMANDS} == COMMANDS


def test_what_is_no_noun_has_no_verbs() -> None:
    with pytest.raises(KeyError):
        verbs_of("nonsense")
    with pytest.raises(KeyError):
        command_of("nonsense")

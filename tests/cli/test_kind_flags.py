"""Flags from parameters: every kind has them, and each type has its form."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import pytest

from hangar.cli import kind_flags
from hangar.cli.commands import Parser
from hangar.cli.failures import UsageError
from hangar.cli.flags import flag_of
from hangar.cli.kind_flags import add_kind_flags, given_params
from hangar.kinds import KINDS, WORKLOAD_KINDS


@dataclass(frozen=True)
class Params:
    """One parameter of each type."""

    settle_s: int = field(default=90, metadata={"help": "100% sure"})
    parallel: int = 1
    force: bool = False
    check: bool = True
    mode: Literal["keep", "undo"] = "keep"
    note: str | None = None
    grace_period_s: int | None = None


@dataclass(frozen=True)
class Odd:
    """A parameter that has no form."""

    weights: Mapping[str, int]


@dataclass(frozen=True)
class Required:
    """Parameters that have no default, beside one that a factory makes."""

    replicas: int = field(metadata={"help": "100% sure"})
    mode: Literal["keep", "undo"]
    note: str
    tag: str = field(default_factory=str)


class Kind:
    """As much of a kind as flags need."""

    def __init__(self, params: type[Any]) -> None:
        self.params = params


def parsed(monkeypatch: pytest.MonkeyPatch, params: type[Any], *words: str) -> dict[str, object]:
    monkeypatch.setattr(kind_flags, "ALL", MappingProxyType({"x": Kind(params)}))
    parser = Parser(prog="p")
    add_kind_flags(parser, "x")
    assert "100% sure" in parser.format_help()
    return given_params(parser.parse_args(words))


def test_each_type_has_its_form(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [
        "--settle",
        "1m",
        "--parallel",
        "3",
        "--force",
        "--no-check",
        "--mode",
        "undo",
        "--note",
        "x",
        "--grace-period",
        "0",
    ]
    assert parsed(monkeypatch, Params, *words) == {
        "settle_s": 60,
        "parallel": 3,
        "force": True,
        "check": False,
        "mode": "undo",
        "note": "x",
        "grace_period_s": 0,
    }


def test_what_is_not_given_is_left_to_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parsed(monkeypatch, Params) == {}


def test_what_has_no_default_has_to_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--replicas", "0", "--mode", "keep", "--note", "x"]
    assert parsed(monkeypatch, Required, *words) == {"replicas": 0, "mode": "keep", "note": "x"}
    for at in (0, 2, 4):
        with pytest.raises(UsageError, match=f"required: {words[at]}"):
            parsed(monkeypatch, Required, *words[:at], *words[at + 2 :])


@pytest.mark.parametrize("words", [("--settle", "soon"), ("--parallel", "1m"), ("--mode", "x"), ("--check",)])
def test_a_value_of_another_type_is_refused(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        parsed(monkeypatch, Params, *words)


def test_a_type_without_a_form_is_a_mistake_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match="no form"):
        parsed(monkeypatch, Odd)


@pytest.mark.parametrize("name", [*KINDS, *WORKLOAD_KINDS])
def test_every_kind_has_its_flags(name: str) -> None:
    parser = Parser(prog="p")
    add_kind_flags(parser, name)
    assert flag_of("deadline_s") == "--deadline"
    assert "--deadline TIME" in parser.format_help()

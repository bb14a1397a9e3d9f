"""The parser of a verb: complaints are exceptions, and help fits the terminal."""

from argparse import ArgumentTypeError

import pytest

from hangar.cli.commands import Parser, Verb, add_list_options, no_arguments, parser_of, positive
from hangar.cli.exits import Exit
from hangar.cli.failures import UsageError

VERB = Verb("do nothing", no_arguments, lambda _args: Exit.SUCCESS)


def test_a_complaint_is_an_exception_that_points_to_the_help() -> None:
    with pytest.raises(UsageError, match="unrecognized arguments: --what") as raised:
        parser_of("hgr x y", VERB, []).parse_args(["--what"])
    assert raised.value.hints == ("hgr x y --help",)


@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("", 80), ("wide", 80)])
def test_help_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str, widest: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    parser = Parser(prog="hgr x ls")
    add_list_options(parser)
    assert max(map(len, parser.format_help().splitlines())) <= widest


@pytest.mark.parametrize("text", ["0", "-1"])
def test_a_limit_is_at_least_one(text: str) -> None:
    assert positive("1") == 1
    with pytest.raises(ArgumentTypeError, match="at least 1"):
        positive(text)

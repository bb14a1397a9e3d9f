"""What a verb is, and the parser for one: only that of the verb in question is ever built."""

from __future__ import annotations

import argparse
import os

from hangar.cli.failures import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from hangar.cli.exits import Exit

FORMS = ("table", "wide", "json", "yaml", "name")
HELP_WIDTH = 80


class Verb:
    """One verb of a noun, or a command: its summary, what it adds to the parser, and what it does.

    `asks_hub` is false for what speaks to no hub, or says itself to which.
    """

    __slots__ = ("add_arguments", "asks_hub", "run", "summary")

    def __init__(
        self,
        summary: str,
        add_arguments: Callable[[Parser, Sequence[str]], None],
        run: Callable[[argparse.Namespace], Exit],
        *,
        asks_hub: bool = True,
    ) -> None:
        self.summary = summary
        self.add_arguments = add_arguments
        self.run = run
        self.asks_hub = asks_hub


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are UsageErrors; `explained_by` is the command that tells more."""

    # To the parsers below another one argparse hands settings of its own, and more of them with each release.
    def __init__(
        self, *, prog: str, description: str | None = None, add_help: bool = True, **_settings: object
    ) -> None:
        super().__init__(
            prog=prog, description=description, add_help=add_help, allow_abbrev=False, formatter_class=_formatter
        )
        self.explained_by = f"{prog} --help"

    def error(self, message: str) -> NoReturn:
        """Raise the complaint."""
        raise UsageError(message, hints=(self.explained_by,))


def _formatter(prog: str) -> argparse.HelpFormatter:
    # argparse makes one for each argument, and without a width it imports shutil to find one.
    return argparse.HelpFormatter(prog, width=_help_width())


def _help_width() -> int:
    if columns := os.environ.get("COLUMNS", ""):
        return int(columns) if columns.isdecimal() else HELP_WIDTH
    try:
        return os.get_terminal_size(1).columns or HELP_WIDTH
    except OSError:
        return HELP_WIDTH


def parser_of(prog: str, verb: Verb, words: Sequence[str]) -> Parser:
    """Return the parser of one verb; `words` are its arguments, for those that depend on what is asked for."""
    parser = Parser(prog=prog, description=f"{verb.summary}.")
    verb.add_arguments(parser, words)
    if verb.asks_hub:
        add_hub_options(parser)
    return parser


def add_hub_options(parser: Parser) -> None:
    """Add what says which hub is meant; given before the noun they mean the same."""
    group = parser.add_argument_group("which hub")
    unset = argparse.SUPPRESS  # so that what was given before the noun is not overwritten
    group.add_argument("--server", metavar="URL", default=unset, help="the hub's address (HGR_SERVER)")
    group.add_argument("--context", metavar="NAME", default=unset, help="a context of `hgr context` (HGR_CONTEXT)")
    group.add_argument("--token-file", metavar="FILE", default=unset, help="a file with the token (HGR_TOKEN_FILE)")


def add_output_options(parser: Parser, *, has_header: bool = False) -> None:
    """Add the options for what is printed, and in which form."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", choices=FORMS, default="table", metavar="FORM", help=f"one of {', '.join(FORMS)}"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="print ids or names only, and no hints")
    if has_header:
        group.add_argument("--no-headers", action="store_true", help="leave the table's header out")


def add_list_options(parser: Parser, *, watched: str | None = None) -> None:
    """Add what every `ls` takes; `watched` says what --watch does where there is something to watch."""
    parser.add_argument("--limit", type=positive, metavar="N", help="print at most N of them")
    if watched is not None:
        parser.add_argument("-w", "--watch", action="store_true", help=f"{watched}, until Ctrl-C")
    add_output_options(parser, has_header=True)


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def no_arguments(_parser: Parser, _words: Sequence[str]) -> None:
    """Add nothing, for verbs that take nothing."""

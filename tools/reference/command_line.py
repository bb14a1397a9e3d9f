"""The page of the command line: every noun, verb and flag, and the exit codes."""

import argparse
from collections.abc import Iterable, Iterator

from hangar.cli.commands import Parser, add_hub_options, parser_of
from hangar.cli.exits import Exit
from hangar.cli.kind_flags import ALL
from hangar.cli.nouns import COMMANDS, NOUNS, WORDS, command_of, verbs_of
from hangar.demo.__main__ import _parser as demo_parser
from hangar.hub.__main__ import _parser as hub_parser
from tools.reference.markdown import code, page, sentence, table

COMMON = "which hub"


def command_line() -> str:
    """Return the page of all commands."""
    parts = ["## hgr", table(("noun", "what it is about"), [(f"[{noun}](#hgr-{noun})", NOUNS[noun]) for noun in NOUNS])]
    also = [(f"[{name}](#hgr-{name})", text) for name, text in COMMANDS.items()]
    also += [(code(f"hgr {word}"), text) for word, text in WORDS.items()]
    parts += [table(("also", "what it does"), also)]
    parts += ["Every verb takes these, which may stand before the noun as well:", _table(_hub_options())]
    for noun in NOUNS:
        parts += [f"## hgr {noun}", *_verbs(noun)]
    for name in COMMANDS:
        verb = command_of(name)
        rows = _table(_arguments(parser_of(f"hgr {name}", verb, [])))
        parts += [f"## hgr {name}", sentence(verb.summary), rows]
    parts += ["## hangar-server", *_commands(hub_parser()), "## hangar-demo", *_commands(demo_parser())]
    parts += ["## hangar-operator\n\nIt takes no flags: see [settings](settings.md#the-operator)."]
    return page("Command line", *parts)


def _verbs(noun: str) -> Iterator[str]:
    for name, verb in verbs_of(noun).items():
        command = f"hgr {noun} {name}"
        yield f"### {command}\n\n{sentence(verb.summary)}"
        yield from filter(None, [_table(_arguments(parser_of(command, verb, [])))])
        if command == "hgr operation create":
            for kind in ALL:
                group = next(
                    each
                    for each in parser_of(command, verb, [kind])._action_groups
                    if (each.title or "").endswith(kind)
                )
                yield f"Of `{kind}`, beside these:"
                yield _table(group._group_actions)


def _hub_options() -> list[argparse.Action]:
    parser = Parser(prog="hgr", add_help=False)
    add_hub_options(parser)
    return _arguments(parser, is_common=True)


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for command, each in parsers_of(parser):
        rows = _table(_arguments(each))
        about = f"{sentence(each.description)}" if each.description else ""
        yield "\n\n".join(filter(None, [f"### {command}" if " " in command else "", about, rows]))


def parsers_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield a parser and all below it, each with the command that it reads."""
    yield parser.prog, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from parsers_of(each)


def _arguments(parser: argparse.ArgumentParser, *, is_common: bool = False) -> list[argparse.Action]:
    """Return a parser's arguments, but for --help, sub-commands, and those that every verb has."""
    groups = [each for each in parser._action_groups if is_common or each.title != COMMON]
    return [
        action
        for group in groups
        for action in group._group_actions
        if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    ]


def _table(actions: Iterable[argparse.Action]) -> str:
    rows = [(_written(action), sentence((action.help or "").replace("%%", "%"))) for action in actions]
    return table(("argument", "meaning"), rows) if rows else ""


def _written(action: argparse.Action) -> str:
    if action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}" if action.metavar is None else str(action.metavar)
    else:
        value = str(action.metavar or action.dest.upper())
    if not action.option_strings:
        return code(value)
    takes = "" if action.nargs == 0 else f" {value}"
    return code(", ".join(action.option_strings) + takes)


def exit_codes() -> str:
    """Return the page of exit codes."""
    rows = [(code(int(each)), each.meaning) for each in Exit]
    return page(
        "Exit codes",
        "Scripts branch on these, so they never change their meaning. `hgr help exit-codes` prints them.",
        table(("code", "meaning of hgr's"), rows),
        "`hangar-server`, `hangar-operator` and `hangar-demo` end with 0 when they were stopped, 1 when they failed, "
        "2 when they were wrongly asked or set. `hangar-demo -- COMMAND` ends with the command's code.",
    )

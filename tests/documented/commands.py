"""The commands that the pages name, taken apart, and whether the programs would take them."""

import argparse
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from hangar.cli.commands import parser_of
from hangar.cli.failures import UsageError
from hangar.cli.kind_flags import ALL
from hangar.cli.nouns import COMMANDS, NOUNS, WORDS, command_of, verbs_of
from hangar.demo.__main__ import _parser as demo_parser
from hangar.hub.__main__ import _parser as hub_parser
from tests.documented.consoles import commands_in
from tests.documented.pages import CODE, blocks, pages, prose
from tools.reference.command_line import parsers_of

SHELL = ("bash", "console")
ENDS = re.compile(r"[;|&<>()]+")
PROMISES = ("ROADMAP.md", "docs/manual.md")
"""They speak of later releases, too; the manual's own commands are run by tests/transcripts."""
FLAG = re.compile(r"--[a-z][a-z-]*")


@dataclass(frozen=True)
class Named:
    """A command of a page: where, and its words."""

    page: str
    words: tuple[str, ...]


def lines_of(page: str, text: str) -> Iterator[str]:
    """Yield every command line of a page's shell blocks, with what is continued put together."""
    for block in blocks(page, text):
        if block.language == "console":
            yield from (command.line for command in commands_in(block.body))
        elif block.language == "bash":
            yield from filter(None, block.body.replace("\\\n", " ").splitlines())


def in_blocks(program: str) -> list[Named]:
    """Return all calls of a program in shell blocks, those within loops and substitutions too."""
    found = []
    for page, text in pages().items():
        for line in lines_of(page, text):
            found += [Named(page, tuple(words[1:])) for words in _calls(line) if words[0] == program]
    return found


def _calls(line: str) -> Iterator[list[str]]:
    plain = re.sub(r" \d(?=>)", " ", line.replace("`", " "))  # `2>` is one sign to a shell
    tokens = shlex.shlex(plain, posix=True, punctuation_chars=True)
    tokens.wordchars += "$…{}:@"
    call: list[str] = []
    for token in [*tokens, ";"]:
        if ENDS.fullmatch(token):
            if call:
                yield call
            call = []
        elif call or (token not in ("do", "done", "for", "in") and "=" not in token):
            call.append(token)


def in_prose(beginning: str) -> list[Named]:
    """Return all pieces of code in running text that begin so, but for what is only promised."""
    found = []
    for page, text in pages().items():
        if page in PROMISES:
            continue
        codes = CODE.findall(prose(text))
        found += [Named(page, tuple(code.split())) for code in codes if code.startswith(beginning)]
    return found


def why_hgr_refuses(words: tuple[str, ...]) -> str | None:
    """Return why hgr would not understand the words, or None where it does."""
    if words and words[0] in WORDS:
        return None
    if words and words[0] in COMMANDS:
        verb, rest = command_of(words[0]), list(words[1:])
    elif len(words) < 2 or words[0] not in NOUNS:
        return f"there is no noun {words[:1]}"
    elif words[1] not in verbs_of(words[0]):
        return f"{words[0]} has no verb {words[1]}"
    else:
        verb, rest = verbs_of(words[0])[words[1]], list(words[2:])
    given = argparse.Namespace(server=None, context=None, token_file=None)
    try:
        parser_of("hgr", verb, rest).parse_args(rest, given)
    except UsageError as error:
        return error.message
    return None


def known_flags() -> frozenset[str]:
    """Return every flag of every program."""
    found = {"--help", "--version"}
    verbs = [verb for noun in NOUNS for verb in verbs_of(noun).values()]
    for verb in [*verbs, *map(command_of, COMMANDS)]:
        for kind in ALL:
            found.update(parser_of("hgr", verb, [kind])._option_string_actions)
    for parser in (hub_parser(), demo_parser()):
        for _, each in parsers_of(parser):
            found.update(each._option_string_actions)
    return frozenset(found)

"""hgr: reads the command line, runs one verb, and turns whatever happens into an exit code and a few clear lines."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from hangar.cli.commands import Verb
    from hangar.cli.exits import Exit
    from hangar.cli.failures import Failure


def main(words: Sequence[str] | None = None) -> int:
    """Run hgr with these words (those of the command line by default) and return its exit code."""
    words = sys.argv[1:] if words is None else words
    if "_ARGCOMPLETE" in os.environ:  # a shell asks for the words that could come next
        from hangar.cli.complete import complete

        return complete(os.environ)
    if list(words) in (["--help"], ["-h"], ["help"]):
        # The overview is what people ask for first: it is printed before anything is imported for a command.
        from hangar.cli.help import overview

        return _printed(overview())
    from hangar.cli.exits import Exit
    from hangar.cli.failures import Detached, Failure

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character is no reason to fail
    try:
        code = _run(list(words))
        if sys.stdout is not None:
            sys.stdout.flush()
    except Failure as failure:
        _tell(failure)
        return failure.code
    except BrokenPipeError:
        _leave_pipe()
        return Exit.INTERRUPTED
    except (KeyboardInterrupt, Detached):
        return Exit.INTERRUPTED
    except OSError as error:  # what the network does comes as a Failure; what is left is output that finds no place
        _tell(Failure(Exit.UNEXPECTED, f"cannot write the output: {error.strerror}"))
        _leave_pipe()
        return Exit.UNEXPECTED
    except SystemExit as request:  # argparse ends so after --help
        return request.code if isinstance(request.code, int) else Exit.SUCCESS
    return code


def _run(words: list[str]) -> Exit:
    from hangar.cli.failures import UsageError
    from hangar.cli.nouns import COMMANDS, NOUNS, WORDS, command_of

    given, words = _before_the_noun(words)
    known = ", ".join([*NOUNS, *COMMANDS, *WORDS])
    match words:
        case []:
            raise UsageError(f"a noun is missing: {known}", hints=("hgr --help explains them",))
        case ["version"]:
            return _say_version()
        case ["help", *about]:
            return _help(about)
        case [noun, "--help" | "-h"] if noun in NOUNS:
            return _help([noun])
        case [noun, *rest] if noun in NOUNS:
            return _run_verb(noun, rest, given)
        case [name, *rest] if name in COMMANDS:
            return _run_parsed(f"hgr {name}", command_of(name), rest, given)
        case _:
            raise UsageError(f"there is no noun {words[0]!r}; known: {known}")


def _run_verb(noun: str, words: list[str], given: Namespace) -> Exit:
    from hangar.cli.failures import UsageError
    from hangar.cli.nouns import verbs_of

    verbs = verbs_of(noun)
    listed = ", ".join(verbs)
    if not words:
        raise UsageError(f"hgr {noun} needs a verb: {listed}")
    name, *rest = words
    if name not in verbs:
        raise UsageError(f"hgr {noun} has no verb {name!r}; it has: {listed}")
    return _run_parsed(f"hgr {noun} {name}", verbs[name], rest, given)


def _run_parsed(prog: str, verb: Verb, words: list[str], given: Namespace) -> Exit:
    from hangar.cli.commands import parser_of

    return verb.run(parser_of(prog, verb, words).parse_args(words, given))


def _before_the_noun(words: list[str]) -> tuple[Namespace, list[str]]:
    """Return what was given before the noun, and the words from the noun on."""
    from argparse import REMAINDER, Namespace

    given = Namespace(server=None, context=None, token_file=None)
    if not words or not words[0].startswith("-"):
        return given, words
    from hangar.cli.commands import Parser, add_hub_options

    parser = Parser(prog="hgr", add_help=False)
    add_hub_options(parser)
    parser.add_argument("--version", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("words", nargs=REMAINDER)
    parser.parse_args(words, given)
    if given.version or given.help:
        return given, ["version"] if given.version else ["help", *given.words]
    return given, given.words


def _help(about: list[str]) -> Exit:
    from hangar.cli.exits import Exit
    from hangar.cli.failures import UsageError
    from hangar.cli.help import exit_codes, of_noun, overview
    from hangar.cli.nouns import COMMANDS, NOUNS

    match about:
        case []:
            print(overview())
        case ["exit-codes"]:
            print(exit_codes())
        case [noun] if noun in NOUNS:
            print(of_noun(noun))
        case [noun, _, *_] if noun in NOUNS:
            return _run([*about, "--help"])
        case [name] if name in COMMANDS:
            return _run([name, "--help"])
        case _:
            known = ", ".join([*NOUNS, *COMMANDS, "exit-codes"])
            raise UsageError(f"there is no help on {' '.join(about)!r}; try: {known}")
    return Exit.SUCCESS


def _say_version() -> Exit:
    import hangar
    from hangar.cli.exits import Exit

    print(f"hgr {hangar.__version__}")
    return Exit.SUCCESS


def _printed(text: str) -> int:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _leave_pipe()
    return 0


def _tell(failure: Failure) -> None:
    from hangar.cli.render import clean

    lines = [f"error: {failure.message}"]
    lines += [f"  {detail}" for detail in failure.details]
    lines += [f"hint: {text}" for text in failure.hints]
    try:
        print("\n".join(map(clean, lines)), file=sys.stderr, flush=True)
    except OSError:
        _leave_pipe()


def _leave_pipe() -> None:
    """Point stdout at nothing, or the interpreter's last flush would fail where nobody can catch it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    sys.exit(main())

"""hgr completion: prints what a shell needs to complete hgr's words; the words themselves come from complete.py."""

from __future__ import annotations

from hangar.cli.commands import Verb
from hangar.cli.exits import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from hangar.cli.commands import Parser

SHELLS = ("bash", "zsh", "fish")


def _add(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument(
        "shell",
        metavar="SHELL",
        choices=SHELLS,
        help='bash: eval "$(hgr completion bash)" in ~/.bashrc; zsh: eval "$(hgr completion zsh)" in ~/.zshrc, after '
        "compinit; fish: hgr completion fish > ~/.config/fish/completions/hgr.fish",
    )


def _print(args: Namespace) -> Exit:
    from argcomplete.shell_integration import shellcode

    # Where nothing fits, bash would offer the files of the folder instead, which are no names of ours.
    print(shellcode(["hgr"], use_defaults=False, shell=args.shell))
    return Exit.SUCCESS


COMMAND = Verb("print what a shell needs to complete hgr's words, live names among them", _add, _print, asks_hub=False)

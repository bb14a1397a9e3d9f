"""The flags of `hgr operation create KIND`, derived from the kind's parameters, so that a new kind needs no code here.

`deadline_s: int` becomes `--deadline 10m`, `force: bool` becomes `--force`, a Literal becomes a choice.
"""

from __future__ import annotations

import argparse
from dataclasses import MISSING, Field, fields
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

from hangar.cli.durations import exact, parse_s
from hangar.cli.failures import UsageError
from hangar.cli.flags import flag_of
from hangar.kinds import KINDS, WORKLOAD_KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from hangar.cli.commands import Parser

    class KindFacts(Protocol):
        """What the command line reads of a kind of operation, whatever it is done to."""

        @property
        def name(self) -> str:
            """Return the type of operation: `node.drain`."""

        @property
        def title(self) -> str:
            """Return what it does, in a line."""

        @property
        def params(self) -> type[object]:
            """Return the dataclass of its parameters, whose fields carry `help` as metadata."""


ALL: Mapping[str, KindFacts] = {**KINDS, **WORKLOAD_KINDS}
"""Every type of operation that can be asked for, by its name."""

_PREFIX = "param_"
_SECONDS = "_s"


def add_kind_flags(parser: Parser, kind_name: str) -> None:
    """Add one flag a parameter of a kind that is in ALL; without a default it has to be given."""
    params = ALL[kind_name].params
    hints = get_type_hints(params)
    group = parser.add_argument_group(f"parameters of {kind_name}")
    for field in fields(params):  # type: ignore[arg-type]  # every kind's parameters are a dataclass
        _add_flag(group, field, hints[field.name])


def given_params(args: argparse.Namespace) -> dict[str, object]:
    """Return the parameters that were given; the others are left to the hub's defaults."""
    return {name.removeprefix(_PREFIX): value for name, value in vars(args).items() if name.startswith(_PREFIX)}


def check_kind(name: str) -> None:
    """Raise UsageError unless there is such a kind."""
    if name not in ALL:
        raise UsageError(f"there is no operation type {name!r}; known types: {', '.join(ALL)}")


def kinds() -> dict[str, str]:
    """Return the title of each kind by its name."""
    return {kind.name: kind.title for kind in ALL.values()}


def _add_flag(group: argparse._ArgumentGroup, field: Field[object], hint: object) -> None:
    flag, dest, unset = flag_of(field.name), _PREFIX + field.name, argparse.SUPPRESS
    text, is_required = _help(field), field.default is MISSING and field.default_factory is MISSING
    members = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else [hint]
    wanted = members[0]
    if wanted is bool:
        is_on = field.default is True
        flag = f"--no-{flag.removeprefix('--')}" if is_on else flag
        group.add_argument(flag, dest=dest, action="store_const", const=not is_on, default=unset, help=text)
    elif get_origin(wanted) is Literal:
        choices = get_args(wanted)
        group.add_argument(flag, dest=dest, choices=choices, default=unset, required=is_required, help=text)
    elif wanted is int:
        is_duration = field.name.endswith(_SECONDS)
        read, metavar = (_read(parse_s), "TIME") if is_duration else (_read(int), "N")
        group.add_argument(flag, dest=dest, type=read, metavar=metavar, default=unset, required=is_required, help=text)
    elif wanted is str:
        group.add_argument(flag, dest=dest, metavar="TEXT", default=unset, required=is_required, help=text)
    else:
        raise TypeError(f"a parameter of type {hint} has no form on the command line yet")


def _read(parse: Callable[[str], int]) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def _help(field: Field[object]) -> str:
    text = str(field.metadata.get("help", "")).replace("%", "%%")
    default = field.default
    if default is MISSING or default is None or isinstance(default, bool):
        return text
    if field.name.endswith(_SECONDS) and isinstance(default, int):
        default = exact(default)
    return f"{text} (default {default})"

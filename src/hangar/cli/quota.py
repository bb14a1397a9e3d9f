"""hgr quota: how much of each resource a project may use, and how much of that is left."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options
from hangar.cli.exits import Exit
from hangar.cli.http import Hub
from hangar.cli.printing import among, print_list
from hangar.cli.render import ABSENT, GREEN, RED, Column, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document


def _free(item: Document, _now_s: float) -> str:
    """Return what is left; below 0 by how much more is used than a limit that came later."""
    return ABSENT if item["used"] is None else str(item["limit"] - item["used"])


def _colour(text: str) -> str | None:
    if text in (ABSENT, "0"):
        return None
    return RED if text.startswith("-") else GREEN


COLUMNS = (
    Column("PROJECT", text_of("project")),
    Column("RESOURCE", text_of("resource")),
    Column("LIMIT", text_of("limit")),
    Column("USED", text_of("used")),
    Column("FREE", _free, style=_colour),
)


def names(items: Iterator[Document]) -> Iterator[str]:
    """Yield `project/resource` of each quota."""
    return (f"{item['project']}/{item['resource']}" for item in items)


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("--project", metavar="NAME", help="only quotas of this project")
    parser.add_argument("--resource", metavar="NAME", help="only of this resource, e.g. nvidia.com/gpu")
    add_list_options(parser)


def _ls(args: Namespace) -> Exit:
    query = {"project": args.project, "resource": args.resource}
    with Hub(resolve(args, os.environ)) as hub:
        print_list(args, hub.pages("/v1/quotas", query, args.limit), COLUMNS, names, among("quotas", query))
    return Exit.SUCCESS


VERBS = {"ls": Verb("list quotas, one line a project and resource", _add_ls, _ls)}

"""hgr cluster: which clusters there are, whether their operators are online, and what they allow."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options, add_output_options
from hangar.cli.exits import Exit
from hangar.cli.http import Hub, segment
from hangar.cli.printing import names_in, print_list, print_one
from hangar.cli.render import GREEN, RED, Column, age_of, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from typing import NoReturn

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document


def _state(item: Document, _now_s: float) -> str:
    return "online" if item["online"] else "offline"


def _allowed(item: Document, now_s: float) -> str:
    is_known = item["uid"] is not None  # its operator has been here and said so
    return "nothing" if is_known and not item["allowed"] else text_of("allowed")(item, now_s)


COLUMNS = (
    Column("NAME", text_of("name")),
    Column("OPERATOR", _state, style=lambda text: GREEN if text == "online" else RED),
    Column("SEEN", age_of("last_seen_at"), gives_way=1),
    Column("NODES", text_of("nodes")),
    Column("ALLOWED", _allowed, cells_min=16),
    Column("KUBERNETES", text_of("kubernetes_version"), is_wide=True),
    Column("VERSION", text_of("operator_version"), is_wide=True),
    Column("UID", text_of("uid"), is_wide=True),
)


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    add_list_options(parser, watched="then print each cluster that changes")


def _ls(args: Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        if args.watch:
            _watch(args, hub)
        print_list(args, hub.pages("/v1/clusters", {}, args.limit), COLUMNS, names_in("name"), "clusters")
    return Exit.SUCCESS


def _watch(args: Namespace, hub: Hub) -> NoReturn:
    from hangar.cli.watch import Printer, Rows, watch

    printer = Printer(args, COLUMNS, _name)
    clusters = Rows(args, lambda: hub.pages("/v1/clusters", {}, args.limit), _name, printer.news, _is_concerned)
    watch(args, hub, {}, printer, clusters)


def _name(item: Document) -> str:
    return str(item["name"])


def _is_concerned(event: Document) -> bool:
    return event["object"]["kind"] == "cluster" or event["type"] in ("node.added", "node.removed")


def _add_get(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="CLUSTER", help="a cluster's name")
    add_output_options(parser)


def _get(args: Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        document = hub.get(f"/v1/clusters/{segment(args.name)}")
    print_one(args, document, document["name"])
    return Exit.SUCCESS


VERBS = {
    "ls": Verb("list clusters", _add_ls, _ls),
    "get": Verb("show one cluster", _add_get, _get),
}

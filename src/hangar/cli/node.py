"""hgr node: which nodes there are, whether they are cordoned, by whom and why."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options, add_output_options
from hangar.cli.exits import Exit
from hangar.cli.http import Hub, segment
from hangar.cli.printing import among, print_list, print_one
from hangar.cli.render import ABSENT, YELLOW, Column, age_of, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.http import Query


OPERATION_ID_CELLS = len("op_") + 26
"""An id that is cut is of no use: it cannot be looked up."""


def _cordoned(item: Document, _now_s: float) -> str:
    return "cordoned" if item["cordoned"] else ABSENT


def _gpus(item: Document, _now_s: float) -> str:
    allocated = item["allocated"]
    amounts = sorted((name, count) for name, count in item["allocatable"].items() if "nvidia.com/" in name)
    return (
        " ".join(f"{name.removeprefix('nvidia.com/')}={allocated.get(name, 0)}/{of}" for name, of in amounts) or ABSENT
    )


COLUMNS = (
    Column("NAME", text_of("name")),
    Column("CLUSTER", text_of("cluster"), gives_way=2),
    Column("READY", text_of("ready"), style=lambda text: YELLOW if text == "false" else None),
    Column("CORDON", _cordoned, style=lambda text: YELLOW if text != ABSENT else None),
    Column("REPLICAS", text_of("replicas"), gives_way=1),
    Column("ALLOCATED", _gpus, is_wide=True),
    Column("OPERATION", text_of("operation"), cells_min=OPERATION_ID_CELLS),
    Column("CORDONED-BY", text_of("cordon", "actor"), is_wide=True),
    Column("SEEN", age_of("updated_at"), is_wide=True),
    Column("UID", text_of("uid"), is_wide=True),
    Column("REASON", text_of("cordon", "reason"), is_wide=True),
)


def names(items: Iterator[Document]) -> Iterator[str]:
    """Yield the bare name of each node, and `cluster/name` where two clusters use the same."""
    found = [(item["name"], item["cluster"]) for item in items]
    seen: dict[str, int] = {}
    for name, _ in found:
        seen[name] = seen.get(name, 0) + 1
    for name, cluster in found:
        yield name if seen[name] == 1 else f"{cluster}/{name}"


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("--cluster", metavar="NAME", help="only nodes of this cluster")
    parser.add_argument("--cordoned", action="store_true", help="only cordoned nodes")
    add_list_options(parser, watched="then print each node that changes")


def _ls(args: Namespace) -> Exit:
    query = {"cluster": args.cluster, "cordoned": "true" if args.cordoned else None}
    with Hub(resolve(args, os.environ)) as hub:
        if args.watch:
            _watch(args, hub, query)
        print_list(args, hub.pages("/v1/nodes", query, args.limit), COLUMNS, names, among("nodes", query))
    return Exit.SUCCESS


def _watch(args: Namespace, hub: Hub, query: Query) -> NoReturn:
    from hangar.cli.watch import Printer, Rows, watch

    # A bare name may become ambiguous with any new node.
    printer = Printer(args, COLUMNS, _full_name)
    nodes = Rows(args, lambda: hub.pages("/v1/nodes", query, args.limit), _full_name, printer.news, _is_concerned)
    watch(args, hub, {"cluster": args.cluster}, printer, nodes)


def _full_name(item: Document) -> str:
    return f"{item['cluster']}/{item['name']}"


def _is_concerned(event: Document) -> bool:
    return event["object"]["kind"] in ("node", "operation")


def _add_get(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="NODE", help="a node's name, or CLUSTER/NAME")
    parser.add_argument("--cluster", metavar="NAME", help="the cluster, where the name alone is ambiguous")
    add_output_options(parser)


def _get(args: Namespace) -> Exit:
    cluster, _, name = args.name.rpartition("/")
    with Hub(resolve(args, os.environ)) as hub:
        document = hub.get(f"/v1/nodes/{segment(name)}", {"cluster": cluster or args.cluster})
    print_one(args, document, document["name"])
    return Exit.SUCCESS


VERBS = {
    "ls": Verb("list nodes", _add_ls, _ls),
    "get": Verb("show one node", _add_get, _get),
}

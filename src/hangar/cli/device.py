"""hgr device: how many GPUs and other devices each node has, and how many of them are free."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options
from hangar.cli.exits import Exit
from hangar.cli.http import Hub
from hangar.cli.printing import among, print_list
from hangar.cli.render import GREEN, Column, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.http import Query

UNKNOWN = "unknown"

COLUMNS = (
    Column("CLUSTER", text_of("cluster")),
    Column("NODE", text_of("node")),
    Column("RESOURCE", text_of("resource")),
    Column("CAPACITY", lambda item, _: _count(item["capacity"]), gives_way=1),
    Column("ALLOCATABLE", lambda item, _: _count(item["allocatable"])),
    Column("ALLOCATED", lambda item, _: _count(item["allocated"])),
    Column("FREE", lambda item, _: _count(item["free"]), style=lambda text: None if text in ("0", UNKNOWN) else GREEN),
    Column("SOURCE", text_of("source"), is_wide=True),
)


def names(items: Iterator[Document]) -> Iterator[str]:
    """Yield `cluster/node/resource` of each row: no less names a device."""
    return map(_name, items)


def _count(count: int | None) -> str:
    return UNKNOWN if count is None else str(count)


def _name(item: Document) -> str:
    return f"{item['cluster']}/{item['node']}/{item['resource']}"


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("--cluster", metavar="NAME", help="only devices of this cluster")
    parser.add_argument("--node", metavar="NAME", help="only devices of this node")
    parser.add_argument("--resource", metavar="NAME", help="only this resource, e.g. nvidia.com/gpu")
    parser.add_argument(
        "--allocatable",
        action="store_true",
        help="only what a new pod could get now: free, on a ready, uncordoned node",
    )
    add_list_options(parser, watched="then print each line that changes")


def _ls(args: Namespace) -> Exit:
    query = {
        "cluster": args.cluster,
        "node": args.node,
        "resource": args.resource,
        "allocatable": "true" if args.allocatable else None,
    }
    with Hub(resolve(args, os.environ)) as hub:
        if args.watch:
            _watch(args, hub, query)
        print_list(args, hub.pages("/v1/devices", query, args.limit), COLUMNS, names, among("devices", query))
    return Exit.SUCCESS


def _watch(args: Namespace, hub: Hub, query: Query) -> NoReturn:
    from hangar.cli.watch import Printer, Rows, watch

    printer = Printer(args, COLUMNS, _name)
    devices = Rows(args, lambda: hub.pages("/v1/devices", query, args.limit), _name, printer.news, _is_concerned)
    watch(args, hub, {"cluster": args.cluster}, printer, devices)


def _is_concerned(event: Document) -> bool:
    return event["object"]["kind"] in ("node", "operation")


VERBS = {"ls": Verb("list devices, one line a node and resource", _add_ls, _ls)}

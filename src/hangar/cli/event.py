"""hgr event: the append-only feed of what happened to the fleet."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options
from hangar.cli.exits import Exit
from hangar.cli.http import Hub
from hangar.cli.printing import among, names_in, print_list
from hangar.cli.render import Column, age_of, inline, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from typing import NoReturn

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.http import Query


def _object(item: Document, _now_s: float) -> str:
    of = item["object"]
    is_told_by_cluster = of.get("cluster") and of["kind"] in ("node", "workload", "deployment")
    name = f"{of['cluster']}/{of['name']}" if is_told_by_cluster else of["name"]
    return inline(f"{of['kind']} {name}")


COLUMNS = (
    Column("AGE", age_of("at")),
    Column("TYPE", text_of("type")),
    Column("OBJECT", _object, gives_way=2),
    Column("BY", text_of("actor"), gives_way=1),
    Column("REV", text_of("rev"), is_wide=True),
    Column("OPERATION", text_of("operation"), is_wide=True),
    Column("MESSAGE", text_of("message"), cells_min=30),
)

COLUMNS_OF_ONE_OPERATION = tuple(each for each in COLUMNS if each.header not in ("OBJECT", "OPERATION"))
"""Every line is about the same one, and there is the more room for what happened."""


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("--type", metavar="TYPE", help="only events of this type")
    parser.add_argument("--cluster", metavar="NAME", help="only events of this cluster")
    parser.add_argument("--object", metavar="NAME", help="only events about this object, NAME or CLUSTER/NAME")
    parser.add_argument("--operation", metavar="ID", help="only events of this operation")
    add_list_options(parser, watched="begin with the oldest, and print each new event as it comes")


def _ls(args: Namespace) -> Exit:
    query = {"type": args.type, "cluster": args.cluster, "object": args.object, "operation": args.operation}
    with Hub(resolve(args, os.environ)) as hub:
        if args.watch:
            _watch(args, hub, query)
        print_list(args, hub.pages("/v1/events", query, args.limit), COLUMNS, names_in("rev"), among("events", query))
    return Exit.SUCCESS


def _watch(args: Namespace, hub: Hub, query: Query) -> NoReturn:
    from hangar.cli.watch import Events, Printer, watch

    columns = [Column("AT", _time) if each.header == "AGE" else each for each in COLUMNS]
    events = Events(
        lambda: hub.pages("/v1/events", query, args.limit),
        lambda rev: hub.pages("/v1/events", {**query, "after": rev}),
    )
    watch(args, hub, query, Printer(args, columns, lambda item: str(item["rev"])), events, is_told_all=True)


def _time(item: Document, _now_s: float) -> str:
    return inline(item["at"][11:19])  # how long ago it was would be the same for every new line


VERBS = {"ls": Verb("list events, the newest first", _add_ls, _ls)}

"""hgr deployment: a workload on one cluster each, how many replicas it is to have there and how many it has."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options
from hangar.cli.exits import Exit
from hangar.cli.http import Hub
from hangar.cli.printing import among, print_list
from hangar.cli.render import CYAN, GREEN, GREY, RED, YELLOW, Column, clean, inline, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.http import Query

STATES = ("ready", "reconciling", "drained", "drifted", "missing", "discovered")
"""The words of the API's promise; a test compares them with the domain's."""

_COLOURS = {
    "running": GREEN,
    "ready": GREEN,
    "reconciling": CYAN,
    "paused": GREY,
    "drained": GREY,
    "drifted": YELLOW,
    "missing": RED,
    "discovered": GREY,
}


def state_colour(text: str) -> str | None:
    """Return the colour of the state of a workload or a deployment."""
    return _COLOURS.get(text.partition(" ")[0])


def _state(item: Document, _now_s: float) -> str:
    """Return its state, and whether that is only the last one known."""
    return inline(item["state"] if item["online"] else f"{item['state']} (offline)")


def _graph(item: Document, _now_s: float) -> str:
    return inline(f"{item['namespace']}/{item['graph']}")


COLUMNS = (
    Column("WORKLOAD", text_of("workload")),
    Column("CLUSTER", text_of("cluster")),
    Column("STATE", _state, style=state_colour),
    Column("DESIRED", text_of("desired")),
    Column("OBSERVED", text_of("observed"), gives_way=1),
    Column("READY", text_of("ready")),
    Column("GRAPH", _graph, cells_min=20),
    Column("HELD", text_of("held"), is_wide=True),
    Column("DRAINED-BY", text_of("drained_by"), is_wide=True),
    Column("CHANGED-BY", text_of("changed_by"), is_wide=True),
    Column("RIVALS", lambda item, _: rivals(item), is_wide=True),
    Column("DRAINS", text_of("drains"), is_wide=True),
    Column("MESSAGE", text_of("message"), is_wide=True),
)


def summary(item: Document) -> str:
    """Return a deployment of a known workload on one line, with what is out of the ordinary of it."""
    parts = [_state(item, 0.0), *(f"{name}={inline(item[name])}" for name in ("desired", "observed", "ready"))]
    parts += [f"{name}={inline(item[name])}" for name in ("held", "drained_by") if item[name] is not None]
    if item["changed_by"]:
        parts.append(f"changed_by={inline(item['changed_by'])}")
    message = f": {clean(item['message'])}" if item["message"] else ""
    return f"{clean(item['cluster'])} {_graph(item, 0.0)} {' '.join(parts)}{message}"


def rivals(item: Document) -> str:
    """Return who else writes the numbers of a deployment: `HorizontalPodAutoscaler llama (decode)`."""
    named = (f"{each['kind']} {each['name']}" + _of(each["component"]) for each in item["rivals"])
    return inline(", ".join(named))


def _of(component: str | None) -> str:
    return "" if component is None else f" ({component})"


def names(items: Iterator[Document]) -> Iterator[str]:
    """Yield `cluster/workload` of each deployment, `cluster/namespace/graph` of a graph that nobody bound."""
    return map(_name, items)


def _name(item: Document) -> str:
    return f"{item['cluster']}/{item['workload'] or _graph(item, 0.0)}"


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("--workload", metavar="NAME", help="only deployments of this workload")
    parser.add_argument("--cluster", metavar="NAME", help="only deployments on this cluster")
    parser.add_argument("--state", metavar="STATE", help=f"only in this state: {', '.join(STATES)}")
    add_list_options(parser, watched="then print each deployment that changes")


def _ls(args: Namespace) -> Exit:
    query = {"workload": args.workload, "cluster": args.cluster, "state": args.state}
    with Hub(resolve(args, os.environ)) as hub:
        if args.watch:
            _watch(args, hub, query)
        pages = hub.pages("/v1/deployments", query, args.limit)
        print_list(args, pages, COLUMNS, names, among("deployments", query))
    return Exit.SUCCESS


def _watch(args: Namespace, hub: Hub, query: Query) -> NoReturn:
    from hangar.cli.watch import Printer, Rows, watch

    printer = Printer(args, COLUMNS, _name)
    rows = Rows(args, lambda: hub.pages("/v1/deployments", query, args.limit), _name, printer.news, is_concerned)
    watch(args, hub, {}, printer, rows)


def is_concerned(event: Document) -> bool:
    """Tell whether a deployment, or its workload, may look otherwise after an event."""
    return event["object"]["kind"] in ("workload", "deployment", "operation", "cluster")


VERBS = {"ls": Verb("list deployments, one line a workload and cluster, and graphs that nobody bound", _add_ls, _ls)}

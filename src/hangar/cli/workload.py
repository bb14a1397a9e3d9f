"""hgr workload: what the fleet serves, how much of it and where; scaled, paused and resumed by operations."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options, add_output_options
from hangar.cli.deployment import is_concerned, rivals, state_colour, summary
from hangar.cli.exits import Exit
from hangar.cli.failures import UsageError
from hangar.cli.http import Hub, segment
from hangar.cli.printing import among, names_in, print_list, print_one
from hangar.cli.render import ABSENT, Column, clean, inline, key_values, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.http import Query

STATES = ("running", "paused", "reconciling", "drifted")

SHOWN_ONLY = ("state", "placement", "desired", "ready", "paused_at", "gpus_per_replica", "operation", "created_at")
"""What `get` shows of a workload, and nobody can set; a test compares the words with the API's."""

SHOWN_ONLY_OF_DEPLOYMENT = (
    *("workload", "state", "desired", "observed", "ready", "held", "drained_by", "changed_by", "rivals", "message"),
    *("shape", "components", "drains", "online", "operation"),
)


def _ready(item: Document, _now_s: float) -> str:
    return f"{item['ready']}/{item['desired']}"


def _clusters(item: Document, _now_s: float) -> str:
    return inline([each["cluster"] for each in item["deployments"]])


def _policy(item: Document, _now_s: float) -> str:
    """Return a policy in short: `divided static fra-1=2 1..8 iad-1:0..4`."""
    policy = item["policy"]
    parts = [policy["division"], policy["weighing"]] if policy["division"] == "divided" else [policy["division"]]
    parts += [f"{cluster}={weight}" for cluster, weight in policy["weights"].items()]
    bounds = {"": policy, **{f"{cluster}:": each for cluster, each in policy["bounds"].items()}}
    for of, each in bounds.items():
        if each["min"] or each["max"] is not None:
            parts.append(f"{of}{each['min']}..{'' if each['max'] is None else each['max']}")
    return inline(" ".join(parts))


COLUMNS = (
    Column("NAME", text_of("name")),
    Column("PROJECT", text_of("project"), gives_way=1),
    Column("STATE", text_of("state"), style=state_colour),
    Column("REPLICAS", text_of("replicas")),
    Column("READY", _ready),
    Column("PLACEMENT", text_of("placement"), cells_min=20),
    Column("CLUSTERS", _clusters, is_wide=True),
    Column("POLICY", _policy, is_wide=True),
    Column("OPERATION", text_of("operation"), is_wide=True),
)


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("--project", metavar="NAME", help="only workloads of this project")
    parser.add_argument("--state", metavar="STATE", help=f"only in this state: {', '.join(STATES)}")
    add_list_options(parser, watched="then print each workload that changes")


def _ls(args: Namespace) -> Exit:
    query = {"project": args.project, "state": args.state}
    with Hub(resolve(args, os.environ)) as hub:
        if args.watch:
            _watch(args, hub, query)
        pages = hub.pages("/v1/workloads", query, args.limit)
        print_list(args, pages, COLUMNS, names_in("name"), among("workloads", query))
    return Exit.SUCCESS


def _watch(args: Namespace, hub: Hub, query: Query) -> NoReturn:
    from hangar.cli.watch import Printer, Rows, watch

    printer = Printer(args, COLUMNS, _name)
    workloads = Rows(args, lambda: hub.pages("/v1/workloads", query, args.limit), _name, printer.news, is_concerned)
    watch(args, hub, {}, printer, workloads)


def _name(item: Document) -> str:
    return str(item["name"])


def _add_name(parser: Parser) -> None:
    parser.add_argument("name", metavar="WORKLOAD", help="a workload's name")


def _add_get(parser: Parser, _words: Sequence[str]) -> None:
    _add_name(parser)
    add_output_options(parser)


def _get(args: Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        document = hub.get(_path(args.name))
    print_one(args, document, document["name"], lines)
    return Exit.SUCCESS


def lines(workload: Document) -> Iterator[str]:
    """Yield what people read of a workload: each of its deployments has one line."""
    shown = {name: value for name, value in workload.items() if name != "deployments"}
    if workload["template"] is not None:  # a whole object, which -o yaml shows
        shown["template"] = f"{workload['template'].get('apiVersion')} (-o yaml shows it)"
    yield from key_values(shown)
    if not workload["deployments"]:
        yield f"deployments: {ABSENT}"
    for each in workload["deployments"]:
        yield f"deployment: {summary(each)}"
        if each["rivals"]:
            yield f"rivals: {clean(each['cluster'])} {rivals(each)}"
        if each["drains"]:
            yield f"drains: {clean(each['cluster'])} {inline(each['drains'])}"


# --- as it is to be ---------------------------------------------------------------------------------------------------


def _add_apply(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument(
        *("-f", "--file"),
        dest="desired_file",
        required=True,
        metavar="FILE",
        help="one workload in YAML or JSON, as `workload get -o yaml` prints it: name, project, replicas, policy, "
        "shape, deployments (cluster, namespace, graph of each), template; - reads stdin",
    )
    add_output_options(parser)


def _apply(args: Namespace) -> Exit:
    from hangar.cli.desired import name_in, read_desired

    given = read_desired(args.desired_file, "workload")
    name = name_in(given, args.desired_file)
    with Hub(resolve(args, os.environ)) as hub:
        answer = hub.put(_path(name), settable(given))
    workload: Document = answer.document
    if args.quiet or args.output not in ("table", "wide"):
        print_one(args, workload, workload["name"])
        return Exit.SUCCESS
    done = "created" if answer.status == 201 else "applied"
    print(f"workload {clean(workload['name'])} {done}: {inline(workload['placement'])}")
    return Exit.SUCCESS


def settable(given: Document) -> Document:
    """Return what can be set of a workload, from a file that may be what `get` showed of it.

    What is neither settable nor shown stays, for the hub to complain about.
    """
    body = {name: value for name, value in given.items() if name != "name" and name not in SHOWN_ONLY}
    if isinstance(deployments := body.get("deployments"), list):
        body["deployments"] = [
            {name: value for name, value in each.items() if name not in SHOWN_ONLY_OF_DEPLOYMENT}
            if isinstance(each, dict)
            else each
            for each in deployments
        ]
    return body


def _add_delete(parser: Parser, _words: Sequence[str]) -> None:
    _add_name(parser)
    parser.add_argument("--cluster", metavar="NAME", help="only its deployment on this cluster")
    parser.add_argument("--keep", action="store_true", help="leave graphs that Wingsmith created as they are, too")
    parser.add_argument(
        "--allow-outage",
        action="store_true",
        help="with --cluster: delete it there even if no other cluster serves the workload",
    )
    add_output_options(parser)


def _delete(args: Namespace) -> Exit:
    path, query = _path(args.name), {"keep": "true" if args.keep else None}
    if args.cluster is not None:
        path = f"{path}/deployments/{segment(args.cluster)}"
        query["allow_outage"] = "true" if args.allow_outage else None
    elif args.allow_outage:
        raise UsageError("--allow-outage is for one cluster: give --cluster with it")
    with Hub(resolve(args, os.environ)) as hub:
        removal = hub.delete(path, query)
    print_one(args, removal, removal["workload"], _removed)
    return Exit.SUCCESS


def _removed(removal: Document) -> Iterator[str]:
    where = "" if removal["cluster"] is None else f" from {removal['cluster']}"
    yield clean(f"workload {removal['workload']} is removed{where}")
    for each in removal["graphs"]:
        yield clean(each["message"])


# --- operations -------------------------------------------------------------------------------------------------------


def _shorthand(summary: str, kind_name: str) -> Verb:
    """Return a verb that is `operation create KIND` by another name; a list pays for nothing of it."""

    def add(parser: Parser, _words: Sequence[str]) -> None:
        from hangar.cli.create import add_shorthand

        parser.add_argument("target", metavar="WORKLOAD", help="a workload's name")
        add_shorthand(parser, kind_name)

    def run(args: Namespace) -> Exit:
        from hangar.cli.create import create

        return create(args)

    return Verb(summary, add, run)


def _path(name: str) -> str:
    return f"/v1/workloads/{segment(name)}"


VERBS = {
    "ls": Verb("list workloads", _add_ls, _ls),
    "get": Verb("show one workload, and its deployments", _add_get, _get),
    "apply": Verb("create a workload, or change what it is to be, from a file", _add_apply, _apply),
    "scale": _shorthand("run another number of replicas, all clusters together", "workload.scale"),
    "pause": _shorthand("run no replicas, and keep the number for `resume`", "workload.pause"),
    "resume": _shorthand("run a paused workload again", "workload.resume"),
    "delete": Verb("remove a workload, or its deployment on one cluster", _add_delete, _delete),
}

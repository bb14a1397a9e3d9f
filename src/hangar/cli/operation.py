"""hgr operation: create operations, look at them, wait for them, cancel them."""

from __future__ import annotations

import argparse
import os
import time

from hangar.cli.commands import Verb, add_list_options, add_output_options
from hangar.cli.create import add_create, create
from hangar.cli.durations import parse_s
from hangar.cli.event import COLUMNS_OF_ONE_OPERATION
from hangar.cli.exits import Exit
from hangar.cli.http import Hub, segment
from hangar.cli.printing import among, hint, names_in, print_list, print_one
from hangar.cli.progress import TERMINAL_PHASES, doing, outcome, result_of, title
from hangar.cli.render import Column, age_of, inline, key_values, phase_colour, seconds_of, text_of
from hangar.cli.settings import resolve
from hangar.cli.wait import add_wait_options, again, detaching, is_waiting, screen_for, wait_and_print

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document
    from hangar.cli.http import Query


def _message(item: Document, _now_s: float) -> str:
    return inline(result_of(item) if item.get("result") else doing(item, blockers_max=0))


COLUMNS = (
    Column("ID", text_of("id")),
    Column("TYPE", text_of("type")),
    Column("CLUSTER", text_of("cluster"), gives_way=2),
    Column("TARGET", text_of("target")),
    Column("PHASE", text_of("phase"), style=phase_colour),
    Column("AGE", age_of("created_at"), gives_way=3),
    Column("TOOK", text_of("result", "duration"), is_wide=True),
    Column("BY", text_of("created_by"), gives_way=1),
    Column("REASON", text_of("reason"), is_wide=True),
    Column("MESSAGE", _message, cells_min=20),
)


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("--type", metavar="TYPE", help="only of this type, e.g. node.drain")
    parser.add_argument("--phase", metavar="PHASE", help="only in this phase: pending, running, succeeded, …")
    parser.add_argument("--target", metavar="NAME", help="only those on this target")
    parser.add_argument("--cluster", metavar="NAME", help="only those in this cluster")
    parser.add_argument("--created-by", metavar="NAME", help="only those that this principal asked for")
    when = "an instant (2026-10-27T12:00:00Z), or how long ago (2h)"
    parser.add_argument("--since", type=_instant, metavar="WHEN", help=f"only those created since: {when}")
    parser.add_argument("--until", type=_instant, metavar="WHEN", help=f"only those created before: {when}")
    add_list_options(parser, watched="begin with the oldest, then print each operation that changes")


def _instant(text: str) -> str:
    try:
        ago_s = parse_s(text)
    except ValueError:
        return _checked_instant(text)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago_s))


def _checked_instant(text: str) -> str:
    from datetime import datetime

    try:
        is_instant = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        is_instant = False
    if not is_instant:
        said = "is no instant with a time zone (2026-10-27T12:00:00Z) and no time that has gone by (90s, 2h, 1d)"
        raise argparse.ArgumentTypeError(f"{text!r} {said}")
    return text


def _ls(args: argparse.Namespace) -> Exit:
    cluster, _, target = (args.target or "").rpartition("/")
    query = {
        "type": args.type,
        "phase": args.phase,
        "target": target or None,
        "cluster": cluster or args.cluster,
        "created_by": args.created_by,
        "since": args.since,
        "until": args.until,
    }
    with Hub(resolve(args, os.environ)) as hub:
        if args.watch:
            _watch(args, hub, query)
        print_list(
            args, hub.pages("/v1/operations", query, args.limit), COLUMNS, names_in("id"), among("operations", query)
        )
    return Exit.SUCCESS


def _watch(args: argparse.Namespace, hub: Hub, query: Query) -> NoReturn:
    from hangar.cli.watch import Operations, Printer, watch

    printer = Printer(args, COLUMNS, lambda item: str(item["id"]))
    operations = Operations(
        lambda: hub.pages("/v1/operations", query, args.limit),
        lambda id_: _record(hub, id_),
        lambda record: fits(record, query),
        printer.news,
    )
    watch(args, hub, {"cluster": query["cluster"]}, printer, operations, is_told_all=True)


def _record(hub: Hub, id_: str) -> Document:
    document: Document = hub.get(f"/v1/operations/{segment(id_)}")
    return document


def fits(record: Document, query: Query) -> bool:
    """Tell whether an operation fits the filters of a list of operations, as the hub understands them."""
    for name in ("type", "phase", "target", "cluster", "created_by"):
        if query[name] is not None and query[name] != record[name]:
            return False
    created_s = seconds_of(record["created_at"])
    is_too_old = query["since"] is not None and created_s < int(seconds_of(str(query["since"])))
    is_too_new = query["until"] is not None and created_s >= seconds_of(str(query["until"]))
    return not is_too_old and not is_too_new


def _add_id(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help="the operation's id: op_…")


def _add_get(parser: Parser, _words: Sequence[str]) -> None:
    _add_id(parser)
    add_output_options(parser)


def _get(args: argparse.Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        document = hub.get(_path(args))
    print_one(args, document, document["id"], _lines)
    return Exit.SUCCESS


def _lines(record: Document) -> Iterator[str]:
    """Yield what people read of an operation: what it waits for has a line each, with the code to look up."""
    for name, value in record.items():
        if name != "progress" or not value:
            yield from key_values({name: value})
            continue
        yield from key_values({name: {each: value[each] for each in value if each != "blockers"}})
        for blocker in value.get("blockers") or []:
            yield f"blocker: {inline(blocker)} ({inline(blocker.get('code'))})"


def _add_events(parser: Parser, _words: Sequence[str]) -> None:
    _add_id(parser)
    add_list_options(parser)


def _events(args: argparse.Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        pages = hub.pages(f"{_path(args)}/events", {}, args.limit)
        print_list(args, pages, COLUMNS_OF_ONE_OPERATION, names_in("rev"), "events")
    return Exit.SUCCESS


def _add_wait(parser: Parser, _words: Sequence[str]) -> None:
    _add_id(parser)
    add_wait_options(parser, is_always=True)
    add_output_options(parser)


def _wait(args: argparse.Namespace) -> Exit:
    screen = screen_for(args)
    with Hub(resolve(args, os.environ)) as hub, detaching(args, lambda: args.id, screen):
        ended = wait_and_print(args, hub, screen, args.id, None)
    return Exit.SUCCESS if ended["phase"] == "succeeded" else Exit.OPERATION_FAILED


def _add_cancel(parser: Parser, _words: Sequence[str]) -> None:
    _add_id(parser)
    add_wait_options(parser)
    add_output_options(parser)


def _cancel(args: argparse.Namespace) -> Exit:
    screen = screen_for(args)
    with Hub(resolve(args, os.environ)) as hub, detaching(args, lambda: args.id, screen):
        record: Document = hub.post(f"{_path(args)}:cancel", {}, {}).document
        if not is_waiting(args):
            _say_cancel(args, record)
            return Exit.SUCCESS
        ended = wait_and_print(args, hub, screen, args.id, record)
    # The wish was that it be cancelled; an operation that was over first is the same conflict as without --wait.
    return Exit.SUCCESS if ended["phase"] == "cancelled" else Exit.CONFLICT


def _say_cancel(args: argparse.Namespace, record: Document) -> None:
    if record["phase"] in TERMINAL_PHASES:
        said = outcome(record)
    else:
        said = f"{title(record)} will stop: its operator ends what is in flight, and undoes nothing"
    if args.quiet or args.output not in ("table", "wide"):
        print_one(args, record, record["id"])
    else:
        print(said)
    if record["phase"] not in TERMINAL_PHASES and not args.quiet:
        hint(f"to see it stopped: {again(args, record['id'])}")


def _path(args: argparse.Namespace) -> str:
    return f"/v1/operations/{segment(args.id)}"


VERBS = {
    "create": Verb("ask for an operation", add_create, create),
    "ls": Verb("list operations, the newest first", _add_ls, _ls),
    "get": Verb("show one operation", _add_get, _get),
    "wait": Verb("wait until an operation has ended", _add_wait, _wait),
    "cancel": Verb("cancel an operation; what it did is not undone", _add_cancel, _cancel),
    "events": Verb("list the events of one operation", _add_events, _events),
}

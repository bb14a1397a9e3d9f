"""Answers a shell that asks which words could come next: nouns, verbs, flags, and names that the hub has now.

The shell's side is printed by `hgr completion`. What goes wrong here is silent: a person is in the middle of a line.
"""

from __future__ import annotations

import argparse
import threading

from argcomplete.completers import FilesCompleter, SuppressCompleter
from argcomplete.finders import CompletionFinder
from argcomplete.lexers import split_line

from hangar.cli import deployment, workload
from hangar.cli.commands import Parser, Verb, add_hub_options
from hangar.cli.failures import Failure
from hangar.cli.nouns import COMMANDS, NOUNS, WORDS, command_of, verbs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hangar.cli.documents import Document
    from hangar.cli.http import Hub

    Names = dict[str, str]
    Completer = Callable[[str, argparse.Namespace, Mapping[str, str]], Names]

LIVE_S = 1.5
"""Nobody waits longer for a TAB. What is not complete by then is not offered: half of the names would mislead."""

OPERATIONS_OFFERED_MAX = 50
"""The newest ones; nobody picks an older id from a list."""

PHASES = ("pending", "running", "succeeded", "failed", "cancelled")


def complete(environ: Mapping[str, str]) -> int:
    """Write the words that could come next to where the shell reads them, and end the process."""
    line, point = environ.get("COMP_LINE", ""), environ.get("COMP_POINT", "")
    if not point.isdecimal():
        return 1
    words = split_line(line, int(point))[3]
    finder = CompletionFinder()
    finder(parser_for(words[1:], environ), always_complete_options=False, default_completer=SuppressCompleter())
    return 0


def parser_for(words: Sequence[str], environ: Mapping[str, str]) -> Parser:
    """Return a parser of all of hgr, of which only that is filled in which the words lead to."""
    parser = Parser(prog="hgr")
    add_hub_options(parser)
    parser.add_argument("--version", action="store_true")
    nouns = parser.add_subparsers()
    for name, about in {**NOUNS, **COMMANDS, **WORDS}.items():
        each = nouns.add_parser(name, help=about)
        if name not in words:
            continue
        rest = words[words.index(name) + 1 :]
        if name in COMMANDS:
            _fill(each, name, command_of(name), rest, environ)
        elif name in NOUNS:
            _add_verbs(each, name, rest, environ)
        elif name == "help":
            each.add_argument("about", nargs="?", choices=[*NOUNS, *COMMANDS, "exit-codes"])
    _offer(parser, "", environ)
    return parser


def _add_verbs(parser: Parser, noun: str, words: Sequence[str], environ: Mapping[str, str]) -> None:
    verbs = parser.add_subparsers()
    for name, verb in verbs_of(noun).items():
        each = verbs.add_parser(name, help=verb.summary)
        if name in words:
            _fill(each, f"{noun} {name}", verb, words[words.index(name) + 1 :], environ)


def _fill(parser: Parser, command: str, verb: Verb, words: Sequence[str], environ: Mapping[str, str]) -> None:
    try:
        verb.add_arguments(parser, words)
    except Failure:
        return  # what was typed so far is wrong: there is no word that would mend it
    if verb.asks_hub:
        add_hub_options(parser)
    _offer(parser, command, environ)


def _offer(parser: Parser, command: str, environ: Mapping[str, str]) -> None:
    """Say to each argument which names could stand in it."""
    for action in parser._actions:
        offered = _BY_COMMAND.get((command, action.dest)) or _BY_ARGUMENT.get(action.dest)
        if action.dest.endswith("_file"):
            vars(action)["completer"] = FilesCompleter()
        elif offered is not None and not action.choices:
            vars(action)["completer"] = _completer(offered, environ)


def _completer(offered: Completer, environ: Mapping[str, str]) -> Callable[..., Names]:
    def complete_(*, prefix: str, parsed_args: argparse.Namespace, **_: object) -> Names:
        return offered(prefix, parsed_args, environ)

    return complete_


# --- what there is to offer -------------------------------------------------------------------------------------------


def _live(read: Callable[[Hub, argparse.Namespace], Names]) -> Completer:
    """Return a completer with names that are read from the hub."""

    def offered(_prefix: str, args: argparse.Namespace, environ: Mapping[str, str]) -> Names:
        found: Names = {}

        def ask() -> None:
            from hangar.cli.http import Hub
            from hangar.cli.settings import resolve

            given = argparse.Namespace(**{"server": None, "context": None, "token_file": None, **vars(args)})
            try:
                with Hub(resolve(given, environ)) as hub:
                    found.update(read(hub, given))
            except Failure:
                return

        # A thread, since even the look-up of a host's name may hang for longer than anybody waits.
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(LIVE_S)
        return {} if asking.is_alive() else found

    return offered


def _items(hub: Hub, path: str, query: Mapping[str, str | None], limit: int | None = None) -> list[Document]:
    return [item for page in hub.pages(path, query, limit) for item in page["items"]]


def _nodes(hub: Hub, args: argparse.Namespace) -> Names:
    from hangar.cli.node import names

    is_uncordon = getattr(args, "type", None) == "node.uncordon"
    query = {"cluster": getattr(args, "cluster", None), "cordoned": "true" if is_uncordon else None}
    items = _items(hub, "/v1/nodes", query)
    told = [f"{item['cluster']}{', cordoned' if item['cordoned'] else ''}" for item in items]
    return dict(zip(names(iter(items)), told, strict=True))


def _clusters(hub: Hub, _args: argparse.Namespace) -> Names:
    items = _items(hub, "/v1/clusters", {})
    return {item["name"]: "online" if item["online"] else "offline" for item in items}


def _workloads(hub: Hub, args: argparse.Namespace) -> Names:
    is_resume = getattr(args, "type", None) == "workload.resume"
    items = _items(hub, "/v1/workloads", {"state": "paused" if is_resume else None})
    return {item["name"]: f"{item['project']}, {item['state']}" for item in items}


def _targets(hub: Hub, args: argparse.Namespace) -> Names:
    """Return what an operation of the given type can be about, and everything where none is given."""
    of, _, _ = (getattr(args, "type", None) or "").partition(".")
    nodes = {} if of == "workload" else _nodes(hub, args)
    return nodes if of == "node" else {**nodes, **_workloads(hub, args)}


def _clusters_of_target(hub: Hub, args: argparse.Namespace) -> Names:
    if not (getattr(args, "type", None) or "").startswith("workload.") or not getattr(args, "target", None):
        return _clusters(hub, args)
    return _deployments(hub, {"workload": args.target})


def _clusters_of_workload(hub: Hub, args: argparse.Namespace) -> Names:
    name = getattr(args, "name", None) or getattr(args, "workload", None)
    return _deployments(hub, {"workload": name}) if name else _clusters(hub, args)


def _deployments(hub: Hub, query: Mapping[str, str | None]) -> Names:
    items = _items(hub, "/v1/deployments", query)
    return {item["cluster"]: f"{item['state']}, {item['ready']} of {item['desired']} ready" for item in items}


def _projects(hub: Hub, _args: argparse.Namespace) -> Names:
    items = _items(hub, "/v1/projects", {})
    return {item["name"]: f"{item['workloads']} workloads" for item in items}


def _operations(hub: Hub, _args: argparse.Namespace) -> Names:
    return _told(_items(hub, "/v1/operations", {}, OPERATIONS_OFFERED_MAX))


def _open_operations(hub: Hub, _args: argparse.Namespace) -> Names:
    phases = ("running", "pending")
    return _told([item for each in phases for item in _items(hub, "/v1/operations", {"phase": each})])


def _told(operations: Sequence[Document]) -> Names:
    return {item["id"]: f"{item['type']} {item['target']} {item['phase']}" for item in operations}


def _tokens(hub: Hub, _args: argparse.Namespace) -> Names:
    items = _items(hub, "/v1/tokens", {})
    return {item["id"]: f"{item['name']}, {item['role']}" for item in items if item["revoked_at"] is None}


def _contexts(_prefix: str, _args: argparse.Namespace, environ: Mapping[str, str]) -> Names:
    from hangar.cli.settings import load_config

    try:
        return {each.name: each.server for each in load_config(environ).contexts.values()}
    except Failure:
        return {}


def _types(_prefix: str, _args: argparse.Namespace, _environ: Mapping[str, str]) -> Names:
    from hangar.cli.kind_flags import kinds

    return kinds()


def _words(*words: str) -> Completer:
    return lambda _prefix, _args, _environ: dict.fromkeys(words, "")


_BY_ARGUMENT: Mapping[str, Completer] = {
    "cluster": _live(_clusters),
    "context": _contexts,
    "node": _live(_nodes),
    "operation": _live(_operations),
    "phase": _words(*PHASES),
    "project": _live(_projects),
    "workload": _live(_workloads),
}
_BY_COMMAND: Mapping[tuple[str, str], Completer] = {
    ("operation create", "type"): _types,
    ("operation create", "target"): _live(_targets),
    ("operation create", "cluster"): _live(_clusters_of_target),
    ("operation ls", "type"): _types,
    ("operation ls", "target"): _live(_targets),
    ("operation get", "id"): _live(_operations),
    ("operation events", "id"): _live(_operations),
    ("operation wait", "id"): _live(_open_operations),
    ("operation cancel", "id"): _live(_open_operations),
    ("node get", "name"): _live(_nodes),
    ("cluster get", "name"): _live(_clusters),
    ("workload get", "name"): _live(_workloads),
    ("workload scale", "target"): _live(_workloads),
    ("workload pause", "target"): _live(_workloads),
    ("workload resume", "target"): _live(_workloads),
    ("workload delete", "name"): _live(_workloads),
    ("workload delete", "cluster"): _live(_clusters_of_workload),
    ("workload ls", "state"): _words(*workload.STATES),
    ("deployment ls", "cluster"): _live(_clusters_of_workload),
    ("deployment ls", "state"): _words(*deployment.STATES),
    ("project get", "name"): _live(_projects),
    ("project apply", "name"): _live(_projects),
    ("project delete", "name"): _live(_projects),
    ("event ls", "object"): _live(_targets),
    ("token revoke", "id"): _live(_tokens),
    ("context use", "name"): _contexts,
    ("context rm", "name"): _contexts,
    ("context set", "name"): _contexts,
}

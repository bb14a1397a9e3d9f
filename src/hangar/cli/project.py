"""hgr project: who owns workloads, and how much of each resource these may use."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options, add_output_options
from hangar.cli.exits import Exit
from hangar.cli.failures import UsageError
from hangar.cli.http import Hub, segment
from hangar.cli.printing import names_in, print_list, print_one
from hangar.cli.render import Column, age_of, clean, inline, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document

SHOWN_ONLY = ("workloads", "created_at")
"""What `get` shows of a project, and nobody can set; a test compares the words with the API's."""

COLUMNS = (
    Column("NAME", text_of("name")),
    Column("WORKLOADS", text_of("workloads")),
    Column("AGE", age_of("created_at"), gives_way=1),
    Column("QUOTAS", text_of("quotas"), cells_min=20),
)


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    add_list_options(parser)


def _ls(args: Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        print_list(args, hub.pages("/v1/projects", {}, args.limit), COLUMNS, names_in("name"), "projects")
    return Exit.SUCCESS


def _add_get(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="PROJECT", help="a project's name")
    add_output_options(parser)


def _get(args: Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        document = hub.get(_path(args.name))
    print_one(args, document, document["name"])
    return Exit.SUCCESS


def _add_apply(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("name", nargs="?", metavar="PROJECT", help="a project's name, where no file has it")
    parser.add_argument(
        "--quota",
        action="append",
        type=_quota,
        metavar="RESOURCE=N",
        help="how much its workloads may use, e.g. nvidia.com/gpu=64; repeat it for more: those not given are taken "
        "away",
    )
    parser.add_argument("--no-quotas", action="store_true", help="let its workloads use any amount of anything")
    parser.add_argument(
        *("-f", "--file"),
        dest="desired_file",
        metavar="FILE",
        help="one project in YAML or JSON, as `project get -o yaml` prints it: name, quotas; - reads stdin",
    )
    add_output_options(parser)


def _quota(text: str) -> tuple[str, int]:
    import argparse

    resource, _, limit = text.rpartition("=")
    if not resource or not (limit.isascii() and limit.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no RESOURCE=N with a whole number; write nvidia.com/gpu=64")
    return resource, int(limit)


def _apply(args: Namespace) -> Exit:
    name, body = _desired(args)
    with Hub(resolve(args, os.environ)) as hub:
        answer = hub.put(_path(name), body)
    project: Document = answer.document
    if args.quiet or args.output not in ("table", "wide"):
        print_one(args, project, project["name"])
        return Exit.SUCCESS
    done = "created" if answer.status == 201 else "applied"
    quotas = inline(project["quotas"]) if project["quotas"] else "no quotas"
    print(f"project {clean(project['name'])} {done}: {quotas}")
    return Exit.SUCCESS


def _desired(args: Namespace) -> tuple[str, Document]:
    """Return the name of a project and what it is to be, from a file or from the command line."""
    has_words = args.name is not None or args.quota is not None or args.no_quotas
    if args.desired_file is not None:
        from hangar.cli.desired import name_in, read_desired

        if has_words:
            raise UsageError("give a file, or the project and its quotas, not both", hints=_EXPLAINED)
        given = read_desired(args.desired_file, "project")
        body = {name: value for name, value in given.items() if name != "name" and name not in SHOWN_ONLY}
        return name_in(given, args.desired_file), body
    if args.name is None:
        raise UsageError("a project is missing: give its name, or a file with -f", hints=_EXPLAINED)
    # A project that is there already would lose its limits unsaid.
    if (args.quota is None) != args.no_quotas:
        raise UsageError(f"what may {args.name} use? give --quota RESOURCE=N, or --no-quotas", hints=_EXPLAINED)
    quotas = dict(args.quota or ())
    if len(quotas) < len(args.quota or ()):
        raise UsageError("--quota names a resource twice: which one is meant?", hints=_EXPLAINED)
    return args.name, {"quotas": quotas}


_EXPLAINED = ("hgr project apply --help",)


def _add_delete(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="PROJECT", help="a project's name")
    add_output_options(parser)


def _delete(args: Namespace) -> Exit:
    path = _path(args.name)
    with Hub(resolve(args, os.environ)) as hub:
        project: Document = hub.get(path)
        hub.delete(path)
    if args.quiet or args.output not in ("table", "wide"):
        print_one(args, project, project["name"])
    else:
        quotas = f", with its quotas {inline(project['quotas'])}" if project["quotas"] else ""
        print(f"project {clean(project['name'])} is removed{quotas}")
    return Exit.SUCCESS


def _path(name: str) -> str:
    return f"/v1/projects/{segment(name)}"


VERBS = {
    "ls": Verb("list projects", _add_ls, _ls),
    "get": Verb("show one project, and its quotas", _add_get, _get),
    "apply": Verb("create a project, or change its quotas", _add_apply, _apply),
    "delete": Verb("remove a project", _add_delete, _delete),
}

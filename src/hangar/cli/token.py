"""hgr token: who may come in, and as what; a token's secret is shown once, when it is made."""

from __future__ import annotations

import os

from hangar.cli.commands import Verb, add_list_options, add_output_options
from hangar.cli.durations import parse_s, rough
from hangar.cli.exits import Exit
from hangar.cli.failures import Failure, UsageError
from hangar.cli.http import Hub, segment
from hangar.cli.printing import hint, names_in, print_list, print_one
from hangar.cli.render import GREEN, GREY, YELLOW, Column, age_of, clean, inline, seconds_of, text_of
from hangar.cli.settings import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document

ROLES = ("viewer", "maintainer", "admin", "operator")
"""The words of the API's promise; a test compares them with the hub's."""

_STATE_COLOURS = {"valid": GREEN, "expired": YELLOW, "revoked": GREY}


def state(token: Document, now_s: float) -> str:
    """Return whether a token is valid, expired or revoked."""
    if token["revoked_at"] is not None:
        return "revoked"
    left_s = _left_s(token, now_s)
    return "valid" if left_s is None or left_s > 0 else "expired"


def _left_s(token: Document, now_s: float) -> float | None:
    return None if token["expires_at"] is None else seconds_of(token["expires_at"]) - now_s


def _expires(token: Document, now_s: float) -> str:
    left_s = _left_s(token, now_s)
    if left_s is None:
        return "never"
    return f"in {rough(left_s)}" if left_s > 0 else f"{rough(-left_s)} ago"


COLUMNS = (
    Column("ID", text_of("id")),
    Column("NAME", text_of("name")),
    Column("ROLE", text_of("role")),
    Column("CLUSTER", text_of("cluster"), gives_way=2),
    Column("AGE", age_of("created_at"), gives_way=3),
    Column("BY", text_of("created_by"), gives_way=1),
    Column("EXPIRES", _expires),
    Column("STATE", state, style=_STATE_COLOURS.get),
)


def _add_create(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="NAME", help="whose it is: this name stands in the record of what is done")
    parser.add_argument("--role", required=True, choices=ROLES, help="what it may do")
    parser.add_argument("--cluster", metavar="NAME", help="the cluster of an operator's token; a new one is added")
    parser.add_argument(
        "--expires", type=_duration, metavar="TIME", help="how long it is good for, e.g. 30d (default: until revoked)"
    )
    add_output_options(parser)


def _duration(text: str) -> int:
    import argparse

    try:
        return parse_s(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _create(args: Namespace) -> Exit:
    """Make a token. The request is sent once: sent again, it would make another one, whose secret nobody holds."""
    if args.output == "name":
        raise UsageError("-o name would lose the secret, which is shown this once; -o json has both")
    wanted = {"name": args.name, "role": args.role, "cluster": args.cluster, "expires_in_s": args.expires}
    body = {name: value for name, value in wanted.items() if value is not None}
    with Hub(resolve(args, os.environ)) as hub:
        try:
            made: Document = hub.request("POST", "/v1/tokens", body=body).document
        except Failure as failure:
            if failure.is_passing and not failure.is_unsent:
                said = "whether it was made is not known; see, and revoke what nobody holds: hgr token ls"
                failure.hints = (*failure.hints, said)
            raise
    if args.output in ("json", "yaml") and not args.quiet:
        print_one(args, made, "")
        return Exit.SUCCESS
    print(made["secret"], flush=True)
    if not args.quiet:
        token = made["token"]
        ends = f"until {inline(token['expires_at'])}" if token["expires_at"] else "until it is revoked"
        hint(
            f"{_title(token)} is good {ends}. The secret is shown this once; revoke it: hgr token revoke {token['id']}"
        )
    return Exit.SUCCESS


def _title(token: Document) -> str:
    of = f" of {token['cluster']}" if token["cluster"] else ""
    return clean(f"{token['id']} for {token['name']} ({token['role']}{of})")


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    add_list_options(parser)


def _ls(args: Namespace) -> Exit:
    with Hub(resolve(args, os.environ)) as hub:
        print_list(args, hub.pages("/v1/tokens", {}, args.limit), COLUMNS, names_in("id"), "tokens")
    return Exit.SUCCESS


def _add_revoke(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("id", metavar="ID", help="the token's id: tok_…, never its secret")
    add_output_options(parser)


def _revoke(args: Namespace) -> Exit:
    if args.id.startswith("hgr_"):
        raise UsageError("that is a token's secret: give its id (hgr token ls), and keep secrets off command lines")
    with Hub(resolve(args, os.environ)) as hub:
        token: Document = hub.request("DELETE", f"/v1/tokens/{segment(args.id)}").document
    if args.quiet or args.output not in ("table", "wide"):
        print_one(args, token, token["id"])
    else:
        print(f"{_title(token)} is revoked: it opens nothing any more, within a second everywhere")
    return Exit.SUCCESS


VERBS = {
    "create": Verb("make a token, and print its secret: this once", _add_create, _create),
    "ls": Verb("list tokens, the newest first, revoked ones too", _add_ls, _ls),
    "revoke": Verb("revoke a token", _add_revoke, _revoke),
}

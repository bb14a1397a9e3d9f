"""hgr login: comes in with a token, which is checked with the hub and kept in a context; it is never an argument."""

from __future__ import annotations

import argparse
import os
import sys

from hangar.cli.commands import Verb, add_output_options
from hangar.cli.context import check_address, check_name, save
from hangar.cli.exits import Exit
from hangar.cli.failures import Failure, UsageError
from hangar.cli.http import Hub
from hangar.cli.printing import hint, print_one
from hangar.cli.settings import Config, Context, Endpoint, checked_token, load_config, read_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document

STDIN = "-"
_GOES_BEFORE = ("HGR_SERVER", "HGR_CONTEXT", "HGR_TOKEN", "HGR_TOKEN_FILE")


def _add(parser: Parser, _words: Sequence[str]) -> None:
    unset = argparse.SUPPRESS  # so that what was given before the command is not overwritten
    parser.add_argument(
        "address", metavar="SERVER", nargs="?", help="the hub's address (default: that of the context, or HGR_SERVER)"
    )
    parser.add_argument(
        "--context",
        metavar="NAME",
        default=unset,
        help="the context to write (default: the one with this address, or a new one named after the host)",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        default=unset,
        help="a file with the token, which is read again at each use; - is stdin (default: asked for on a terminal, "
        "else stdin)",
    )
    parser.add_argument("--ca-file", metavar="FILE", help="the CA that signed the hub's certificate (HGR_CA_FILE)")
    parser.add_argument("--server", metavar="URL", default=unset, help="the same as SERVER")
    add_output_options(parser)


def _login(args: argparse.Namespace) -> Exit:
    config = load_config(os.environ)
    server = _server(args, config)
    name = args.context or _name_for(server, config)
    check_name(name)
    check_address(server)
    token, token_file, source = _token(args, server)
    ca_file = os.path.abspath(args.ca_file) if args.ca_file else _ca_file(config.contexts.get(name), server)
    endpoint = Endpoint(
        server,
        source="hgr login",
        token=token,
        token_source=source,
        ca_file=os.environ.get("HGR_CA_FILE") or ca_file,
    )
    with Hub(endpoint) as hub:
        who: Document = hub.get("/v1/whoami")
    if who["role"] == "operator":
        said = f"this is the token of the operator of {who['cluster']}: it is of no use for people"
        raise Failure(Exit.REFUSED, said, hints=("ask an admin for one of your own",))
    kept = Context(name, server, token=None if token_file else token, token_file=token_file, ca_file=ca_file)
    save(Config({**config.contexts, name: kept}, name))
    print_one(args, {"name": who["name"], "role": who["role"], "server": server, "context": name}, who["name"])
    if not args.quiet:
        for variable in filter(os.environ.get, _GOES_BEFORE):
            hint(f"warning: {variable} is set, and goes before the context")
    return Exit.SUCCESS


def _server(args: argparse.Namespace, config: Config) -> str:
    if args.address and args.server and args.address != args.server:
        raise UsageError("SERVER and --server name two hubs; give one of them")
    if given := args.address or args.server:
        return str(given)
    name = args.context or os.environ.get("HGR_CONTEXT")
    context = config.contexts.get(name or "")
    if context is None and (server := os.environ.get("HGR_SERVER")):
        return server
    if name is None:
        context = config.contexts.get(config.current or "")
    if context is None:
        what = "no hub is known yet" if name is None else f"there is no context {name!r} yet"
        raise UsageError(f"{what}: say which one is meant", hints=("hgr login https://HUB",))
    return context.server


def _name_for(server: str, config: Config) -> str:
    """Return the name of the context with this address, else one that no other address has."""
    same = [each.name for each in config.contexts.values() if each.server.rstrip("/") == server.rstrip("/")]
    if same:
        return config.current if config.current in same else same[0]
    from urllib.parse import urlsplit

    try:
        address = urlsplit(server)
        host, port = (address.hostname or "hub").replace(":", "-"), address.port
    except ValueError:
        return "hub"  # what is no address is refused in a moment, with all that is wrong with it
    return host if host not in config.contexts else f"{host}-{port or address.scheme}"


def _ca_file(before: Context | None, server: str) -> str | None:
    return before.ca_file if before is not None and before.server == server else None


def _token(args: argparse.Namespace, server: str) -> tuple[str, str | None, str]:
    """Return the token, the file to read it from at each use if there is one, and who gave it."""
    if args.token_file and args.token_file != STDIN:
        path = os.path.abspath(os.path.expanduser(args.token_file))
        return read_token(path, "--token-file"), path, path
    if args.token_file == STDIN or sys.stdin is None or not sys.stdin.isatty():
        return checked_token(sys.stdin.readline() if sys.stdin else "", "stdin"), None, "stdin"
    from getpass import getpass

    try:
        typed = getpass(f"Token for {server} (it is not shown): ")
    except EOFError:
        typed = ""
    return checked_token(typed, "what was typed"), None, "what was typed"


COMMAND = Verb("come in with a token: it is checked, and kept in a context", _add, _login, asks_hub=False)

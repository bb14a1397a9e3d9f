"""hgr context: the hubs that hgr knows by name, and which one it speaks to."""

from __future__ import annotations

import os
import sys

from hangar.cli.commands import Verb, add_output_options, no_arguments
from hangar.cli.exits import Exit
from hangar.cli.failures import Failure, UsageError
from hangar.cli.printing import hint, names_in, print_list
from hangar.cli.render import ABSENT, GREEN, Column, text_of
from hangar.cli.settings import Config, Context, checked_token, config_path, load_config, read_token, resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from hangar.cli.commands import Parser
    from hangar.cli.documents import Document

COLUMNS = (
    Column("CURRENT", text_of("current"), style=lambda text: GREEN if text == "*" else None),
    Column("NAME", text_of("name")),
    Column("SERVER", text_of("server")),
    Column("TOKEN", text_of("token")),
    Column("CA-FILE", text_of("ca_file"), is_wide=True),
)


def _add_ls(parser: Parser, _words: Sequence[str]) -> None:
    add_output_options(parser, has_header=True)


def _ls(args: Namespace) -> Exit:
    config = load_config(os.environ)
    items = [_shown(context, is_current=context.name == config.current) for context in config.contexts.values()]
    print_list(args, iter([{"items": items}]), COLUMNS, names_in("name"), "contexts; add one: hgr context set NAME")
    return Exit.SUCCESS


def _shown(context: Context, *, is_current: bool) -> Document:
    """Return what may be printed of a context: where its token is, never the token."""
    token = f"in {context.token_file}" if context.token_file else "stored" if context.token else None
    return {
        "current": "*" if is_current else ABSENT,
        "name": context.name,
        "server": context.server,
        "token": token,
        "ca_file": context.ca_file,
    }


def _current(args: Namespace) -> Exit:
    endpoint = resolve(args, os.environ)
    print(f"server: {endpoint.server}")
    print(f"source: {endpoint.source}")
    print(f"token: {f'from {endpoint.token_source}' if endpoint.token else 'none'}")
    return Exit.SUCCESS


def _add_name(parser: Parser, _words: Sequence[str]) -> None:
    parser.add_argument("name", metavar="NAME", help="the context's name")


def _use(args: Namespace) -> Exit:
    config = load_config(os.environ)
    context = _known(config, args.name)
    save(Config(config.contexts, args.name))
    hint(f"hgr now speaks to {context.server}")
    return Exit.SUCCESS


def _rm(args: Namespace) -> Exit:
    config = load_config(os.environ)
    _known(config, args.name)
    left = {name: context for name, context in config.contexts.items() if name != args.name}
    save(Config(left, None if config.current == args.name else config.current))
    if config.current == args.name:
        hint("that was the current context; choose another: hgr context use NAME")
    return Exit.SUCCESS


def _add_set(parser: Parser, words: Sequence[str]) -> None:
    _add_name(parser, words)
    parser.add_argument("--ca-file", metavar="FILE", help="the CA that signed the hub's certificate (HGR_CA_FILE)")
    parser.add_argument("--token-stdin", action="store_true", help="store the token that is read from stdin")


def _set(args: Namespace) -> Exit:
    """Add a context, or change what is given of one; the first one becomes the current one."""
    name = args.name
    check_name(name)
    if args.token_file and args.token_stdin:
        raise UsageError("--token-file and --token-stdin both give the token; give one of them")
    config = load_config(os.environ)
    before = config.contexts.get(name)
    server = args.server or (before.server if before else None)
    if server is None:
        raise UsageError(f"context {name} is new: it needs --server URL")
    check_address(server)
    token, token_file = (before.token, before.token_file) if before else (None, None)
    if args.token_stdin:
        token, token_file = checked_token(sys.stdin.readline(), "stdin"), None
    if args.token_file:
        token, token_file = None, os.path.abspath(os.path.expanduser(args.token_file))
        read_token(token_file, "--token-file")
    ca_file = os.path.abspath(args.ca_file) if args.ca_file else before.ca_file if before else None
    after = Context(name, server, token=token, token_file=token_file, ca_file=ca_file)
    save(Config({**config.contexts, name: after}, config.current or name))
    if config.current is None:
        hint(f"{name} is the current context")
    return Exit.SUCCESS


def check_name(name: str) -> None:
    """Raise UsageError unless this can be a context's name."""
    if not name or not name.isascii() or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise UsageError(f"{name!r} cannot be a context's name: letters, digits, dots, - and _ can")


def check_address(server: str) -> None:
    """Warn of an address to which a token travels for all to read.

    Raises:
        UsageError: it is the address of no hub.
    """
    from hangar.cli.http import Hub
    from hangar.cli.settings import Endpoint

    Hub(Endpoint(server, source="--server", token=None))  # it refuses what is no address
    if server.startswith("http://") and not server.startswith(("http://127.0.0.1", "http://localhost", "http://[::1]")):
        hint(f"warning: {server} is not https: the token travels for all to read")


def _known(config: Config, name: str) -> Context:
    if name not in config.contexts:
        known = ", ".join(sorted(config.contexts)) or "none"
        raise Failure(Exit.NOT_FOUND, f"there is no context {name!r}; known contexts: {known}")
    return config.contexts[name]


def save(config: Config) -> None:
    """Replace the file in one step, so that no reader and no crash ever sees half of it."""
    path = config_path(os.environ)
    draft = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(_toml(config))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, os.path.realpath(path))
    except OSError as error:
        raise Failure(Exit.UNEXPECTED, f"cannot write {path}: {error.strerror}") from None


def _toml(config: Config) -> str:
    lines = ["# Written by `hgr context`; comments are not kept."]
    if config.current is not None:
        lines.append(f"current = {_quoted(config.current)}")
    for context in config.contexts.values():
        lines += ["", f"[contexts.{_quoted(context.name)}]"]
        for name in ("server", "token", "token_file", "ca_file"):
            value = getattr(context, name)
            if value is not None:
                lines.append(f"{name} = {_quoted(value)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    import json

    # TOML's basic strings are JSON's, but for DEL, and for the pairs by which JSON writes what is beyond U+FFFF.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


VERBS = {
    "ls": Verb("list contexts", _add_ls, _ls),
    "current": Verb("show which hub is spoken to, and who says so", no_arguments, _current),
    "use": Verb("make a context the current one", _add_name, _use),
    "set": Verb("add a context, or change one", _add_set, _set),
    "rm": Verb("forget a context", _add_name, _rm),
}

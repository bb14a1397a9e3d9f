"""Which hub a command speaks to, and with which token: flags, then the environment, then contexts, then a demo.

A token stays with the server that it was given for: what a context holds is never sent to a server named elsewhere.
"""

from __future__ import annotations

import os
import sys

from hangar import rendezvous
from hangar.cli.failures import UsageError
from hangar.cli.render import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

SET_ONE_UP = (
    "start a fleet to try things on: hangar-demo",
    "or come in to a hub: hgr login https://HUB",
    "or set HGR_SERVER and HGR_TOKEN_FILE",
)


class Endpoint:
    """One hub: its address, the token if there is one, the CA file if it is not the system's, and who said so."""

    __slots__ = ("ca_file", "server", "source", "token", "token_source")

    def __init__(
        self,
        server: str,
        *,
        source: str,
        token: str | None,
        token_source: str | None = None,
        ca_file: str | None = None,
    ) -> None:
        self.server = server
        self.source = source
        self.token = token
        self.token_source = token_source
        self.ca_file = ca_file


class Context:
    """A named hub in the configuration file; each field as it was set."""

    __slots__ = ("ca_file", "name", "server", "token", "token_file")

    def __init__(
        self,
        name: str,
        server: str,
        *,
        token: str | None = None,
        token_file: str | None = None,
        ca_file: str | None = None,
    ) -> None:
        self.name = name
        self.server = server
        self.token = token
        self.token_file = token_file
        self.ca_file = ca_file


class Config:
    """The configuration file: contexts by name, and the name of the current one."""

    __slots__ = ("contexts", "current")

    def __init__(self, contexts: dict[str, Context], current: str | None) -> None:
        self.contexts = contexts
        self.current = current


def config_path(environ: Mapping[str, str]) -> str:
    """Return where the configuration file is, whether or not it exists."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "hgr", "config.toml")


def load_config(environ: Mapping[str, str]) -> Config:
    """Return the configuration; an absent file is an empty one.

    Raises:
        UsageError: the file cannot be read, or is not what `hgr context` writes.
    """
    path = config_path(environ)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                sys.stderr.write(f"warning: {path} can be read by others: chmod 600 {path}\n")
            # Most people never write this file, so the parser is not imported before it is known to exist.
            import tomllib

            document = tomllib.load(file)
    except FileNotFoundError:
        return Config({}, None)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError are both
        raise UsageError(f"{path} is not valid TOML: {error}") from None
    tables = document.get("contexts", {})
    current = document.get("current")
    if not isinstance(tables, dict) or not isinstance(current, str | None):
        raise UsageError(f"{path}: `contexts` must be a table and `current` a string")
    return Config({name: _context(path, name, table) for name, table in tables.items()}, current)


def _context(path: str, name: str, table: object) -> Context:
    fields = table if isinstance(table, dict) else {}
    if not isinstance(fields.get("server"), str) or not all(isinstance(each, str) for each in fields.values()):
        raise UsageError(f"{path}: contexts.{name} needs `server`, and every value must be a string")
    return Context(
        name,
        fields["server"],
        token=fields.get("token"),
        token_file=fields.get("token_file"),
        ca_file=fields.get("ca_file"),
    )


def resolve(args: Namespace, environ: Mapping[str, str]) -> Endpoint:
    """Return the hub that this command speaks to.

    `--server` or `--context`, else HGR_SERVER, else HGR_CONTEXT, else the current context, else a running demo.

    Raises:
        UsageError: nothing names a hub, two flags name one each, or a named context or token file is not there.
    """
    if args.server and args.context:
        raise UsageError("--server and --context both name a hub; give one of them")
    if args.context:
        return _of_context(load_config(environ), args.context, "--context", args, {})
    for server, source in ((args.server, "--server"), (environ.get("HGR_SERVER"), "HGR_SERVER")):
        if server:
            token, token_source = _given_token(args, environ)
            ca_file = environ.get("HGR_CA_FILE") or None
            return Endpoint(server, source=source, token=token, token_source=token_source, ca_file=ca_file)
    config = load_config(environ)
    if name := environ.get("HGR_CONTEXT"):
        return _of_context(config, name, "HGR_CONTEXT", args, environ)
    if config.current is not None:
        return _of_context(config, config.current, "the current context", args, environ)
    if demo := rendezvous.find(environ):
        source = "the running demo"
        return Endpoint(
            demo.server, source=source, token=read_token(demo.token_file, source), token_source=demo.token_file
        )
    raise UsageError("no hub is configured, and no demo is running", hints=SET_ONE_UP)


def _of_context(config: Config, name: str, said_by: str, args: Namespace, environ: Mapping[str, str]) -> Endpoint:
    context = config.contexts.get(name)
    if context is None:
        known = ", ".join(sorted(config.contexts)) or "none"
        raise UsageError(f"there is no context {clean(name)!r} ({said_by}); known contexts: {known}")
    source = f"context {name}"
    token, token_source = _given_token(args, environ)
    if token is None and context.token_file:
        token, token_source = read_token(context.token_file, source), context.token_file
    if token is None and context.token:
        token, token_source = checked_token(context.token, source), source
    ca_file = environ.get("HGR_CA_FILE") or context.ca_file
    return Endpoint(context.server, source=source, token=token, token_source=token_source, ca_file=ca_file)


def _given_token(args: Namespace, environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    if args.token_file:
        return read_token(args.token_file, "--token-file"), args.token_file
    if token := environ.get("HGR_TOKEN"):
        return checked_token(token, "HGR_TOKEN"), "HGR_TOKEN"
    if path := environ.get("HGR_TOKEN_FILE"):
        return read_token(path, "HGR_TOKEN_FILE"), path
    return None, None


def read_token(path: str, said_by: str) -> str:
    """Return the token that a file holds.

    Raises:
        UsageError: it cannot be read, or holds no token.
    """
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return checked_token(file.read(), path)
    except OSError as error:
        raise UsageError(f"cannot read the token file {path} ({said_by}): {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} ({said_by}) holds no token: it is not text") from None


def checked_token(token: str, said_by: str) -> str:
    """Return a token without the blanks around it.

    Raises:
        UsageError: it cannot be one.
    """
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(f"{said_by} holds no token: one word of visible ASCII is expected")
    return token

"""hangar-server: the hub's process. `serve` runs it, `token create` lets somebody in, `restored` follows a restore."""

import argparse
import asyncio
import ipaddress
import re
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import structlog
import uvloop
from pydantic import ValidationError
from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

import hangar
from hangar.clock import SystemClock
from hangar.collector import collect_rarely
from hangar.hub.app import create_app
from hangar.hub.principals import Role
from hangar.hub.serving import Tls, serve
from hangar.hub.settings import HubSettings, SettingsError, database, listen_address
from hangar.hub.store.lockfile import LockedError, locked
from hangar.hub.store.migrate import WrongSchemaError
from hangar.hub.store.store import Store
from hangar.hub.store.writer import StoreUnavailableError
from hangar.hub.usecases.recover import recover
from hangar.hub.usecases.tokens import TokenRequest, create_token
from hangar.hub.validation import field_errors
from hangar.telemetry.logs import configure_logs
from hangar.wire.problems import Problem

log = structlog.get_logger("hangar.hub")

DURATION = re.compile(r"([1-9][0-9]*)([smhd])")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0 done, 1 failed, 2 wrongly asked."""
    args = _parser().parse_args(argv)
    given = {name: value for name, value in vars(args).items() if name in HubSettings.model_fields and value}
    try:
        settings = HubSettings(**given)
        match args.command:
            case "serve":
                return _serve(settings)
            case "restored":
                return _take_up(settings)
            case _:
                return _create_token(settings, args)
    except ValidationError as error:
        for each in field_errors(error):
            setting = f"HANGAR_{each.path.upper()} " if each.path else ""
            print(f"hangar-server: {setting}{each.message}", file=sys.stderr)
        return 2
    except SettingsError as error:
        print(f"hangar-server: {error}", file=sys.stderr)
        return 2
    except (LockedError, WrongSchemaError, StoreUnavailableError, SQLAlchemyError, OSError) as error:
        print(f"hangar-server: {error}{_driver_says(error.__cause__)}", file=sys.stderr)
        return 1


def _driver_says(cause: BaseException | None) -> str:
    """Return what the database's driver says, which whoever starts a hub needs to know; it names no password."""
    return f" ({str(cause.orig).strip()})" if isinstance(cause, DBAPIError) else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hangar-server", description="The hub of Wingsmith.")
    parser.add_argument("--version", action="version", version=f"hangar-server {hangar.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    serving = commands.add_parser("serve", help="run the hub")
    for name in ("db", "listen", "tls_cert", "tls_key", "log_format", "log_level"):
        _add_setting(serving, name)
    text = HubSettings.model_fields["insecure_plain_http"].description
    serving.add_argument("--insecure-plain-http", action="store_true", help=f"{text} (HANGAR_INSECURE_PLAIN_HTTP)")
    restored = commands.add_parser(
        "restored", help="say that the database was restored from a backup, so that nothing lost since is relied on"
    )
    _add_setting(restored, "db")
    token = commands.add_parser("token", help="let somebody in").add_subparsers(required=True, metavar="COMMAND")
    creating = token.add_parser("create", help="make a token in the database, whether or not a hub runs on it")
    _add_setting(creating, "db")
    creating.add_argument("--role", required=True, choices=list(Role), help="what it may do")
    creating.add_argument("--name", required=True, help="whose it is; `created_by` of what is done with it")
    creating.add_argument("--cluster", help="the cluster of an operator's token; adds it to the fleet")
    creating.add_argument("--expires", metavar="TIME", type=_duration_s, help="how long it is good for, such as 90d")
    return parser


def _add_setting(parser: argparse.ArgumentParser, name: str) -> None:
    text = f"{HubSettings.model_fields[name].description} (HANGAR_{name.upper()})"
    parser.add_argument(f"--{name.replace('_', '-')}", help=text)


def _duration_s(text: str) -> int:
    found = DURATION.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration: give 12h or 90d")
    return int(found[1]) * SECONDS[found[2]]


# --- serve ------------------------------------------------------------------------------------------------------------


def _serve(settings: HubSettings) -> int:
    tls = _tls(settings)
    host, port = listen_address(settings.listen)
    if tls is None and not settings.insecure_plain_http and not _is_loopback(host):
        raise SettingsError(
            f"{settings.listen} is not loopback, and tokens would travel for all to read: give --tls-cert and "
            "--tls-key, or --insecure-plain-http where a proxy in front does TLS"
        )
    configure_logs(settings.log_format, settings.log_level)
    collect_rarely()
    if not settings.is_hand_over_safe:
        log.warning(
            "an eviction may land after its cluster was handed over: make hand_over_after_s longer",
            hand_over_after_s=settings.hand_over_after_s,
            stop_after_s=settings.stop_after_s,
        )
    place = database(settings.db)
    # Hubs on one PostgreSQL database agree there; two on one file would hand the fleet out twice.
    with nullcontext() if isinstance(place, URL) else locked(place):
        store = Store.open(place)
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(_run(store, place, settings, host, port, tls))
        finally:
            store.close()
    return 0


async def _run(store: Store, place: Path | URL, settings: HubSettings, host: str, port: int, tls: Tls | None) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    app = create_app(store, SystemClock(), settings)
    async with serve(app, host, port, tls) as bound:
        scheme = "http" if tls is None else "https"
        log.info("serving", address=f"{scheme}://{host}:{bound}", db=str(place), version=hangar.__version__)
        await stop.wait()
        log.info("stopping")


def _tls(settings: HubSettings) -> Tls | None:
    if settings.tls_cert is None and settings.tls_key is None:
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        raise SettingsError("--tls-cert and --tls-key belong together: give both")
    for path in (settings.tls_cert, settings.tls_key):
        if not path.is_file():
            raise SettingsError(f"there is no file {path}")
    return Tls(settings.tls_cert, settings.tls_key)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# --- restored ---------------------------------------------------------------------------------------------------------


def _take_up(settings: HubSettings) -> int:
    store = _open_beside(database(settings.db))
    try:
        store.write(lambda tx: recover(tx, SystemClock().now_us() if tx.now_us is None else tx.now_us))
        position = store.position()
    finally:
        store.close()
    print(f"taken up as a restored record, from revision {position.rev}: operators begin anew in half a minute")
    return 0


# --- token create -----------------------------------------------------------------------------------------------------


def _create_token(settings: HubSettings, args: argparse.Namespace) -> int:
    asked = TokenRequest(name=args.name, role=Role(args.role), cluster=args.cluster, expires_in_s=args.expires)
    store = _open_beside(database(settings.db))
    try:
        made = store.write(lambda tx: create_token(tx, None, asked, SystemClock().now_us()))
    except Problem as problem:
        print(f"hangar-server: {problem.detail}", file=sys.stderr)
        return 2
    finally:
        store.close()
    print(made.secret)
    return 0


def _open_beside(place: Path | URL) -> Store:
    """Open a database that a hub may be running on: then its tables are not ours to migrate."""
    if isinstance(place, URL):
        return Store.open_beside(place)
    try:
        with locked(place):
            return Store.open(place)
    except LockedError:
        return Store.open_beside(place)


if __name__ == "__main__":
    sys.exit(main())

"""hangar-demo: a whole fleet in one process, until Ctrl-C; `hangar-demo -- COMMAND` runs one command against it."""

import argparse
import asyncio
import os
import shlex
import signal
import sys
import tempfile
from pathlib import Path

from hangar import rendezvous
from hangar.clock import SystemClock
from hangar.demo.fleet import Fleet, running
from hangar.demo.scenario import Scenario, ScenarioError, load
from hangar.telemetry.logs import configure_logs

DEFAULT_SCENARIO = Path(__file__).with_name("fleet.toml")

WELCOME = """\
A fleet of {nodes} nodes in {clusters} clusters is running at {server} (API: {server}/docs).

In a second shell:

  export PATH={path}:"$PATH"

  hgr node ls --cluster iad-1
  hgr operation create node.drain iad-1-n02 --reason "firmware upgrade" --wait
  hgr operation create node.drain iad-1-n05 --reason "firmware upgrade" --wait   # a budget holds it for a while
  hgr operation create node.drain iad-1-n07 --reason "firmware upgrade" --wait   # fits nowhere, so it fails
  hgr operation ls

Ctrl-C ends the fleet and forgets it."""


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code: of COMMAND, or 0 stopped, 1 failed, 2 wrongly asked."""
    args = _parser().parse_args(argv)
    try:
        scenario = load(args.scenario)
    except ScenarioError as error:
        print(f"hangar-demo: {error}", file=sys.stderr)
        return 2
    configure_logs("console", "info" if args.verbose else "error")
    try:
        with tempfile.TemporaryDirectory(prefix="hangar-demo-") as folder:
            return asyncio.run(_demo(scenario, Path(folder), args))
    except (OSError, TimeoutError) as error:
        print(f"hangar-demo: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hangar-demo", description="A whole fleet in one process.")
    parser.add_argument("--scenario", type=Path, default=DEFAULT_SCENARIO, help="a fleet as a TOML file")
    parser.add_argument("--port", type=int, default=0, help="port of the hub on loopback; a free one by default")
    parser.add_argument("--verbose", action="store_true", help="show the log lines of hub and operators")
    parser.add_argument("command", nargs="*", metavar="-- COMMAND", help="run it against a fresh fleet, then stop")
    return parser


async def _demo(scenario: Scenario, folder: Path, args: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with running(scenario, folder, SystemClock(), args.port) as fleet:
        if args.command:
            return await _run(args.command, fleet)
        return await _serve(fleet, stop)


async def _serve(fleet: Fleet, stop: asyncio.Event) -> int:
    """Say how to come in, and wait."""
    token_file = Path(rendezvous.prepare(os.environ)) / f"token-{os.getpid()}"
    token_file.touch(mode=0o600)
    token_file.write_text(fleet.admin_token + "\n", encoding="utf-8")
    try:
        rendezvous.publish(os.environ, rendezvous.Demo(fleet.server, str(token_file), os.getpid()))
        path = shlex.quote(str(Path(sys.executable).parent))
        print(
            WELCOME.format(nodes=fleet.node_count, clusters=fleet.cluster_count, server=fleet.server, path=path),
            flush=True,
        )
        await stop.wait()
    finally:
        rendezvous.withdraw(os.environ, os.getpid())
        token_file.unlink(missing_ok=True)
    return 0


async def _run(command: list[str], fleet: Fleet) -> int:
    """Run a command with HGR_SERVER and HGR_TOKEN set; signals of the terminal reach it by themselves."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "HGR_SERVER": fleet.server, "HGR_TOKEN": fleet.admin_token}
    environment.pop("HGR_CONTEXT", None)
    environment.pop("HGR_TOKEN_FILE", None)
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    code = await process.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())

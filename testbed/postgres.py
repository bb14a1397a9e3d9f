"""A PostgreSQL server of our own: its data in a temporary folder, reached by a socket in there, gone with its users."""

import fcntl
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

INSTALLED = "/usr/lib/postgresql/*/bin"
"""Where Debian and its like put the programs, which are not on the PATH there."""

PROGRAMS = ("initdb", "pg_ctl", "postgres")

ACCOUNTS = ("postgres", "nobody")
"""Who runs it where we are root, as which it refuses to run."""

QUICK: Mapping[str, str] = MappingProxyType({"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"})
"""Settings for tests: they pull no plugs."""

READY = "ready"


class PostgresError(Exception):
    """The server cannot be had; the message says why and what to install."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. It ends when everybody who has a `Server` of it has left it, or ended."""

    folder: Path
    held: IO[str]

    def url(self, database: str = "postgres") -> str:
        """Return a database's URL, as HANGAR_DB takes it."""
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def leave(self) -> None:
        """Need it no more."""
        self.held.close()


def server(door: Path, settings: Mapping[str, str] = QUICK) -> Server:
    """Return the server that the file `door` tells of; it is started where none runs. Raises PostgresError."""
    with door.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # one at a time looks, and starts it
        return _running(door) or _start(door, settings)


def _running(door: Path) -> Server | None:
    users = Path(door.read_text()) / "users"
    if not users.is_file():
        return None
    held = users.open()
    try:
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        held.close()  # its keeper is about to end it
        return None
    return Server(users.parent, held)


def _start(door: Path, settings: Mapping[str, str]) -> Server:
    programs()
    folder = Path(tempfile.mkdtemp(prefix="wingsmith-pg-"))
    (folder / "users").touch()
    held = (folder / "users").open()
    fcntl.flock(held, fcntl.LOCK_SH)
    words = [f"{name}={value}" for name, value in settings.items()]
    keeper = subprocess.Popen(
        [sys.executable, "-m", "testbed.postgres", str(folder), *words],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert keeper.stdout is not None
    said = keeper.stdout.readline()
    if said.strip() != READY:
        raise PostgresError(f"PostgreSQL did not start: {said}{keeper.stdout.read()}")
    door.write_text(str(folder))
    keeper.stdout.close()
    keeper.returncode = 0  # it outlives this process, and is none of its children to wait for
    return Server(folder, held)


def programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises PostgresError where they are not installed."""
    root, _, rest = INSTALLED.partition("*")
    found = sorted(Path(root).glob(f"*{rest}"), key=lambda each: int(each.parent.name.partition(".")[0]))
    for folder in [*map(Path, filter(None, os.environ.get("PATH", "").split(os.pathsep))), *reversed(found)]:
        if all((folder / program).is_file() for program in PROGRAMS):
            return folder
    raise PostgresError(
        f"there is no {', '.join(PROGRAMS)} on the PATH or in {INSTALLED}: install PostgreSQL 14 or newer, "
        "on Debian and its like with `apt-get install postgresql`"
    )


# --- the keeper, a process of its own ---------------------------------------------------------------------------------


def keep(folder: Path, settings: Sequence[str]) -> None:
    """Run a server until nobody uses it any more."""
    account = _account()
    if account is not None:
        os.chown(folder, account.pw_uid, account.pw_gid)
    data, log = folder / "data", folder / "log"
    options = ["listen_addresses=", f"unix_socket_directories={folder}", "max_connections=200", *settings]
    try:
        cluster = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        _run(account, folder, "initdb", "-D", data, *cluster)
        words = " ".join(f"-c {each}" for each in options)
        _run(account, folder, "pg_ctl", "start", "-w", "-D", data, "-l", log, "-o", words)
        try:
            print(READY, flush=True)
            with (folder / "users").open() as users:
                fcntl.flock(users, fcntl.LOCK_EX)  # comes when the last user has gone
        finally:
            _run(account, folder, "pg_ctl", "stop", "-m", "immediate", "-D", data)
    except subprocess.CalledProcessError as error:
        print(f"{error.cmd[0]} ended with {error.returncode}: {error.output}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> pwd.struct_passwd | None:
    """Return as whom the server is to run, None where that is us."""
    if os.getuid() != 0:
        return None
    known = {each.pw_name: each for each in pwd.getpwall()}
    return next(known[name] for name in ACCOUNTS if name in known)


def _run(account: pwd.struct_passwd | None, folder: Path, program: str, *words: str | Path) -> None:
    command = [str(programs() / program), *map(str, words)]
    with (folder / f"{program}.out").open("w+") as out:  # not a pipe: the server would keep it open
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            check=False,
            user=None if account is None else account.pw_uid,
            group=None if account is None else account.pw_gid,
            extra_groups=None if account is None else [],
        )
        if done.returncode:
            out.seek(0)
            raise subprocess.CalledProcessError(done.returncode, command, out.read())


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2:])

"""Where a running demo leaves its address, so that `hgr` finds it without any setting.

The file lies in a folder that only its owner can enter, and names a file with the token. The demo writes it, the
command line reads it; neither imports the other.
"""

from __future__ import annotations

import json
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FILE_NAME = "demo.json"


class Demo:
    """A running demo: its address on loopback, the file with its token, its process."""

    __slots__ = ("pid", "server", "token_file")

    def __init__(self, server: str, token_file: str, pid: int) -> None:
        self.server = server
        self.token_file = token_file
        self.pid = pid


def folder(environ: Mapping[str, str]) -> str:
    """Return the folder for the demo's files: in the user's run-time folder, else one in /tmp named after the user."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):
        return os.path.join(runtime, "hangar-demo")
    return f"/tmp/hangar-demo-{os.getuid()}"  # noqa: S108 - its owner and mode are checked before it is trusted


def prepare(environ: Mapping[str, str]) -> str:
    """Return the folder, made for this user alone.

    Raises:
        PermissionError: it exists and is somebody else's, or others may enter it.
    """
    path = folder(environ)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not _is_private(path, stat.S_ISDIR):
            raise PermissionError(f"{path} is not a folder that only this user can enter; remove it") from None
    return path


def publish(environ: Mapping[str, str], demo: Demo) -> str:
    """Write down a running demo, readable by this user only, and return the file's path.

    Raises:
        OSError: the folder cannot be made, or is not this user's alone.
    """
    path = os.path.join(prepare(environ), FILE_NAME)
    draft = f"{path}.{os.getpid()}"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump({"server": demo.server, "token_file": demo.token_file, "pid": demo.pid}, file)
    os.replace(draft, path)
    return path


def withdraw(environ: Mapping[str, str], pid: int) -> None:
    """Remove the note of the demo with this process, if it is still the one that is noted."""
    path = os.path.join(folder(environ), FILE_NAME)
    demo = _read(path)
    if demo is not None and demo.pid == pid:
        os.unlink(path)


def find(environ: Mapping[str, str]) -> Demo | None:
    """Return the running demo of this user, or None: what others could have written is not trusted."""
    path = folder(environ)
    if not _is_private(path, stat.S_ISDIR):
        return None
    demo = _read(os.path.join(path, FILE_NAME))
    return demo if demo is not None and _is_alive(demo.pid) else None


def _read(path: str) -> Demo | None:
    if not _is_private(path, stat.S_ISREG):
        return None
    try:
        with open(path, encoding="utf-8") as file:
            note = json.load(file)
        server, token_file, pid = note["server"], note["token_file"], note["pid"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not (isinstance(server, str) and isinstance(token_file, str) and isinstance(pid, int)):
        return None
    return Demo(server, token_file, pid) if server.startswith(("http://127.0.0.1:", "http://[::1]:")) else None


def _is_private(path: str, is_kind: Callable[[int], bool]) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return found.st_uid == os.getuid() and not found.st_mode & 0o077 and is_kind(found.st_mode)


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False  # such numbers mean groups of processes, not one
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True

"""A demo fleet in a process of its own, and the second shell in which people type."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hangar import rendezvous

ROOT = Path(__file__).resolve().parents[2]

COMMAND_TIMEOUT_S = 60.0
"""The longest command takes five seconds; one that hangs must not hang the tests."""

LAST_LINE = "Ctrl-C ends the fleet and forgets it."


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Return what was printed as JSON."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """Return the lines of stdout."""
        return self.out.splitlines()


@dataclass(frozen=True)
class Answered:
    """What the hub answered to a request that no command line would send."""

    status: int
    media_type: str
    document: Any


class Shell:
    """A shell on whose PATH `hgr` and `hangar-demo` are, with an empty home and no setting of the machine's."""

    def __init__(self, home: Path) -> None:
        bin_ = Path(sys.executable).parent
        self.environment = {
            "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "TERM": "dumb",
        }

    def run(self, text: str, names: Mapping[str, str] | None = None) -> Ran:
        """Run a line as it would be typed, with each `<placeholder>` that `names` has replaced by its name."""
        for placeholder, name in (names or {}).items():
            text = text.replace(f"<{placeholder}>", name)
        done = subprocess.run(
            ["sh", "-c", text],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def succeed(self, text: str) -> Ran:
        """Run a line that must exit with 0."""
        ran = self.run(text)
        assert ran.code == 0, f"{text}\n{ran.out}{ran.err}"
        return ran

    def post(self, path: str, body: bytes, media_type: str) -> Answered:
        """Send a body to the running demo's hub, as its admin."""
        demo = rendezvous.find(self.environment)
        assert demo is not None
        headers = {
            "Authorization": f"Bearer {Path(demo.token_file).read_text(encoding='utf-8').strip()}",
            "Content-Type": media_type,
        }
        address = urlsplit(demo.server).netloc
        with closing(http.client.HTTPConnection(address, timeout=COMMAND_TIMEOUT_S)) as connection:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            return Answered(answer.status, answer.getheader("Content-Type", ""), json.loads(answer.read()))


@contextmanager
def running_demo(home: Path) -> Iterator[Shell]:
    """Run `hangar-demo` until the block ends, and give a second shell; Ctrl-C must end it cleanly."""
    shell = Shell(home)
    process = subprocess.Popen(
        ["hangar-demo"], env=shell.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if line.strip() == LAST_LINE:
                break
        else:
            raise AssertionError(f"hangar-demo did not come up:\n{''.join(said)}")
        yield shell
        process.send_signal(signal.SIGINT)
        assert process.wait(COMMAND_TIMEOUT_S) == 0, process.stdout.read()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()

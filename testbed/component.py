"""One program of the test bed as a process that can be started, killed, frozen and restarted alone."""

import ctypes
import http.client
import os
import signal
import ssl
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

READY_TIMEOUT_S = 60.0
READY_POLL_S = 0.02
STOP_TIMEOUT_S = 5.0
LOG_LINES_SHOWN = 15

PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class BedError(Exception):
    """A program of the bed did not start or died; the message names it and ends with its last words."""


class Readiness(Protocol):
    """How it shows that a program is ready."""

    def answers(self) -> bool:
        """Tell whether the program is ready now."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The address on loopback that answers 200 once the program is ready."""

    port: int
    path: str
    tls: ssl.SSLContext | None = None

    def answers(self) -> bool:
        """Tell whether the program answers now that it is ready."""
        connection = (
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=2.0)
            if self.tls is None
            else http.client.HTTPSConnection("127.0.0.1", self.port, timeout=2.0, context=self.tls)
        )
        try:
            connection.request("GET", self.path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


class Component:
    """A program with fixed arguments; its output goes to a log file beside the bed's other files.

    `environment` is all that it is given of the environment; None gives it this process's own. Start it from a thread
    that lives as long as it: the kernel ends it together with that thread.
    """

    def __init__(
        self,
        name: str,
        arguments: list[str],
        log: Path,
        probe: Readiness,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._arguments = arguments
        self._log = log
        self._probe = probe
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Tell whether the process lives; a frozen one does."""
        return self._process is not None and self._process.poll() is None

    @property
    def cpu_s(self) -> float:
        """Return how much time the process has had on a core, in seconds."""
        assert self._process is not None, "it was started"
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def start(self) -> None:
        """Start the process without waiting for it to be ready."""
        if self.is_running:
            raise BedError(f"{self.name} is running already")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._arguments,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C is the bed's to handle, in its own order
                preexec_fn=_die_with_parent,
            )

    def wait_ready(self) -> None:
        """Wait until the program says that it is ready.

        Raises:
            BedError: It died, or was not ready within READY_TIMEOUT_S.
        """
        deadline_s = time.monotonic() + READY_TIMEOUT_S
        while not self._probe.answers():
            if not self.is_running:
                raise BedError(f"{self.name} died while starting:\n{self._last_words()}")
            if time.monotonic() > deadline_s:
                raise BedError(f"{self.name} was not ready after {READY_TIMEOUT_S:.0f} s:\n{self._last_words()}")
            time.sleep(READY_POLL_S)

    def terminate(self) -> None:
        """Ask the process to end; `reap` waits for it."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        self._signal(signal.SIGKILL)
        self.reap()

    def freeze(self) -> None:
        """Stop the process in its tracks, its connections open, until it is thawed."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        self._signal(signal.SIGCONT)

    def restart(self) -> None:
        """Kill the process if it lives, start it again and wait until it is ready."""
        self.kill()
        self.start()
        self.wait_ready()

    def reap(self) -> None:
        """Wait for the end of a process that was asked to end; one that does not is killed."""
        if self._process is None:
            return
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def log_text(self) -> str:
        """Return all that the program has said since its first start."""
        return self._log.read_text(errors="replace")

    def _last_words(self) -> str:
        lines = self.log_text().splitlines()
        return "\n".join(lines[-LOG_LINES_SHOWN:])


def _die_with_parent() -> None:
    """Have the kernel end the process when the bed's own process dies without stopping it."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

"""Signals, closed pipes and terminals, in a real process: going away never cancels, and says how to go on."""

import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator

import pytest

from tests.cli.samples import an_operation, ended, running
from tests.cli.scripted import Answer, Request, ScriptedHub

ID = an_operation()["id"]
PATH = f"/v1/operations/{ID}"
DRAIN = ("operation", "create", "node.drain", "iad-1-n02", "--wait")
PATIENCE_S = 30


class Parked:
    """A long poll that answers when the test lets it."""

    def __init__(self) -> None:
        self.is_parked = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, _request: Request) -> Answer:
        self.is_parked.set()
        self.go_on.wait(PATIENCE_S)
        return Answer(document=ended(9))


@pytest.fixture
def parked(hub: ScriptedHub) -> Iterator[Parked]:
    script = Parked()
    hub.on("POST", "/v1/operations", Answer(202, running(2, 1, "evicting", "pdb a has 2 needs 2")))
    hub.on("GET", f"{PATH}/wait", script)
    yield script
    script.go_on.set()


def start(
    hub: ScriptedHub, *words: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE, **kept: int
) -> subprocess.Popen[str]:
    environ = {"HGR_SERVER": hub.url, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TERM": "xterm"}
    return subprocess.Popen(
        [sys.executable, "-m", "hangar.cli", *words],
        env=environ,
        stdout=stdout,
        stderr=stderr,
        text=True,
        preexec_fn=lambda: _as_from_a_terminal(kept.get("ignoring")),
    )


def _as_from_a_terminal(ignoring: int | None) -> None:
    # What runs the tests may itself have been started with a signal ignored, which children inherit.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN if each == ignoring else signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_detaches_and_says_how_to_go_on(hub: ScriptedHub, parked: Parked, number: signal.Signals) -> None:
    """C93: the operation goes on without its terminal."""
    process = start(hub, *DRAIN)
    assert parked.is_parked.wait(PATIENCE_S)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, f"{ID}\n")
    assert err.endswith(f"detached; the operation goes on. To wait for it: hgr operation wait {ID}\n")
    assert not [request for request in hub.requests if request.path.endswith(":cancel")]


def test_a_shorthand_detaches_as_a_creation_does(hub: ScriptedHub, parked: Parked) -> None:
    process = start(hub, "workload", "scale", "llama-3-8b", "--replicas", "4", "--wait")
    assert parked.is_parked.wait(PATIENCE_S)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (130, f"{ID}\n")
    assert err.endswith(f"detached; the operation goes on. To wait for it: hgr operation wait {ID}\n")


def test_a_hang_up_that_was_to_be_survived_is(hub: ScriptedHub, parked: Parked) -> None:
    process = start(hub, *DRAIN, ignoring=signal.SIGHUP)
    assert parked.is_parked.wait(PATIENCE_S)
    process.send_signal(signal.SIGHUP)
    parked.go_on.set()
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out.splitlines()[-1]) == (0, "node.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)")


def test_a_closed_pipe_detaches(hub: ScriptedHub, parked: Parked) -> None:
    process = start(hub, *DRAIN)
    assert process.stdout is not None
    assert process.stdout.readline() == f"{ID}\n"
    assert parked.is_parked.wait(PATIENCE_S)
    process.stdout.close()
    parked.go_on.set()
    assert process.wait(PATIENCE_S) == 130
    assert process.stderr is not None
    with process.stderr as stderr:
        assert f"hgr operation wait {ID}" in stderr.read()


def test_a_list_into_a_closed_pipe_ends_quietly(hub: ScriptedHub) -> None:
    hub.on_list("/v1/operations", *[an_operation()] * 5000)
    process = start(hub, "operation", "ls", "-o", "json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    with process.stderr as stderr:
        assert stderr.read() == ""
    assert process.wait(PATIENCE_S) == 130


def test_on_a_terminal_progress_is_drawn_in_place_and_the_outcome_stays(hub: ScriptedHub, parked: Parked) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    process = start(hub, *DRAIN, stdout=theirs, stderr=theirs)
    os.close(theirs)
    assert parked.is_parked.wait(PATIENCE_S)
    parked.go_on.set()
    assert process.wait(PATIENCE_S) == 0
    shown = _all_of(ours)
    assert "node.drain iad-1-n02 \x1b[36mrunning\x1b[0m 0s: evicting\r\n  pdb a has 2 needs 2" in shown
    assert shown.endswith("\r\x1b[2K\x1b[1A\x1b[2Knode.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)\r\n")


@pytest.mark.parametrize("form", ["table", "json", "name"])
def test_output_that_finds_no_place_is_told(hub: ScriptedHub, form: str) -> None:
    hub.on_list("/v1/operations", an_operation())
    with open("/dev/full", "w") as full:  # noqa: PTH123
        process = start(hub, "operation", "ls", "-o", form, stdout=full.fileno())
    _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (1, "error: cannot write the output: No space left on device\n")


def test_a_closed_stdout_is_no_reason_to_fail(hub: ScriptedHub) -> None:
    hub.on_list("/v1/operations", an_operation())
    command = f"exec {sys.executable} -m hangar.cli operation ls >&-"
    environ = {"HGR_SERVER": hub.url, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(["/bin/sh", "-c", command], env=environ, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (ran.returncode, ran.stderr) == (0, "")


def _all_of(descriptor: int) -> str:
    content = b""
    try:
        while part := os.read(descriptor, 65536):
            content += part
    except OSError:
        pass  # that is how a terminal says that its other end is closed
    os.close(descriptor)
    return content.decode()

"""How progress reads: in place on a terminal, a line a change elsewhere."""

import io
import os
from dataclasses import asdict
from typing import Any

import pytest

from hangar.cli.failures import Detached
from hangar.cli.progress import TERMINAL_PHASES, Screen, doing, outcome, title
from hangar.domain.operation import TERMINAL
from hangar.wire import shown
from tests.cli.samples import an_operation, ended, running


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2


@pytest.fixture
def width_40(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _fd: os.terminal_size((40, 20)))


def test_the_terminal_phases_are_the_domains() -> None:
    assert {phase.value for phase in TERMINAL} == TERMINAL_PHASES


def test_a_drain_of_a_workload_is_told_with_its_cluster() -> None:
    drain = an_operation(type="workload.drain", target="llama", cluster="fra-1")
    assert title(drain) == "workload.drain llama on fra-1"
    assert title(drain | {"type": "workload.scale", "cluster": None}) == "workload.scale llama"


def test_the_outcome_is_one_line() -> None:
    assert outcome(ended(9)) == "node.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)"
    assert outcome(ended(9, "failed", "no capacity:\n3 GPUs")) == (
        "node.drain iad-1-n02 failed: no capacity:\\n3 GPUs (42s)"
    )
    assert outcome(ended(9, "cancelled", "cancelled: 3 moved")) == "node.drain iad-1-n02 cancelled: 3 moved (42s)"


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (an_operation(), ""),
        (running(2, 1, ""), "1/3 replicas"),
        (running(2, 1, "1 terminating"), "1 terminating"),
        (running(2, 0, "evicting", "pdb a: needs 2 has 2", "b"), "evicting; pdb a: needs 2 has 2; b"),
        (running(2, 0, "evicting", *"abcdefg"), "evicting; a; b; c; d; e (+2 more)"),
        (an_operation(status_reason=asdict(shown.StatusReason(code="x", message="no operator"))), "no operator"),
        (
            an_operation(cancel=asdict(shown.Cancel(requested_by="ann", requested_at="x"))),
            "cancel asked for by ann",
        ),
        (
            running(2) | {"status_reason": {"code": "operator_silent", "message": "nobody there"}},
            "evicting; nobody there",
        ),
        (
            running(2) | {"status_reason": {"code": "cancel_requested", "message": "to stop"}, "cancel": {"x": 1}},
            "evicting; to stop",
        ),
    ],
)
def test_what_it_does_and_waits_for_is_said(record: dict[str, Any], said: str) -> None:
    assert doing(record) == said


def test_elsewhere_each_change_has_one_line() -> None:
    stream = io.StringIO()
    screen = Screen(stream)
    for record in (an_operation(), an_operation(), running(2), running(3), running(4, 1, "waiting")):
        screen.show(record)
        screen.tick()
    screen.clear()
    assert stream.getvalue().splitlines() == [
        "node.drain iad-1-n02 pending",
        "node.drain iad-1-n02 running: evicting",
        "node.drain iad-1-n02 running: waiting",
    ]


@pytest.mark.usefixtures("width_40")
def test_on_a_terminal_lines_are_rewritten_in_place_and_never_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream, times = Terminal(), iter([0.0, 3.0, 4.0])
    screen = Screen(stream, clock=lambda: next(times))
    screen.show(running(2, 1, "evicting", "pdb a, whose name is long, needs 2 has 2", "b", "c", "d"))
    screen.tick()
    screen.clear()
    first, *more = (
        "node.drain iad-1-n02 running 3s:",
        "  evicting",
        "  pdb a, whose name is long, needs 2…",
        "  b",
        "  and 2 more",
    )
    erased = "\r\x1b[2K" + "\x1b[1A\x1b[2K" * 4
    again = first.replace("3s", "4s")
    assert stream.getvalue() == "\n".join([first, *more]) + erased + "\n".join([again, *more]) + erased
    assert all(len(line) <= 40 - len("^C") - 1 for line in (first, *more))


def test_no_more_is_drawn_than_a_terminal_has_rows_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _fd: os.terminal_size((80, 3)))
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    Screen(stream, clock=lambda: 0.0).show(running(2, 1, "evicting", "a", "b", "c"))
    assert stream.getvalue() == "node.drain iad-1-n02 running 0s: evicting\n  a"


@pytest.mark.usefixtures("width_40")
def test_a_note_takes_the_place_of_the_live_lines_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    screen = Screen(stream, clock=lambda: 0.0)
    screen.show(running(2, 1, "evicting"))
    screen.note("still waiting")
    screen.clear()
    live = "node.drain iad-1-n02 running 0s:\n  evicting"
    assert stream.getvalue() == f"{live}\r\x1b[2K\x1b[1A\x1b[2Kstill waiting\n"


@pytest.mark.usefixtures("width_40")
def test_the_phase_is_coloured_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    Screen(stream, clock=lambda: 0.0).show(running(2))
    assert stream.getvalue() == "node.drain iad-1-n02 \x1b[36mrunning\x1b[0m 0s:\n  evicting"


def test_quiet_shows_nothing() -> None:
    screen = Screen(None)
    screen.show(an_operation())
    screen.note("x")
    screen.clear()


def test_nobody_reading_means_detaching() -> None:
    class Gone(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    with pytest.raises(Detached):
        Screen(Gone()).show(an_operation())

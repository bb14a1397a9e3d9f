"""ls --watch: the list, then a line for each change, through whatever the feed does."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from hangar.cli import stream, watch
from hangar.cli.operation import fits
from tests.cli.conftest import Hgr
from tests.cli.samples import (
    a_cluster,
    a_deployment,
    a_device,
    a_node,
    a_workload,
    an_event,
    an_operation,
    ended,
    running,
)
from tests.cli.scripted import Answer, ScriptedHub, problem
from tests.cli.test_stream import OVER, PATH, message, reset

PATIENCE_S = 30
ID = an_operation()["id"]
OTHER = "op_01JC0000000000000000000002"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print what comes when it comes, and wait for nothing."""
    monkeypatch.setattr(watch, "PACE_S", 0.0)
    monkeypatch.setattr(stream, "PAUSES_S", (0.0,))


def page(*items: Any, as_of: int = 7) -> Answer:
    return Answer(document={"items": list(items), "next_page_token": None, "as_of": as_of})


def fed(hub: ScriptedHub, *pieces: bytes) -> None:
    """Let the feed have these pieces, and then the token's end."""
    hub.on("GET", PATH, Answer(stream=pieces), OVER)


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


# --- events -----------------------------------------------------------------------------------------------------------


def test_events_come_the_oldest_first_and_then_as_they_happen(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/events", page(an_event(rev=7, message="second"), an_event(rev=6, message="first")))
    fed(hub, message(8, message="third"), message(9, message="fourth"))
    ran = hgr("event", "ls", "--watch", "--cluster", "iad-1", "--limit", "2")
    assert ran.code == 4
    assert [line[0] for line in lines(ran.out)] == ["AT", "12:34:56", "12:34:56", "12:34:56", "12:34:56"]
    assert [line[-1] for line in lines(ran.out)[1:]] == ["first", "second", "third", "fourth"]
    assert ran.err.splitlines()[0] == "error: the token has expired"
    assert hub.requests[0].query == {"cluster": "iad-1", "page_size": "2"}
    assert hub.asked("GET", PATH)[0].query == {"cluster": "iad-1", "after": "7"}


def test_events_are_one_document_a_line_for_machines(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/events", page(an_event(rev=7)))
    fed(hub, message(8))
    ran = hgr("event", "ls", "-w", "-o", "json")
    assert [json.loads(line) for line in ran.out.splitlines()] == [an_event(rev=7), an_event(rev=8)]
    hub.on("GET", PATH, Answer(stream=[message(8)]), OVER)
    assert hgr("event", "ls", "-w", "-q").out == "7\n8\n"
    hub.on("GET", PATH, Answer(stream=[message(8)]), OVER)
    assert hgr("event", "ls", "-w", "-o", "yaml").out.startswith("---\nrev: 7\n")


def test_after_a_reset_no_event_is_left_out_and_none_comes_twice(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/events", page(an_event(rev=7)), page(an_event(rev=9), an_event(rev=10), as_of=10))
    fed(hub, message(8), reset(9), message(10), message(11))
    ran = hgr("event", "ls", "--watch", "-o", "json")
    assert [json.loads(line)["rev"] for line in ran.out.splitlines()] == [7, 8, 9, 10, 11]
    assert ran.err.splitlines()[0] == "the feed has a gap (too_old): the list is read again"
    assert hub.asked("GET", "/v1/events")[1].query == {"after": "8", "page_size": "1000"}


def test_a_hub_that_went_back_to_a_backup_is_followed_from_there(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/events", page(an_event(rev=70), as_of=70), page(as_of=20))
    fed(hub, reset(20, "other_incarnation"), message(21))
    ran = hgr("event", "ls", "--watch", "-q")
    assert ran.out == "70\n21\n"


# --- operations -------------------------------------------------------------------------------------------------------


def test_an_operation_has_a_new_line_when_its_row_changes(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/operations", page(running(3), an_operation(id=OTHER)))
    hub.on("GET", f"/v1/operations/{ID}", Answer(document=running(4)), Answer(document=ended(9)))
    fed(hub, message(8), message(9, operation=None), message(10))
    ran = hgr("operation", "ls", "--watch", "--no-headers")
    rows = [(line[0], line[4], line[-1]) for line in lines(ran.out)]
    assert rows == [
        (OTHER, "pending", "-"),
        (ID, "running", "evicting"),
        (ID, "succeeded", "evicted_replicas=3"),
    ]
    assert len(hub.asked("GET", f"/v1/operations/{ID}")) == 2


def test_machines_are_told_of_every_change_of_the_record(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/operations", page(running(3)))
    hub.on("GET", f"/v1/operations/{ID}", Answer(document=running(4)))
    fed(hub, message(8))
    ran = hgr("operation", "ls", "--watch", "-o", "json")
    assert [json.loads(line) for line in ran.out.splitlines()] == [running(3), running(4)]


def test_one_that_leaves_the_filter_is_shown_a_last_time_and_a_stranger_never(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/operations", page(running(3)))
    hub.on("GET", f"/v1/operations/{ID}", Answer(document=ended(9)))
    hub.on("GET", f"/v1/operations/{OTHER}", Answer(document=ended(5) | {"id": OTHER}))
    fed(hub, message(8), message(9, operation=OTHER), message(10))
    ran = hgr("operation", "ls", "--watch", "--no-headers", "--phase", "running", "--cluster", "iad-1")
    assert [(line[0], line[4]) for line in lines(ran.out)] == [(ID, "running"), (ID, "succeeded")]
    assert hub.asked("GET", PATH)[0].query == {"cluster": "iad-1", "after": "7"}


def test_after_a_reset_what_was_shown_is_looked_at_too(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/operations", page(running(3)), page(running(3) | {"id": OTHER}, as_of=90))
    hub.on("GET", f"/v1/operations/{ID}", Answer(document=ended(9)))
    fed(hub, reset(90))
    ran = hgr("operation", "ls", "--watch", "--no-headers", "--phase", "running")
    assert [(line[0], line[4]) for line in lines(ran.out)] == [
        (ID, "running"),
        (OTHER, "running"),
        (ID, "succeeded"),
    ]


def test_a_change_is_not_lost_when_the_hub_is_away_just_then(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/operations", page(running(3), running(3) | {"id": OTHER}))
    hub.on("GET", f"/v1/operations/{ID}", Answer(document=ended(9)))
    busy = problem(503, "busy", "later")
    hub.on("GET", f"/v1/operations/{OTHER}", busy, busy, Answer(document=ended(9) | {"id": OTHER}))
    fed(hub, message(8), message(9, operation=OTHER), message(10), message(11))
    ran = hgr("operation", "ls", "--watch", "--no-headers")
    rows = [(line[0], line[4]) for line in lines(ran.out)]
    assert rows[2:] == [(ID, "succeeded"), (OTHER, "succeeded")]
    assert ran.err.splitlines()[:2] == ["still watching: later", "the hub answers again"]


@pytest.mark.parametrize(
    ("filters", "does_fit"),
    [
        ({}, True),
        ({"type": "node.drain", "target": "iad-1-n02", "cluster": "iad-1", "created_by": "admin"}, True),
        ({"type": "node.cordon"}, False),
        ({"target": "iad-1-n03"}, False),
        ({"cluster": "fra-1"}, False),
        ({"created_by": "ann"}, False),
        ({"phase": "running"}, False),
        ({"since": "2026-10-27T12:34:56.900Z"}, True),
        ({"since": "2026-10-27T12:34:57Z"}, False),
        ({"since": "2026-10-27T14:34:56+02:00"}, True),
        ({"until": "2026-10-27T12:34:57Z"}, True),
        ({"until": "2026-10-27T12:34:56Z"}, False),
    ],
)
def test_the_filters_are_understood_as_the_hub_does(filters: dict[str, str], does_fit: bool) -> None:
    names = ("type", "phase", "target", "cluster", "created_by", "since", "until")
    assert fits(an_operation(), {name: filters.get(name) for name in names}) is does_fit


# --- nodes, devices, clusters -----------------------------------------------------------------------------------------


def test_a_node_has_a_new_line_when_it_changes_and_is_missed_when_it_is_gone(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on(
        "GET",
        "/v1/nodes",
        page(a_node(), a_node(name="n04"), a_node(name="n05")),
        page(a_node(cordoned=True), a_node(name="n04", updated_at="2026-10-27T12:35:00.000Z")),
    )
    token_event = message(8, object={"kind": "token", "name": "ann", "cluster": None})
    fed(hub, token_event, message(9))
    ran = hgr("node", "ls", "--watch", "--no-headers", "--cluster", "iad-1")
    assert [(line[0], line[3]) for line in lines(ran.out)] == [
        ("iad-1-n03", "-"),
        ("n04", "-"),
        ("n05", "-"),
        ("iad-1-n03", "cordoned"),
    ]
    assert ran.err.splitlines()[0] == "iad-1/n05 is not in the list any more"
    assert len(hub.asked("GET", "/v1/nodes")) == 2
    assert hub.asked("GET", PATH)[0].query == {"cluster": "iad-1", "after": "7"}


def test_names_of_watched_nodes_have_their_cluster_since_another_may_come(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes", page(a_node()))
    fed(hub)
    ran = hgr("node", "ls", "--watch", "-q")
    assert (ran.out, ran.err.splitlines()[0]) == ("iad-1/iad-1-n03\n", "error: the token has expired")


def test_what_no_event_tells_is_seen_after_a_while(hub: ScriptedHub, hgr: Hgr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "TICK_S", 0.001)
    monkeypatch.setattr(watch, "REFRESH_S", 0.0)
    seen = threading.Event()

    def second(_request: object) -> Answer:
        seen.set()
        return page(a_device(free=0))

    def silent() -> Iterator[bytes]:
        seen.wait(PATIENCE_S)
        yield b": still there\n\n"

    hub.on("GET", "/v1/devices", page(a_device()), second)
    hub.on("GET", PATH, Answer(stream=silent()), OVER)
    assert [line[-1] for line in lines(hgr("device", "ls", "--watch").out)] == ["FREE", "2", "0"]


def test_workloads_and_deployments_have_a_new_line_when_more_of_them_is_ready(hub: ScriptedHub, hgr: Hgr) -> None:
    of = {"kind": "workload", "name": "llama-3-8b", "cluster": None}
    hub.on("GET", "/v1/workloads", page(a_workload(ready=3)), page(a_workload(ready=4)))
    hub.on("GET", "/v1/deployments", page(a_deployment(ready=1)), page(a_deployment(ready=2)))
    fed(hub, message(8, object=of), message(9))
    rows = lines(hgr("workload", "ls", "--watch", "--no-headers").out)
    assert [line[4] for line in rows] == ["3/4", "4/4"]
    fed(hub, message(8, object=of), message(9))
    ran = hgr("deployment", "ls", "-w", "--no-headers", "--cluster", "iad-1")
    assert [line[5] for line in lines(ran.out)] == ["1", "2"]
    # What is done to a workload is no matter of one cluster, and the feed of one would not tell of it.
    assert [asked.query.get("cluster") for asked in hub.asked("GET", PATH)] == [None] * 4


def test_a_cluster_has_a_new_line_when_its_operator_goes(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/clusters", page(a_cluster()), page(a_cluster(online=False)))
    fed(hub, message(8), message(9, object={"kind": "cluster", "name": "iad-1", "cluster": "iad-1"}))
    ran = hgr("cluster", "ls", "--watch", "-o", "json")
    assert [json.loads(line)["online"] for line in ran.out.splitlines()] == [True, False]
    assert len(hub.asked("GET", "/v1/clusters")) == 2


def test_a_list_with_nothing_in_it_yet_is_watched_and_its_header_comes_with_the_first_row(
    hub: ScriptedHub, hgr: Hgr
) -> None:
    hub.on("GET", "/v1/operations", page())
    hub.on("GET", f"/v1/operations/{ID}", Answer(document=running(3)))
    fed(hub, message(8))
    ran = hgr("operation", "ls", "--watch", "--phase", "running")
    assert [line[0] for line in lines(ran.out)] == ["ID", ID]
    assert ran.out.splitlines()[0].index("TYPE") == ran.out.splitlines()[1].index("node.drain")
    assert ran.err.splitlines()[0] == "nothing yet; watching"


def test_a_list_that_cannot_be_read_is_not_watched(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes", problem(403, "forbidden", "not you"))
    assert (hgr("node", "ls", "--watch").code, hub.asked("GET", PATH)) == (4, [])


# --- in a process of its own ------------------------------------------------------------------------------------------


class Endless:
    """A feed that has begun and then is silent, until the test lets it end."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces
        self.is_read = threading.Event()
        self.go_on = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        self.is_read.set()
        self.go_on.wait(PATIENCE_S)


def start(hub: ScriptedHub, *words: str) -> subprocess.Popen[str]:
    environ = {"HGR_SERVER": hub.url, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-m", "hangar.cli", *words],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.fixture
def endless(hub: ScriptedHub) -> Iterator[Endless]:
    feed = Endless(message(8))
    hub.on("GET", "/v1/events", page(an_event(rev=7)))
    hub.on("GET", PATH, Answer(stream=feed))
    yield feed
    feed.go_on.set()


def test_ctrl_c_ends_it_quietly(hub: ScriptedHub, endless: Endless) -> None:
    process = start(hub, "event", "ls", "--watch", "-q")
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["7\n", "8\n"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (130, "", "")


def test_it_ends_when_nobody_reads_any_more_even_if_nothing_happens(hub: ScriptedHub, endless: Endless) -> None:
    process = start(hub, "event", "ls", "--watch", "-q")
    assert process.stdout is not None
    assert process.stderr is not None
    assert [process.stdout.readline() for _ in range(2)] == ["7\n", "8\n"]
    assert endless.is_read.wait(PATIENCE_S)
    process.stdout.close()
    with process.stderr as stderr:
        assert stderr.read() == ""
    assert process.wait(PATIENCE_S) == 130

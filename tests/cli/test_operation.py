"""hgr operation: listed, shown, waited for, cancelled."""

import json
import re

import pytest

from tests.cli.conftest import Hgr
from tests.cli.samples import an_event, an_operation, ended, running
from tests.cli.scripted import Answer, ScriptedHub, problem

ID = an_operation()["id"]
PATH = f"/v1/operations/{ID}"


def test_the_history_is_a_table(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/operations", ended(9), running(3, 1, "evicting", "pdb a has 2 needs 2"))
    lines = [re.sub(r" \d+d ", " AGE ", line) for line in hgr("operation", "ls").out.splitlines()]
    assert [line.split() for line in lines] == [
        ["ID", "TYPE", "CLUSTER", "TARGET", "PHASE", "AGE", "BY", "MESSAGE"],
        [ID, "node.drain", "iad-1", "iad-1-n02", "succeeded", *lines[1].split()[5:6], "admin", "evicted_replicas=3"],
        [
            *[ID, "node.drain", "iad-1", "iad-1-n02", "running", *lines[2].split()[5:6], "admin"],
            "evicting",
        ],
    ]


def test_the_manuals_filters_are_sent(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/operations")
    assert hgr("operation", "ls", "--type", "node.drain", "--phase", "succeeded").code == 0
    assert hgr("operation", "ls", "--target", "iad-1-n02").code == 0
    assert hgr("operation", "ls", "--target", "iad-1/iad-1-n02", "--created-by", "ann", "--limit", "1").code == 0
    assert [request.query for request in hub.requests] == [
        {"type": "node.drain", "phase": "succeeded", "page_size": "1000"},
        {"target": "iad-1-n02", "page_size": "1000"},
        {"target": "iad-1-n02", "cluster": "iad-1", "created_by": "ann", "page_size": "1"},
    ]


def test_since_and_until_take_instants_and_ages(hub: ScriptedHub, hgr: Hgr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 7200.0)
    hub.on_list("/v1/operations")
    hgr("operation", "ls", "--since", "1h", "--until", "2026-10-27T12:00:00Z")
    assert hub.requests[0].query["since"] == "1970-01-01T01:00:00Z"
    assert hub.requests[0].query["until"] == "2026-10-27T12:00:00Z"


@pytest.mark.parametrize("when", ["yesterday", "2026-10-27T12:00:00", ""])
def test_a_time_that_is_none_is_told_before_the_hub_is_asked(hub: ScriptedHub, hgr: Hgr, when: str) -> None:
    ran = hgr("operation", "ls", "--since", when)
    assert (ran.code, hub.requests) == (2, [])
    assert f"argument --since: {when!r} is no instant with a time zone (2026-10-27T12:00:00Z)" in ran.err


def test_a_filter_the_hub_refuses_exits_2(hub: ScriptedHub, hgr: Hgr) -> None:
    errors = [{"path": "query.phase", "message": "must be one of pending, running"}]
    hub.on("GET", "/v1/operations", problem(400, "invalid_filter", "a filter is wrong", errors=errors))
    ran = hgr("operation", "ls", "--phase", "done")
    assert (ran.code, ran.err.splitlines()[1]) == (2, "  --phase: must be one of pending, running")


def test_one_operation_is_shown_whatever_came_of_it(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", PATH, Answer(document=ended(9, "failed", "no capacity")))
    ran = hgr("operation", "get", ID)
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert {f"id: {ID}", "phase: failed", "result.message: no capacity", "result.duration: 42s"} <= set(lines)


def test_what_it_waits_for_has_a_line_each_with_the_code_to_look_up(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", PATH, Answer(document=running(3, 1, "evicting", "a waits", "b\nwaits")))
    lines = hgr("operation", "get", ID).out.splitlines()
    assert [line for line in lines if "block" in line] == [
        "blocker: a waits (budget_spent)",
        "blocker: b\\nwaits (budget_spent)",
    ]
    assert "progress.done: 1" in lines
    assert len(json.loads(hgr("operation", "get", ID, "-o", "json").out)["progress"]["blockers"]) == 2


def test_an_unknown_operation_exits_5(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/operations/op_x", problem(404, "not_found", "there is no operation op_x"))
    assert hgr("operation", "get", "op_x").code == 5
    assert hgr("operation", "wait", "op_x").code == 5


def test_its_events_are_listed(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list(f"{PATH}/events", an_event())
    assert "cordoned: faulty GPU" in hgr("operation", "events", ID).out


def test_waiting_for_an_operation_of_somebody_else(hub: ScriptedHub, hgr: Hgr) -> None:
    """C93: it can be watched from anywhere."""
    hub.on("GET", PATH, Answer(document=running(3)))
    hub.on("GET", f"{PATH}/wait", Answer(document=ended(9)))
    ran = hgr("operation", "wait", ID, "--wait-timeout", "10m")
    assert (ran.code, ran.out) == (0, "node.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)\n")
    assert hgr("operation", "wait", ID, "-o", "json").code == 0


def test_waiting_for_one_that_failed_exits_11(hub: ScriptedHub, hgr: Hgr) -> None:
    """C71: what follows on a success does not follow on this."""
    hub.on("GET", PATH, Answer(document=ended(9, "failed")))
    ran = hgr("operation", "wait", ID, "-o", "json")
    assert (ran.code, json.loads(ran.out)) == (11, ended(9, "failed"))


@pytest.mark.usefixtures("time_flies")
def test_a_wait_that_times_out_exits_8_and_says_how_to_go_on(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", PATH, Answer(document=running(3)))
    hub.on("GET", f"{PATH}/wait", Answer(document=running(3, 1)))
    ran = hgr("operation", "wait", ID, "--wait-timeout", "10", "-o", "json")
    assert (ran.code, json.loads(ran.out)["phase"]) == (8, "running")
    assert "still running after 10s" in ran.err
    assert f"hgr operation wait {ID} --wait-timeout TIME" in ran.err
    assert {request.method for request in hub.requests} == {"GET"}


def test_cancel_returns_when_it_is_accepted(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", f"{PATH}:cancel", Answer(202, running(5)))
    ran = hgr("operation", "cancel", ID)
    assert (ran.code, ran.out) == (
        0,
        "node.drain iad-1-n02 will stop: its operator ends what is in flight, and undoes nothing\n",
    )
    assert f"hgr operation wait {ID}" in ran.err


def test_cancelling_one_that_did_not_run_yet_is_over_at_once(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", f"{PATH}:cancel", Answer(200, ended(5, "cancelled", "cancelled before it began")))
    ran = hgr("operation", "cancel", ID)
    assert (ran.code, ran.out, ran.err) == (
        0,
        "node.drain iad-1-n02 cancelled: cancelled before it began (42s)\n",
        "",
    )
    assert hgr("operation", "cancel", ID, "-q").out == f"{ID}\n"


@pytest.mark.parametrize(("phase", "code"), [("cancelled", 0), ("succeeded", 6), ("failed", 6)])
def test_a_cancel_that_waits_succeeds_if_it_was_the_cancel_that_won(
    hub: ScriptedHub, hgr: Hgr, phase: str, code: int
) -> None:
    hub.on("POST", f"{PATH}:cancel", Answer(202, running(5)))
    hub.on("GET", f"{PATH}/wait", Answer(document=ended(9, phase, "moved 2, not touched 1")))
    ran = hgr("operation", "cancel", ID, "--wait")
    assert (ran.code, ran.out) == (code, f"node.drain iad-1-n02 {phase}: moved 2, not touched 1 (42s)\n")


def test_cancelling_what_is_over_exits_6_and_shows_where_it_ended(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", f"{PATH}:cancel", problem(409, "already_finished", "it has succeeded already", operation=ended(9)))
    ran = hgr("operation", "cancel", ID)
    assert (ran.code, ran.out) == (6, "")
    assert f"the operation: {ID} (node.drain iad-1-n02 succeeded, asked for by admin)" in ran.err

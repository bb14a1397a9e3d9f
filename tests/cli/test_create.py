"""hgr operation create: asked once, printed at once, waited for if asked."""

import json

import pytest

from hangar.kinds import KINDS, WORKLOAD_KINDS
from tests.cli.conftest import Hgr
from tests.cli.samples import an_operation, ended, running
from tests.cli.scripted import Answer, ScriptedHub, problem

ID = an_operation()["id"]
DRAIN = ("operation", "create", "node.drain", "iad-1-n02")
OPERATIONS, WAIT = "/v1/operations", f"/v1/operations/{ID}/wait"


def created(hub: ScriptedHub, *then: Answer) -> None:
    hub.on("POST", OPERATIONS, Answer(202, an_operation(), {"Location": f"/v1/operations/{ID}"}))
    if then:
        hub.on("GET", WAIT, *then)


def test_without_wait_the_id_is_all_that_stdout_gets(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub)
    ran = hgr(*DRAIN, "--reason", "firmware upgrade")
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert ran.err == f"node.drain iad-1-n02 is pending; wait for it: hgr operation wait {ID}\n"
    [request] = hub.requests
    assert request.body == {"type": "node.drain", "target": "iad-1-n02", "reason": "firmware upgrade"}
    assert len(request.headers["idempotency-key"]) == 32


def test_each_invocation_has_its_own_key_and_retries_share_it(hub: ScriptedHub, hgr: Hgr) -> None:
    busy = problem(503, "busy", "later", {"Retry-After": "0"})
    hub.on("POST", OPERATIONS, busy, Answer(hang_up=True), Answer(202, an_operation()), Answer(202, an_operation()))
    assert hgr(*DRAIN).code == 0
    assert hgr(*DRAIN).code == 0
    first, second, third, other = [request.headers["idempotency-key"] for request in hub.requests]
    assert first == second == third != other


def test_a_key_can_be_given_and_a_replay_is_told(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", OPERATIONS, Answer(200, running(3), {"Idempotent-Replayed": "true"}))
    ran = hgr(*DRAIN, "--reason", "firmware", "--idempotency-key", "custom-key-123")
    assert hub.requests[0].headers["idempotency-key"] == "custom-key-123"
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert "used before" in ran.err


def test_a_replay_of_what_is_over_tells_how_it_ended(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", OPERATIONS, Answer(200, ended(9, "failed", "no capacity"), {"Idempotent-Replayed": "true"}))
    ran = hgr(*DRAIN, "--idempotency-key", "k")
    assert (ran.code, ran.err.splitlines()[-1]) == (0, "node.drain iad-1-n02 failed: no capacity (42s)")
    assert hgr(*DRAIN, "--idempotency-key", "k", "--wait").code == 11


@pytest.mark.parametrize("key", ["", "two words", "ümlaut", "x" * 256, "tab\t"])
def test_what_cannot_be_a_key_is_refused_before_anything_is_sent(hub: ScriptedHub, hgr: Hgr, key: str) -> None:
    ran = hgr(*DRAIN, "--idempotency-key", key)
    assert (ran.code, hub.requests) == (2, [])
    assert "visible ASCII" in ran.err


def test_waiting_ends_with_the_outcome_on_stdout(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub, Answer(document=running(2, 1)), Answer(document=ended(9)))
    ran = hgr(*DRAIN, "--reason", "firmware upgrade", "--wait")
    assert ran.code == 0
    assert ran.out == f"{ID}\nnode.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)\n"
    assert ran.err.splitlines() == [
        "node.drain iad-1-n02 pending",
        "node.drain iad-1-n02 running: evicting",
    ]
    assert hub.asked("GET", WAIT)[1].query["after_version"] == "2"


@pytest.mark.parametrize("phase", ["failed", "cancelled"])
def test_an_operation_that_did_not_succeed_exits_11(hub: ScriptedHub, hgr: Hgr, phase: str) -> None:
    created(hub, Answer(document=ended(9, phase, "no capacity")))
    ran = hgr(*DRAIN, "--wait")
    assert (ran.code, ran.out.splitlines()[1]) == (11, f"node.drain iad-1-n02 {phase}: no capacity (42s)")
    assert ran.err == f"node.drain iad-1-n02 pending\nmore: hgr operation get {ID}\n"


@pytest.mark.usefixtures("time_flies")
def test_a_wait_timeout_implies_waiting_and_exits_8(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub, Answer(document=running(2, 1)))
    ran = hgr(*DRAIN, "--wait-timeout", "10s")
    assert (ran.code, ran.out) == (8, f"{ID}\n")
    assert "error: node.drain iad-1-n02 is still running after 10s: evicting" in ran.err


def test_json_with_wait_is_one_document_the_last_one(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub, Answer(document=ended(9, "failed")))
    ran = hgr(*DRAIN, "--wait", "-o", "json")
    assert (ran.code, json.loads(ran.out)) == (11, ended(9, "failed"))
    assert ran.err.splitlines()[0] == f"node.drain iad-1-n02 is {ID}"


def test_json_without_wait_is_the_record(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub)
    assert json.loads(hgr(*DRAIN, "-o", "json").out) == an_operation()


def test_name_with_wait_is_the_id_alone_on_stdout(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub, Answer(document=ended(9)))
    ran = hgr(*DRAIN, "--wait", "-o", "name")
    assert (ran.out, ran.err.splitlines()[-1]) == (
        f"{ID}\n",
        "node.drain iad-1-n02 succeeded: evicted_replicas=3 (42s)",
    )


@pytest.mark.parametrize("words", [(), ("--wait",), ("--wait", "-o", "json")])
def test_quiet_prints_the_id_and_nothing_else(hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...]) -> None:
    created(hub, Answer(document=ended(9)))
    ran = hgr(*DRAIN, *words, "-q")
    assert (ran.code, ran.out, ran.err) == (0, f"{ID}\n", "")


def test_the_kinds_flags_become_its_parameters(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub)
    flags = ("--deadline", "1h30m", "--grace-period", "30s", "--skip-fit-check", "--on-failure", "uncordon")
    hgr(*DRAIN, *flags, "--cluster", "iad-1")
    assert hub.requests[0].body == {
        "type": "node.drain",
        "target": "iad-1-n02",
        "cluster": "iad-1",
        "params": {"deadline_s": 5400, "grace_period_s": 30, "skip_fit_check": True, "on_failure": "uncordon"},
    }


def test_flags_may_stand_before_the_type(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub)
    hgr("operation", "create", "--reason", "node.cordon", "--skip-fit-check", "node.drain", "n", "--deadline", "90")
    assert hub.requests[0].body["params"] == {"skip_fit_check": True, "deadline_s": 90}


def test_a_field_error_names_the_flag(hub: ScriptedHub, hgr: Hgr) -> None:
    errors = [{"path": "params.deadline_s", "message": "must be at least 1"}, {"path": "reason", "message": "too long"}]
    hub.on("POST", OPERATIONS, problem(422, "invalid_value", "two are wrong", errors=errors))
    ran = hgr(*DRAIN, "--deadline", "0")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        "error: two are wrong",
        "  --deadline: must be at least 1",
        "  --reason: too long",
    ]


def test_an_unknown_type_lists_the_known_ones(hub: ScriptedHub, hgr: Hgr) -> None:
    ran = hgr("operation", "create", "node.dran", "n")
    assert (ran.code, hub.requests) == (2, [])
    assert "'node.dran'" in ran.err
    assert all(name in ran.err for name in (*KINDS, *WORKLOAD_KINDS))


@pytest.mark.parametrize(
    "words", [(), ("node.drain",), ("node.drain", "n", "--no-such"), ("node.drain", "n", "--deadline", "x")]
)
def test_a_wrong_command_line_exits_2_and_sends_nothing(hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...]) -> None:
    ran = hgr("operation", "create", *words)
    assert (ran.code, ran.out, hub.requests) == (2, "", [])
    assert ran.err.startswith("error: ")
    assert f"hint: hgr operation create {f'{words[0]} ' if words else ''}--help" in ran.err


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [(403, "operation_not_allowed", 4), (401, "unauthenticated", 4), (409, "conflict", 6), (500, "internal", 1)],
)
def test_a_refusal_has_its_exit_code(hub: ScriptedHub, hgr: Hgr, status: int, code: str, exit_code: int) -> None:
    hub.on("POST", OPERATIONS, problem(status, code, "add `drain` to `cluster.allowedOperations`"))
    ran = hgr(*DRAIN, "--wait")
    assert (ran.code, ran.out) == (exit_code, "")
    assert ran.err.startswith("error: add `drain` to `cluster.allowedOperations`\n")


def test_an_outage_while_asking_exits_7_and_gives_the_key_to_go_on_with(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", OPERATIONS, Answer(hang_up=True))
    ran = hgr(*DRAIN)
    assert (ran.code, ran.out, len(hub.requests)) == (7, "", 4)
    assert f"--idempotency-key {hub.requests[0].headers['idempotency-key']}" in ran.err


def test_a_hub_that_was_never_reached_has_created_nothing(hgr: Hgr) -> None:
    ran = hgr("--server", "http://127.0.0.1:1", *DRAIN)
    assert (ran.code, ran.out) == (7, "")
    assert ran.err.splitlines() == [
        "error: cannot reach the hub at http://127.0.0.1:1 (from --server): connection refused (tried 4 times)",
        "hint: see whether it is up: curl http://127.0.0.1:1/healthz",
        "hint: nothing was created",
    ]


def test_a_token_that_ends_while_waiting_says_how_to_go_on(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub, problem(401, "unauthenticated", "the token has expired"))
    ran = hgr(*DRAIN, "--wait")
    assert ran.code == 4
    assert f"the operation goes on; wait for it: hgr operation wait {ID}" in ran.err


def test_the_way_to_go_on_repeats_the_hub_that_was_named(hub: ScriptedHub, hgr: Hgr) -> None:
    created(hub)
    assert f"hgr --server {hub.url} operation wait {ID}" in hgr("--server", hub.url, *DRAIN).err

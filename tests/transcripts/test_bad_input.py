"""Bad input, as a user types it: a clear error with its exit code, and nothing is lost or begun."""

import pytest

from tests.transcripts.demo import Shell

pytestmark = pytest.mark.xdist_group("fleet")

NODE_TYPES = "node.cordon, node.uncordon, node.drain"
WORKLOAD_TYPES = "workload.scale, workload.pause, workload.resume, workload.drain, workload.undrain"
NO_SUCH_TYPE = f"there is no operation type 'node.reboot'; known types: {NODE_TYPES}, {WORKLOAD_TYPES}"
SORTED_TYPES = ", ".join(sorted(f"{NODE_TYPES}, {WORKLOAD_TYPES}".split(", ")))


REFUSALS = [
    ("operation create node.reboot iad-1-n20", 2, [f"error: {NO_SUCH_TYPE}"]),
    (
        "operation create node.drain nope",
        5,
        ["error: there is no node nope in the fleet: `hgr node ls` lists those that the operators have told of"],
    ),
    (
        "operation create node.drain iad-1-n20 --cluster nope",
        5,
        ["error: there is no cluster nope: `hgr cluster ls` lists those there are"],
    ),
    (
        "operation create node.drain iad-1-n20 --cluster fra-1",
        5,
        [
            "error: there is no node iad-1-n20 in cluster fra-1: `hgr node ls` lists those that the operators have "
            "told of"
        ],
    ),
    (
        "operation create node.drain iad-1/iad-1-n20 --cluster fra-1",
        2,
        ["error: --cluster: is fra-1, but target names the cluster iad-1"],
    ),
    (
        "operation create node.drain edge-01",
        2,
        ["error: 2 clusters have a node edge-01: name one of fra-1/edge-01, sin-1/edge-01, or give the cluster"],
    ),
    (
        "node get edge-01",
        2,
        ["error: 2 clusters have a node edge-01: name one of fra-1/edge-01, sin-1/edge-01, or give the cluster"],
    ),
    (
        "operation create node.drain Iad_1 --deadline 0 --grace-period 2d",
        2,
        [
            "error: A value is not valid",
            "  TARGET: 'Iad_1' is no name: lower-case letters, digits, and - . between them",
            "  --deadline: must be at least 1, not 0",
            "  --grace-period: must be at most 86400, not 172800",
        ],
    ),
    ("operation create node.drain ''", 2, ["error: TARGET: may not be empty"]),
    (
        "operation create node.drain iad-1-n20 --colour red",
        2,
        ["error: unrecognized arguments: --colour red", "hint: hgr operation create node.drain --help"],
    ),
    (
        "operation create node.drain lab-1-n01",
        4,
        [
            "error: cluster lab-1 does not allow node.drain, which needs `drain`; it allows nothing: its "
            "operator's chart has `cluster.readOnly: true`, or no `drain` in `cluster.allowedOperations`; that is "
            "where to change it. What Kubernetes does not grant the operator is not allowed either.",
        ],
    ),
    (
        "operation create node.drain iad-1-n20 --force --dry-run",
        4,
        [
            "error: cluster iad-1 does not allow node.drain with these parameters, which needs `force`; it allows "
            "cordon, deploy, drain, scale: add `force` to `cluster.allowedOperations` in the chart of its operator. "
            "What Kubernetes does not grant the operator is not allowed either.",
        ],
    ),
    (
        "operation ls --type node.reboot --phase done",
        2,
        [
            "error: A filter is not valid",
            f"  --type: 'node.reboot' is no type: there are {SORTED_TYPES}",
            "  --phase: 'done' is no phase: there are pending, running, succeeded, failed, cancelled",
        ],
    ),
    ("operation get op_1", 5, ["error: there is no operation op_1: `hgr operation ls` lists those there are"]),
    ("operation cancel op_1", 5, ["error: there is no operation op_1: `hgr operation ls` lists those there are"]),
    ("cluster get nope", 5, ["error: there is no cluster nope: `hgr cluster ls` lists those there are"]),
]
"""What is typed after `hgr`, the exit code, and what is told on stderr."""


@pytest.mark.parametrize(("command", "code", "said"), REFUSALS)
def test_what_cannot_be_done_is_told_with_what_is_wrong_and_what_there_is(
    fleet: Shell, command: str, code: int, said: list[str]
) -> None:
    before = fleet.succeed("hgr operation ls -q").out
    ran = fleet.run(f"hgr {command}")
    assert (ran.code, ran.out, ran.err.splitlines()) == (code, "", said)
    assert fleet.succeed("hgr operation ls -q").out == before


def test_a_second_operation_on_a_held_node_is_told_who_holds_it_since_when_and_how_far(shell: Shell) -> None:
    ran = shell.run(
        "hangar-demo -- sh -c 'hgr operation create node.drain iad-1-n05 --reason fans --wait-timeout 1; "
        "hgr operation create node.uncordon iad-1-n05'"
    )
    assert ran.code == 6
    (id_,) = ran.lines
    refusal = ran.err.splitlines()[-1]
    assert refusal.startswith(f"error: iad-1/iad-1-n05 is held by node.drain {id_}, running, asked for ")
    for word in (" s ago by admin (fans), so far: evicted ", "needs 5 has 5", f"`hgr operation cancel {id_}`"):
        assert word in refusal


def test_a_finished_operation_is_not_cancelled_and_its_key_stands_for_it_alone(fleet: Shell) -> None:
    cordon = "hgr operation create node.cordon"
    id_ = fleet.succeed(f"{cordon} sin-1-n20 --idempotency-key night-shift-1 --wait -q").out.strip()
    ran = fleet.run(f"hgr operation cancel {id_}")
    assert (ran.code, ran.out) == (6, "")
    assert ran.err == f"error: {id_} has succeeded already; there is nothing left to cancel\n"
    ran = fleet.run(f"{cordon} sin-1-n21 --idempotency-key night-shift-1")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        f"error: the idempotency key 'night-shift-1' stands for {id_}, which was asked for with other values: send the "
        "same request again, or use a new key",
    ]
    assert "cordoned: false" in fleet.succeed("hgr node get sin-1-n21").lines


@pytest.mark.parametrize("command", ["node ls", "operation ls", "operation get op_1", "device ls"])
def test_a_hub_that_cannot_be_reached_is_told_with_the_address_and_who_named_it(shell: Shell, command: str) -> None:
    ran = shell.run(f"HGR_SERVER=http://127.0.0.1:1 hgr {command}")
    assert (ran.code, ran.out) == (7, "")
    assert ran.err.splitlines() == [
        "error: cannot reach the hub at http://127.0.0.1:1 (from HGR_SERVER): connection refused",
        "hint: see whether it is up: curl http://127.0.0.1:1/healthz",
    ]


def test_without_a_hub_it_is_told_how_to_name_one(shell: Shell) -> None:
    ran = shell.run("hgr node ls")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[0] == "error: no hub is configured, and no demo is running"
    assert "hint: start a fleet to try things on: hangar-demo" in ran.err


DRAIN = b'{"type": "node.drain", "target": "iad-1-n20"}'


@pytest.mark.parametrize(
    ("body", "media_type", "status", "code", "detail"),
    [
        (b"{", "application/json", 400, "invalid_request", "the body is not JSON: Input data was truncated"),
        (DRAIN, "text/plain", 415, "unsupported_media_type", "the body is text/plain: send application/json"),
        (b" " * 2_000_000, "application/json", 413, "too_large", "the body may have at most 1048576 bytes"),
        (b"[]", "application/json", 422, "invalid_value", "the body: must be an object"),
        (
            b'{"type": "node.reboot", "target": "", "colour": 1}',
            "application/json",
            422,
            "invalid_value",
            "target: may not be empty; colour: is no field here: there are type, target, cluster, params, reason; "
            f"type: 'node.reboot' is no type: there are {SORTED_TYPES}",
        ),
    ],
)
def test_a_body_that_is_no_request_is_a_problem_and_creates_nothing(
    fleet: Shell, body: bytes, media_type: str, status: int, code: str, detail: str
) -> None:
    before = fleet.succeed("hgr operation ls -q").out
    answer = fleet.post("/v1/operations", body, media_type)
    assert answer.media_type == "application/problem+json"
    assert (answer.status, answer.document["code"], answer.document["detail"]) == (status, code, detail)
    assert fleet.succeed("hgr operation ls -q").out == before

"""hgr operation create --dry-run: what would happen, before anything does."""

import json
import os
import sys

import pytest
import yaml

from hangar.cli.plan import amount, needs
from hangar.wire import plans
from tests.cli.conftest import Hgr
from tests.cli.samples import a_move, a_plan
from tests.cli.scripted import Answer, ScriptedHub, problem

OPERATIONS = "/v1/operations"
DRY = ("operation", "create", "node.drain", "iad-1-n02", "--dry-run")

NO_ROOM = plans.Obstruction(code="no_capacity", message="serving/llama-1 needs 8 nvidia.com/gpu on one node")


def planned(hub: ScriptedHub, plan: dict[str, object]) -> None:
    hub.on("POST", OPERATIONS, Answer(200, plan))


def test_a_dry_run_is_asked_for_and_nothing_has_an_id_or_a_key(hub: ScriptedHub, hgr: Hgr) -> None:
    planned(hub, a_plan(a_move()))
    ran = hgr(*DRY, "--reason", "firmware", "--deadline", "90", "--idempotency-key", "k")
    assert ran.code == 0
    assert "op_" not in ran.out + ran.err
    assert ran.err == "nothing was changed; without --dry-run it is done\n"
    [request] = hub.requests
    assert request.query == {"dry_run": "true"}
    assert "idempotency-key" not in request.headers
    assert request.body == {
        "type": "node.drain",
        "target": "iad-1-n02",
        "params": {"deadline_s": 90},
        "reason": "firmware",
    }


def test_a_plan_reads_from_the_verdict_down(hub: ScriptedHub, hgr: Hgr) -> None:
    plan = a_plan(
        a_move(),
        a_move("serving/llama-1", fits="does_not_fit", node=None, why="serving/llama-1 needs 8 nvidia.com/gpu"),
        a_move("ops/probe-0", owner=None, fits="unknown", node=None, requests={}, why="it has a volume of its own"),
        obstructions=[NO_ROOM],
        skipped=[plans.LeftPod(pod="kube-system/proxy-1", why="daemonset")],
        warnings=["serving/llama-0 keeps data in an emptyDir on disk"],
        budgets=[
            plans.PlannedBudget(budget="pdb serving/llama", pods=2, allowed=1, steps=2, message="needs 5 has 6"),
            plans.PlannedBudget(budget="pdb ops/probe", pods=1, allowed=1, steps=1, message=""),
        ],
        losses=[plans.PlannedLoss(owner="deployment serving/llama", ready=6, moving=2, lowest=5)],
        expected_duration_s=90,
        basis="2 steps of 45s",
    )
    planned(hub, plan)
    ran = hgr(*DRY)
    assert (ran.code, ran.err) == (11, "nothing was changed; as things are, it would fail\n")
    assert ran.out.splitlines() == [
        "node.drain iad-1/iad-1-n02: 3 pods would move",
        "would fail: serving/llama-1 needs 8 nvidia.com/gpu on one node (no_capacity)",
        "POD               OWNER                      FITS      WHERE       NEEDS                     WHY",
        "serving/llama-0   deployment serving/llama   yes       iad-1-n04   2 nvidia.com/gpu, 4 cpu   -",
        "serving/llama-1   deployment serving/llama   no        -           2 nvidia.com/gpu, 4 cpu   "
        "needs 8 nvidia.com/gpu",
        "ops/probe-0       -                          unknown   -           -                         "
        "it has a volume of its own",
        "stays: kube-system/proxy-1 (daemonset)",
        "warning: serving/llama-0 keeps data in an emptyDir on disk",
        "budget: pdb serving/llama: 2 of its pods move, 1 may go now: at least 2 steps, one after another; "
        "needs 5 has 6",
        "budget: pdb ops/probe: 1 of its pods move, 1 may go now: in one step",
        "serving: deployment serving/llama has 6 ready, 2 of them here; it may fall to 5",
        "expected: about 1m30s (2 steps of 45s)",
    ]


def test_an_unknown_duration_says_why_it_is_not_known(hub: ScriptedHub, hgr: Hgr) -> None:
    planned(hub, a_plan(basis="no pod of its owners was seen getting ready"))
    assert hgr(*DRY).out.splitlines()[-1] == "expected: not known (no pod of its owners was seen getting ready)"


def test_groups_have_a_column_where_there_are_any(hub: ScriptedHub, hgr: Hgr) -> None:
    planned(hub, a_plan(a_move(group="leaderworkerset serving/llama group 0 (4 pods)")))
    assert "leaderworkerset serving/llama group 0 (4 pods)" in hgr(*DRY).out
    planned(hub, a_plan(a_move()))
    assert "GROUP" not in hgr(*DRY).out
    assert "GROUP" in hgr(*DRY, "-o", "wide").out


def test_on_a_narrow_terminal_no_line_of_the_table_wraps(
    hub: ScriptedHub, hgr: Hgr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1)
    monkeypatch.setattr(os, "get_terminal_size", lambda _fd: os.terminal_size((60, 20)))
    planned(hub, a_plan(a_move(why="a long reason that goes on and on and on")))
    table = hgr(*DRY).out.splitlines()[1:]
    assert table == [
        "POD               FITS   WHERE       WHY",
        "serving/llama-0   \x1b[32myes\x1b[0m    iad-1-n04   a long reason that goe…",
    ]


@pytest.mark.parametrize("words", [("-q",), ("-o", "name")])
def test_names_are_those_of_the_pods_that_would_move(hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...]) -> None:
    planned(hub, a_plan(a_move(), a_move("serving/llama-1"), obstructions=[NO_ROOM]))
    ran = hgr(*DRY, *words)
    assert (ran.code, ran.out, ran.err) == (11, "serving/llama-0\nserving/llama-1\n", "")


def test_machines_get_all_of_it(hub: ScriptedHub, hgr: Hgr) -> None:
    plan = a_plan(a_move(), obstructions=[NO_ROOM])
    planned(hub, plan)
    ran = hgr(*DRY, "-o", "json")
    assert (ran.code, json.loads(ran.out), ran.err) == (11, plan, "")
    assert yaml.safe_load(hgr(*DRY, "-o", "yaml").out) == plan


@pytest.mark.parametrize("words", [("--wait",), ("--wait-timeout", "5m")])
def test_there_is_nothing_to_wait_for(hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...]) -> None:
    ran = hgr(*DRY, *words)
    assert (ran.code, ran.out, hub.requests) == (2, "", [])
    assert ran.err == f"error: --dry-run begins nothing, so {words[0]} has no end to wait for; give one of them\n"


def test_an_operator_that_is_away_is_not_asked_again_and_again(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on(
        "POST", OPERATIONS, problem(503, "cluster_offline", "the operator of iad-1 is offline", {"Retry-After": "5"})
    )
    ran = hgr(*DRY)
    assert (ran.code, ran.out, len(hub.requests)) == (7, "", 1)
    assert ran.err.splitlines()[0] == "error: the operator of iad-1 is offline"


@pytest.mark.parametrize(
    ("resource", "count", "written"),
    [
        ("cpu", 4000, "4"),
        ("cpu", 500, "500m"),
        ("memory", 32 << 30, "32Gi"),
        ("memory", 1536 << 20, "1536Mi"),
        ("memory", 1000, "1000"),
        ("memory", 0, "0"),
        ("ephemeral-storage", 1 << 40, "1Ti"),
        ("nvidia.com/gpu", 8, "8"),
        ("pods", 1, "1"),
    ],
)
def test_amounts_are_written_as_in_a_pod(resource: str, count: int, written: str) -> None:
    assert amount(resource, count) == written


def test_devices_come_first() -> None:
    requests = {"cpu": 250, "memory": 1 << 30, "nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 2}
    assert needs(requests) == "1 nvidia.com/gpu, 2 nvidia.com/mig-1g.10gb, 250m cpu, 1Gi memory"
    assert needs({}) == "-"

"""hgr workload … --dry-run: what would become of a workload, cluster by cluster."""

import json
from dataclasses import asdict
from typing import Any

from hangar.wire import plans, shown
from tests.cli.conftest import Hgr
from tests.cli.scripted import Answer, ScriptedHub

OPERATIONS = "/v1/operations"
ROW = plans.PlannedDeployment(
    cluster="fra-1",
    namespace="serving",
    graph="llama",
    before=2,
    after=0,
    ready=1,
    room=4,
    online=True,
    last_seen_at=None,
    rivals=[],
)
PLAN = plans.WorkloadPlan(
    type="workload.pause",
    target="llama",
    cluster=None,
    params={},
    message="2 = 2, divided becomes paused (2 when resumed)",
    deployments=[ROW],
    obstructions=[],
    warnings=["no cluster serves llama then"],
    planned_at="2026-10-27T12:34:56.000Z",
)


def planned(hub: ScriptedHub, **changes: Any) -> dict[str, Any]:
    document = asdict(PLAN) | changes
    hub.on("POST", OPERATIONS, Answer(200, document))
    return document


def test_a_plan_reads_from_the_verdict_down(hub: ScriptedHub, hgr: Hgr) -> None:
    planned(hub)
    ran = hgr("workload", "pause", "llama", "--dry-run", "--reason", "night")
    assert (ran.code, ran.err) == (0, "nothing was changed; without --dry-run it is done\n")
    assert ran.out.splitlines() == [
        "workload.pause llama: 2 = 2, divided becomes paused (2 when resumed)",
        "CLUSTER   GRAPH           NOW   THEN   READY   ROOM",
        "fra-1     serving/llama   2     0      1       4",
        "warning: no cluster serves llama then",
    ]
    [request] = hub.requests
    assert (request.query, request.body["reason"]) == ({"dry_run": "true"}, "night")
    assert "idempotency-key" not in request.headers


def test_what_is_in_the_way_fails_and_clusters_tell_of_themselves(hub: ScriptedHub, hgr: Hgr) -> None:
    hpa = shown.Rival(kind="HorizontalPodAutoscaler", name="llama", component="decode")
    away = {"online": False, "last_seen_at": "2026-10-27T12:34:56.000Z", "room": None, "rivals": [asdict(hpa)]}
    row, never = asdict(ROW) | away, asdict(ROW) | {"cluster": "iad-1", "online": False}
    stop = {"code": "rival_owner", "message": "an autoscaler writes it"}
    planned(hub, type="workload.drain", cluster="fra-1", deployments=[row, asdict(ROW), never], obstructions=[stop])
    ran = hgr("operation", "create", "workload.drain", "llama", "--cluster", "fra-1", "--dry-run")
    assert (ran.code, ran.err) == (11, "nothing was changed; as things are, it would fail\n")
    first, second, header, *rows, _ = ran.out.splitlines()
    assert first.startswith("workload.drain llama on fra-1: ")
    assert second == "would fail: an autoscaler writes it (rival_owner)"
    assert header.split() == ["CLUSTER", "GRAPH", "NOW", "THEN", "READY", "ROOM", "LAST-SEEN", "RIVALS"]
    assert " ago " in rows[0]
    assert rows[0].endswith("HorizontalPodAutoscaler llama (decode)")
    assert rows[1].split()[-2:] == ["online", "-"]
    assert rows[2].split()[-2:] == ["-", "-"]


def test_a_plan_has_the_other_forms_too(hub: ScriptedHub, hgr: Hgr) -> None:
    document = planned(hub)
    scale = ("workload", "scale", "llama", "--replicas", "0", "--dry-run")
    assert json.loads(hgr(*scale, "-o", "json").out) == document
    assert hgr(*scale, "-o", "name").out == "fra-1/serving/llama\n"
    assert hgr(*scale, "-q").out == "fra-1/serving/llama\n"


def test_a_plan_without_deployments_has_no_table(hub: ScriptedHub, hgr: Hgr) -> None:
    planned(hub, deployments=[], warnings=[])
    assert len(hgr("workload", "pause", "llama", "--dry-run").out.splitlines()) == 1

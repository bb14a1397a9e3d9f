"""hgr workload: listed, shown, applied from a file, removed; scaled, paused and resumed by operations."""

import json
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest
import yaml

from hangar.cli.workload import SHOWN_ONLY, SHOWN_ONLY_OF_DEPLOYMENT, settable
from hangar.wire import shown
from tests.cli.conftest import Hgr
from tests.cli.samples import DEPLOYMENT, a_workload, an_operation, ended
from tests.cli.scripted import Answer, ScriptedHub, problem

WORKLOADS, WORKLOAD = "/v1/workloads", "/v1/workloads/llama-3-8b"
OPERATIONS = "/v1/operations"
FRA = replace(DEPLOYMENT, cluster="fra-1", state="drifted", observed=5, changed_by=["kubectl-edit"], message="why")
SCALED = an_operation(type="workload.scale", target="llama-3-8b", cluster=None)
ID = SCALED["id"]


def test_workloads_are_listed_with_how_much_of_them_is_ready(hub: ScriptedHub, hgr: Hgr) -> None:
    paused = a_workload(name="qwen", state="paused", desired=0, ready=0, placement="paused; 4 when it is resumed")
    hub.on_list(WORKLOADS, a_workload(), paused)
    assert hgr("workload", "ls").out.splitlines() == [
        "NAME         PROJECT   STATE     REPLICAS   READY   PLACEMENT",
        "llama-3-8b   chat      running   4          3/4     4 divided among 2 clusters",
        "qwen         chat      paused    4          0/0     paused; 4 when it is resumed",
    ]
    assert hgr("workload", "ls", "-q").out == "llama-3-8b\nqwen\n"
    assert json.loads(hgr("workload", "ls", "-o", "json").out)["items"] == [a_workload(), paused]


def test_the_wide_list_tells_where_and_how_it_is_placed(hub: ScriptedHub, hgr: Hgr) -> None:
    bounds = {"iad-1": shown.ClusterBounds(min=0, max=4)}
    policy = shown.Policy(division="divided", weighing="static", weights={"fra-1": 2}, min=1, max=None, bounds=bounds)
    each = shown.Policy(division="duplicated", weighing="static", weights={}, min=0, max=None, bounds={})
    hub.on_list(WORKLOADS, a_workload(DEPLOYMENT, FRA, policy=policy, operation="op_1"), a_workload(policy=each))
    lines = hgr("workload", "ls", "-o", "wide").out.splitlines()
    assert lines[0].split()[-3:] == ["CLUSTERS", "POLICY", "OPERATION"]
    assert lines[1].endswith("iad-1, fra-1   divided static fra-1=2 1.. iad-1:0..4   op_1")
    assert lines[2].endswith("iad-1          duplicated                              -")


def test_the_filters_are_the_hubs(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list(WORKLOADS)
    ran = hgr("workload", "ls", "--project", "chat", "--state", "paused", "--limit", "5")
    assert hub.requests[0].query == {"project": "chat", "state": "paused", "page_size": "5"}
    assert (ran.code, ran.err) == (0, "no workloads with project=chat, state=paused\n")


def test_a_workload_is_shown_with_a_line_for_each_deployment(hub: ScriptedHub, hgr: Hgr) -> None:
    held = replace(DEPLOYMENT, cluster="ams-1", held=2, drained_by="op_1", online=False)
    hub.on("GET", WORKLOAD, Answer(document=a_workload(DEPLOYMENT, FRA, held)))
    lines = hgr("workload", "get", "llama-3-8b").out.splitlines()
    assert {"name: llama-3-8b", "replicas: 4", "policy.division: divided", "policy.max: -"} <= set(lines)
    assert lines[-3:] == [
        "deployment: iad-1 serving/llama ready desired=2 observed=2 ready=2",
        "deployment: fra-1 serving/llama drifted desired=2 observed=5 ready=2 changed_by=kubectl-edit: why",
        "deployment: ams-1 serving/llama ready (offline) desired=2 observed=2 ready=2 held=2 drained_by=op_1",
    ]
    assert json.loads(hgr("workload", "get", "llama-3-8b", "-o", "json").out) == a_workload(DEPLOYMENT, FRA, held)


def test_who_else_writes_the_numbers_of_a_deployment_has_a_line(hub: ScriptedHub, hgr: Hgr) -> None:
    rivals = [
        shown.Rival(kind="Planner", name="planner", component=None),
        shown.Rival(kind="GitOps", name="argocd", component="w"),
    ]
    hub.on("GET", WORKLOAD, Answer(document=a_workload(replace(DEPLOYMENT, rivals=rivals))))
    assert (
        hgr("workload", "get", "llama-3-8b").out.splitlines()[-1] == "rivals: iad-1 Planner planner, GitOps argocd (w)"
    )


def test_the_drains_that_touch_a_deployment_have_a_line(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", WORKLOAD, Answer(document=a_workload(replace(DEPLOYMENT, drains=["op_1", "op_2"]))))
    assert hgr("workload", "get", "llama-3-8b").out.splitlines()[-1] == "drains: iad-1 op_1, op_2"


def test_a_workload_without_deployments_says_so(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", WORKLOAD, Answer(document={**a_workload(), "deployments": []}))
    assert hgr("workload", "get", "llama-3-8b").out.splitlines()[-1] == "deployments: -"


# --- apply ------------------------------------------------------------------------------------------------------------

WANTED = {"project": "chat", "replicas": 4, "deployments": [{"cluster": "iad-1", "namespace": "s", "graph": "g"}]}


def test_a_workload_is_applied_from_a_file(hub: ScriptedHub, hgr: Hgr, tmp_path: Path) -> None:
    hub.on("PUT", WORKLOAD, Answer(201, a_workload()), Answer(200, a_workload()))
    file = tmp_path / "llama.yaml"
    file.write_text(yaml.safe_dump({"name": "llama-3-8b", **WANTED}))
    ran = hgr("workload", "apply", "-f", str(file))
    assert (ran.code, ran.out) == (0, "workload llama-3-8b created: 4 divided among 2 clusters\n")
    assert hub.requests[0].body == WANTED
    assert hgr("workload", "apply", "-f", str(file)).out.startswith("workload llama-3-8b applied: ")
    assert json.loads(hgr("workload", "apply", "-f", str(file), "-o", "json").out) == a_workload()
    assert hgr("workload", "apply", "-f", str(file), "-q").out == "llama-3-8b\n"


def test_what_get_shows_can_be_edited_and_applied(hub: ScriptedHub, hgr: Hgr, tmp_path: Path) -> None:
    hub.on("GET", WORKLOAD, Answer(document=a_workload(DEPLOYMENT, FRA)))
    hub.on("PUT", WORKLOAD, Answer(document=a_workload()))
    file = tmp_path / "llama.yaml"
    file.write_text(hgr("workload", "get", "llama-3-8b", "-o", "yaml").out)
    assert hgr("workload", "apply", "-f", str(file)).code == 0
    [request] = hub.asked("PUT", WORKLOAD)
    assert request.body == {
        "project": "chat",
        "replicas": 4,
        "policy": a_workload()["policy"],
        "shape": None,
        "template": None,
        "deployments": [{"cluster": name, "namespace": "serving", "graph": "llama"} for name in ("iad-1", "fra-1")],
    }


def test_what_cannot_be_set_is_what_the_api_shows_beyond_it() -> None:
    settable_fields = ("name", "project", "replicas", "policy", "shape", "template", "deployments")
    assert {*SHOWN_ONLY, *settable_fields} == {each.name for each in fields(shown.Workload)}
    of_deployment = {*SHOWN_ONLY_OF_DEPLOYMENT, "cluster", "namespace", "graph"}
    assert of_deployment == {each.name for each in fields(shown.Deployment)}


def test_a_field_that_nobody_knows_is_left_for_the_hub_to_refuse() -> None:
    assert settable({"name": "x", "replcas": 4, "deployments": ["?", {"clster": "a"}]}) == {
        "replcas": 4,
        "deployments": ["?", {"clster": "a"}],
    }
    assert settable({"name": "x", "deployments": 3}) == {"deployments": 3}


def test_all_that_is_wrong_with_a_file_is_told_by_its_fields(hub: ScriptedHub, hgr: Hgr, tmp_path: Path) -> None:
    errors = [{"path": "replicas", "message": "must be at least 0"}, {"path": "policy.min", "message": "too many"}]
    hub.on("PUT", WORKLOAD, problem(422, "invalid_value", "two are wrong", errors=errors))
    file = tmp_path / "llama.json"
    file.write_text(json.dumps({"name": "llama-3-8b", **WANTED}))
    ran = hgr("workload", "apply", "-f", str(file))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[1:] == ["  replicas: must be at least 0", "  policy.min: too many"]


def test_an_apply_is_sent_again_over_passing_trouble(hub: ScriptedHub, hgr: Hgr, tmp_path: Path) -> None:
    busy = problem(503, "busy", "later", {"Retry-After": "0"})
    hub.on("PUT", WORKLOAD, busy, Answer(hang_up=True), Answer(document=a_workload()))
    file = tmp_path / "llama.json"
    file.write_text(json.dumps({"name": "llama-3-8b", **WANTED}))
    assert hgr("workload", "apply", "-f", str(file)).code == 0
    assert [request.body for request in hub.requests] == [WANTED] * 3


# --- delete -----------------------------------------------------------------------------------------------------------


def a_removal(cluster: str | None, *messages: str) -> Answer:
    graphs = [
        shown.RemovedGraph(cluster="iad-1", namespace="serving", graph="llama", fate="removed", message=each)
        for each in messages
    ]
    return Answer(document=asdict(shown.Removal(workload="llama-3-8b", cluster=cluster, graphs=graphs)))


def test_a_workload_is_removed_and_what_becomes_of_its_graphs_is_told(hub: ScriptedHub, hgr: Hgr) -> None:
    messages = "graph serving/llama on iad-1 is removed", "graph serving/llama on fra-1 was adopted and stays as it is"
    hub.on("DELETE", WORKLOAD, a_removal(None, *messages))
    ran = hgr("workload", "delete", "llama-3-8b")
    assert (ran.code, ran.err, ran.out.splitlines()) == (0, "", ["workload llama-3-8b is removed", *messages])
    assert hub.requests[-1].query == {}
    assert hgr("workload", "delete", "llama-3-8b", "-q").out == "llama-3-8b\n"
    shown_ = json.loads(hgr("workload", "delete", "llama-3-8b", "--keep", "-o", "json").out)
    assert [each["message"] for each in shown_["graphs"]] == list(messages)
    assert hub.requests[-1].query == {"keep": "true"}


def test_a_workload_is_removed_from_one_cluster(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("DELETE", f"{WORKLOAD}/deployments/fra-1", a_removal("fra-1", "graph serving/llama on fra-1 is removed"))
    ran = hgr("workload", "delete", "llama-3-8b", "--cluster", "fra-1", "--allow-outage")
    said = "workload llama-3-8b is removed from fra-1\ngraph serving/llama on fra-1 is removed\n"
    assert (ran.code, ran.out) == (0, said)
    assert hub.requests[-1].query == {"allow_outage": "true"}
    assert hub.asked("DELETE", WORKLOAD) == []


def test_an_outage_is_allowed_on_one_cluster_alone(hgr: Hgr) -> None:
    ran = hgr("workload", "delete", "llama-3-8b", "--allow-outage")
    assert (ran.code, ran.err) == (2, "error: --allow-outage is for one cluster: give --cluster with it\n")


def test_a_template_is_shown_by_its_version_alone(hub: ScriptedHub, hgr: Hgr) -> None:
    template = {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "spec": {"components": []}}
    hub.on("GET", WORKLOAD, Answer(document=a_workload(template=template)))
    assert "template: nvidia.com/v1beta1 (-o yaml shows it)" in hgr("workload", "get", "llama-3-8b").out.splitlines()
    assert yaml.safe_load(hgr("workload", "get", "llama-3-8b", "-o", "yaml").out)["template"] == template
    assert settable(a_workload(template=template))["template"] == template


@pytest.mark.parametrize(("words", "path"), [((), WORKLOAD), (("--cluster", "ams-1"), f"{WORKLOAD}/deployments/ams-1")])
def test_what_is_refused_is_not_said_to_be_removed(
    hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...], path: str
) -> None:
    hub.on("GET", WORKLOAD, Answer(document=a_workload()))
    hub.on("DELETE", path, problem(409, "conflict", "op_1 holds it"))
    ran = hgr("workload", "delete", "llama-3-8b", *words)
    assert (ran.code, ran.out, ran.err) == (6, "", "error: op_1 holds it\n")


def test_a_removal_that_was_perhaps_made_is_told_so_and_sent_once(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", WORKLOAD, Answer(document=a_workload()))
    hub.on("DELETE", WORKLOAD, problem(503, "busy", "later"))
    ran = hgr("workload", "delete", "llama-3-8b")
    assert (ran.code, ran.out, len(hub.asked("DELETE", WORKLOAD))) == (7, "", 1)
    assert ran.err.endswith("hint: whether it was removed is not known: look before you repeat it\n")


# --- operations -------------------------------------------------------------------------------------------------------


def test_a_scale_is_an_operation_as_any_other(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", OPERATIONS, Answer(202, SCALED))
    ran = hgr("workload", "scale", "llama-3-8b", "--replicas", "4")
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert ran.err == f"workload.scale llama-3-8b is pending; wait for it: hgr operation wait {ID}\n"
    assert hgr("operation", "create", "workload.scale", "llama-3-8b", "--replicas", "4").out == ran.out
    short, long = hub.requests
    assert short.body == long.body == {"type": "workload.scale", "target": "llama-3-8b", "params": {"replicas": 4}}
    assert len(short.headers["idempotency-key"]) == 32


def test_a_scale_takes_all_that_a_creation_does(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", OPERATIONS, Answer(202, SCALED))
    hub.on("GET", f"{OPERATIONS}/{ID}/wait", Answer(document=ended(9, "failed", "3 of 4 are ready")))
    flags = ("--until", "ready", "--deadline", "20m", "--reason", "launch", "--idempotency-key", "k")
    ran = hgr("workload", "scale", "llama-3-8b", "--replicas", "4", *flags, "--wait-timeout", "1m")
    assert ran.code == 11
    assert ran.out.splitlines()[-1].endswith("failed: 3 of 4 are ready (42s)")
    assert hub.requests[0].headers["idempotency-key"] == "k"
    assert hub.requests[0].body == {
        "type": "workload.scale",
        "target": "llama-3-8b",
        "params": {"replicas": 4, "until": "ready", "deadline_s": 1200},
        "reason": "launch",
    }


def test_a_pause_keeps_its_reason_and_a_resume_needs_none(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", OPERATIONS, Answer(202, SCALED))
    assert hgr("workload", "pause", "llama-3-8b", "--reason", "nightly shutdown").code == 0
    assert hgr("workload", "resume", "llama-3-8b").code == 0
    assert [request.body for request in hub.requests] == [
        {"type": "workload.pause", "target": "llama-3-8b", "reason": "nightly shutdown"},
        {"type": "workload.resume", "target": "llama-3-8b"},
    ]


@pytest.mark.parametrize("words", [(), ("--replicas", "many"), ("--replicas", "4", "--until", "soon")])
def test_a_scale_without_a_number_is_refused_before_anything_is_sent(
    hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...]
) -> None:
    for command in (("workload", "scale"), ("operation", "create", "workload.scale")):
        ran = hgr(*command, "llama-3-8b", *words)
        assert (ran.code, ran.out, hub.requests) == (2, "", [])
        assert f"hint: hgr {' '.join(command)} --help" in ran.err
    assert words or "--replicas" in hgr("workload", "scale", "x").err


def test_a_drain_of_one_cluster_names_it(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("POST", OPERATIONS, Answer(202, SCALED))
    words = ("llama-3-8b", "--cluster", "iad-1", "--reason", "cluster decommission")
    assert hgr("operation", "create", "workload.drain", *words).code == 0
    assert hub.requests[0].body == {
        "type": "workload.drain",
        "target": "llama-3-8b",
        "cluster": "iad-1",
        "reason": "cluster decommission",
    }
    hgr("operation", "create", "workload.drain", *words, "--allow-outage", "--deadline", "1h")
    assert hub.requests[1].body["params"] == {"allow_outage": True, "deadline_s": 3600}

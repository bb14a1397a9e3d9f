"""hgr deployment: one line a workload and cluster."""

import json

from hangar.cli.deployment import STATES, is_concerned
from hangar.domain.workloads.workload import DeploymentState
from hangar.wire.shown import Rival
from tests.cli.conftest import Hgr
from tests.cli.samples import a_deployment, an_event
from tests.cli.scripted import ScriptedHub

DEPLOYMENTS = "/v1/deployments"


def test_deployments_are_listed_with_what_is_desired_observed_and_ready(hub: ScriptedHub, hgr: Hgr) -> None:
    away = a_deployment(cluster="fra-1", state="reconciling", observed=None, ready=0, online=False)
    hub.on_list(DEPLOYMENTS, a_deployment(), away)
    assert hgr("deployment", "ls").out.splitlines() == [
        "WORKLOAD     CLUSTER   STATE                   DESIRED   OBSERVED   READY   GRAPH",
        "llama-3-8b   iad-1     ready                   2         2          2       serving/llama",
        "llama-3-8b   fra-1     reconciling (offline)   2         -          0       serving/llama",
    ]
    assert json.loads(hgr("deployment", "ls", "-o", "json").out)["items"] == [a_deployment(), away]


def test_the_manuals_line_asks_for_one_workload(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list(DEPLOYMENTS)
    ran = hgr("deployment", "ls", "--workload", "llama-3-8b")
    assert hub.requests[0].query == {"workload": "llama-3-8b", "page_size": "1000"}
    assert (ran.code, ran.err) == (0, "no deployments with workload=llama-3-8b\n")


def test_the_filters_are_the_hubs(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list(DEPLOYMENTS, a_deployment(), a_deployment(workload="qwen"))
    ran = hgr("deployment", "ls", "--cluster", "iad-1", "--state", "drifted", "--no-headers", "-q")
    assert hub.requests[0].query == {"cluster": "iad-1", "state": "drifted", "page_size": "1000"}
    assert ran.out == "iad-1/llama-3-8b\niad-1/qwen\n"


def test_the_wide_list_says_who_keeps_a_number_where_it_is(hub: ScriptedHub, hgr: Hgr) -> None:
    changed = ["kubectl-edit", "argocd"]
    rivals = [Rival(kind="ScaledObject", name="llama", component="decode")]
    told = {"changed_by": changed, "rivals": rivals, "drains": ["op_2"], "message": "2 wanted, 5 found"}
    hub.on_list(DEPLOYMENTS, a_deployment(held=1, drained_by="op_1", **told))
    header, line = hgr("deployment", "ls", "-o", "wide").out.splitlines()
    assert header.split()[-7:] == ["GRAPH", "HELD", "DRAINED-BY", "CHANGED-BY", "RIVALS", "DRAINS", "MESSAGE"]
    assert line.endswith("kubectl-edit, argocd   ScaledObject llama (decode)   op_2     2 wanted, 5 found")


def test_the_states_are_the_domains() -> None:
    assert set(STATES) == {*DeploymentState, "discovered"}


def test_what_happens_to_nodes_alone_changes_no_deployment() -> None:
    kinds = ("workload", "deployment", "operation", "cluster", "node", "token")
    told = [is_concerned(an_event() | {"object": {"kind": kind, "name": "x", "cluster": None}}) for kind in kinds]
    assert told == [True, True, True, True, False, False]


def test_a_graph_that_nobody_bound_is_listed_without_a_workload(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list(DEPLOYMENTS, a_deployment(workload=None, state="discovered", desired=None))
    header, line = hgr("deployment", "ls").out.splitlines()
    assert header.split() == ["WORKLOAD", "CLUSTER", "STATE", "DESIRED", "OBSERVED", "READY", "GRAPH"]
    assert line.split() == ["-", "iad-1", "discovered", "-", "2", "2", "serving/llama"]
    assert hgr("deployment", "ls", "-q").out == "iad-1/serving/llama\n"

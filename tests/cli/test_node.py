"""hgr node: listed with their cordons, shown by `key: value`."""

from dataclasses import asdict

from tests.cli.conftest import Hgr
from tests.cli.samples import CORDON, a_node
from tests.cli.scripted import Answer, ScriptedHub, problem


def test_a_cordoned_node_is_marked_in_the_list(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/nodes", a_node(), a_node(name="iad-1-n04", cordoned=True, operation="op_1", replicas=0))
    assert hgr("node", "ls").out.splitlines() == [
        "NAME        CLUSTER   READY   CORDON     REPLICAS   OPERATION",
        "iad-1-n03   iad-1     true    -          3          -",
        "iad-1-n04   iad-1     true    cordoned   0          op_1",
    ]


def test_the_wide_list_says_whose_cordon_it_is_and_what_is_allocated(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/nodes", a_node(cordoned=True, cordon=asdict(CORDON)))
    line = hgr("node", "ls", "-o", "wide", "--no-headers").out
    assert all(text in line for text in ("gpu=6/8", "admin", "uid-n03"))
    assert line.endswith("faulty GPU\n")


def test_the_filters_are_the_hubs(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/nodes")
    hgr("node", "ls", "--cluster", "iad-1", "--cordoned", "--limit", "5")
    assert hub.requests[0].query == {"cluster": "iad-1", "cordoned": "true", "page_size": "5"}


def test_names_that_two_clusters_share_are_told_apart(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/nodes", a_node(name="n1", cluster="a"), a_node(name="n1", cluster="b"), a_node(name="n2"))
    assert hgr("node", "ls", "-q").out.split() == ["a/n1", "b/n1", "n2"]


def test_a_node_is_shown_by_key_and_value(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes/iad-1-n03", Answer(document=a_node()))
    ran = hgr("node", "get", "iad-1-n03")
    assert ran.code == 0
    assert "cordoned: false" in ran.out.splitlines()
    assert "allocatable.nvidia.com/gpu: 8" in ran.out.splitlines()
    assert "cordon: -" in ran.out.splitlines()


def test_a_node_may_be_named_with_its_cluster(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes/n1", Answer(document=a_node()))
    hgr("node", "get", "iad-1/n1")
    hgr("node", "get", "n1", "--cluster", "iad-1")
    assert [request.query for request in hub.requests] == [{"cluster": "iad-1"}] * 2


def test_a_node_that_is_not_there_exits_5(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes/n9", problem(404, "not_found", "there is no node n9 in the fleet"))
    ran = hgr("node", "get", "n9")
    assert (ran.code, ran.out, ran.err) == (5, "", "error: there is no node n9 in the fleet\n")


def test_an_ambiguous_name_exits_2_and_lists_the_candidates(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", "/v1/nodes/n1", problem(422, "ambiguous_target", "which one?", candidates=["a/n1", "b/n1"]))
    ran = hgr("node", "get", "n1")
    assert (ran.code, ran.err) == (2, "error: which one?\nhint: candidates: a/n1, b/n1\n")

"""Whole drains on a real cluster: hub, operator and Kubernetes' own controllers, and what the API server saw of it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from testbed.bed import Bed
from testbed.ground import GPU_EACH, QUICK, Ground
from testbed.stack import ADMIN, Stack
from tests.kubernetes.scenes import Played, Scene, Scenes, played
from tests.kubernetes.told import cordon_patches, evicted, is_cordoned, listed, mark, outcome, uids

SLOW_START = replace(QUICK, ready_after="3s")
"""Replacements that are ready long after the old pods are gone."""

SCENES = Scenes()


@pytest.fixture(scope="module")
def all_played(bed: Bed, stack: Stack) -> Iterator[Played]:
    with played(SCENES, bed, stack, "drain") as futures:
        yield futures


# --- moving -----------------------------------------------------------------------------------------------------------


@SCENES.add
def a_drain_moves_every_pod_and_ends_when_the_replacements_are_ready(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("web", 3, SLOW_START)
    spare = ground.add_node()
    operation = ground.hub.submit("node.drain", node, reason="firmware upgrade")
    done = ground.hub.finish(operation)
    after = ground.ready_pods("web")
    assert outcome(done) == ("succeeded", "drained", "evicted_replicas=3")
    assert {pod["spec"]["nodeName"] for pod in after} == {spare}
    moved = listed(done, "moved")
    assert uids(moved) == uids(before)
    assert {row["successor_uid"] for row in moved} == uids(after)
    assert {row["successor_node"] for row in moved} == {spare}
    assert done["result"]["attempts"] == 1
    assert is_cordoned(ground, node)
    assert mark(ground, node) == {
        "operation": operation,
        "actor": ADMIN,
        "reason": "firmware upgrade",
        "prior_unschedulable": False,
    }
    assert sorted(evicted(ground.evictions())) == sorted(uids(before))
    assert len(ground.evictions()) == 3
    assert len(cordon_patches(ground, node)) == 1


@SCENES.add
def a_budget_lets_one_pod_go_at_a_time_and_the_server_never_has_to_say_no(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("api", 4)
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    operation = ground.hub.submit("node.drain", node)
    waiting = ground.hub.wait(operation, "it waits for the budget", lambda seen: "blocked" in str(seen["progress"]))
    assert "by pdb" in waiting["progress"]["message"]
    done = ground.hub.finish(operation)
    assert outcome(done) == ("succeeded", "drained", "evicted_replicas=4")
    assert {row["successor_uid"] for row in listed(done, "moved")} == uids(ground.ready_pods("api"))
    entries = ground.evictions()
    assert sorted(evicted(entries)) == sorted(uids(before))
    assert [each.code for each in entries] == [201] * 4
    gaps = [later.at - earlier.at for earlier, later in pairwise(entries)]
    assert min(gaps) >= timedelta(seconds=1), "the next one went before the replacement of the last one was ready"


@SCENES.add
def two_drains_at_once_never_spend_one_budget_twice(ground: Ground) -> None:
    nodes = [ground.add_node(gpus=2), ground.add_node(gpus=2)]
    before = ground.deploy("api", 4, replace(QUICK, requests=GPU_EACH.requests))
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    drains = [ground.hub.submit("node.drain", node) for node in nodes]
    for each in drains:
        assert outcome(ground.hub.finish(each)) == ("succeeded", "drained", "evicted_replicas=2")
    entries = ground.evictions()
    assert sorted(evicted(entries)) == sorted(uids(before))
    assert [each.code for each in entries] == [201] * 4
    assert min(later.at - earlier.at for earlier, later in pairwise(entries)) >= timedelta(seconds=1)


@SCENES.add
def a_stateful_pod_is_moved_under_its_name(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy_stateful("db", 2)
    ground.add_node()
    done = ground.hub.finish(ground.hub.submit("node.drain", node))
    assert outcome(done) == ("succeeded", "drained", "evicted_replicas=2")
    moved = listed(done, "moved")
    assert uids(moved) == uids(before)
    assert [row["pod"] for row in moved] == [row["successor"] for row in moved]
    assert {row["successor_uid"] for row in moved} == uids(ground.ready_pods("db"))


@SCENES.add
def a_daemon_is_left_where_it_is_and_listed(ground: Ground) -> None:
    node = ground.add_node()
    ground.deploy("web", 1)
    ground.add_node()
    daemons = ground.deploy_daemon("agent", 2)
    done = ground.hub.finish(ground.hub.submit("node.drain", node))
    assert outcome(done) == ("succeeded", "drained", "evicted_replicas=1")
    (skipped,) = listed(done, "skipped")
    (left,) = (pod for pod in daemons if pod["spec"]["nodeName"] == node)
    assert (skipped["uid"], skipped["reason"]) == (left["metadata"]["uid"], "daemonset")
    assert uids(ground.ready_pods("agent")) == uids(daemons)


@SCENES.add
def a_workload_that_is_deleted_in_mid_drain_is_no_longer_waited_for(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("api", 4, SLOW_START)
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    operation = ground.hub.submit("node.drain", node)
    ground.hub.wait(operation, "the first is on its way", lambda seen: "1 terminating" in str(seen["progress"]))
    ground.kube.delete("Deployment", "api", ground.name)
    done = ground.hub.finish(operation)
    assert outcome(done) == ("succeeded", "drained", "evicted_replicas=1")
    assert uids(listed(done, "moved")) | uids(listed(done, "left")) == uids(before)
    assert len(ground.evictions()) == 1


# --- refusing ---------------------------------------------------------------------------------------------------------


@SCENES.add
def a_bare_pod_fails_the_drain_before_anything_is_evicted(ground: Ground) -> None:
    node = ground.add_node()
    served = ground.deploy("web", 2)
    bare = ground.add_bare_pod("scratch", node)
    ground.add_node()
    phase, code, message = outcome(ground.hub.finish(ground.hub.submit("node.drain", node)))
    assert (phase, code) == ("failed", "unmanaged_pods")
    assert f"{ground.name}/scratch has no controller" in message
    assert ground.evictions() == []
    assert uids(ground.ready_pods("web")) | uids(ground.ready_pods("scratch")) == uids([*served, bare])
    assert is_cordoned(ground, node)


@SCENES.add
def a_budget_that_can_never_allow_it_fails_the_drain_right_after_the_cordon(ground: Ground) -> None:
    node = ground.add_node()
    ground.deploy("api", 2)
    ground.guard("api", min_available=2)
    ground.add_node()
    phase, code, message = outcome(ground.hub.finish(ground.hub.submit("node.drain", node)))
    assert (phase, code) == ("failed", "blocked_by_budget")
    assert f"pdb {ground.name}/api holds back {ground.name}/api-" in message
    assert "needs 2 has 2, and can never allow one; scale up, relax the budget" in message
    assert ground.evictions() == []
    assert is_cordoned(ground, node)
    assert len(cordon_patches(ground, node)) == 1


@SCENES.add
def what_fits_nowhere_fails_the_drain_and_goes_on_serving(ground: Ground) -> None:
    node = ground.add_node()
    served = ground.deploy("big", 1, replace(QUICK, requests={"cpu": "1", "nvidia.com/gpu": "8"}))
    ground.add_node(gpus=4)
    phase, code, message = outcome(ground.hub.finish(ground.hub.submit("node.drain", node, on_failure="uncordon")))
    assert (phase, code) == ("failed", "no_capacity")
    assert "needs 8 nvidia.com/gpu on one node, at most 4 are free on one" in message
    assert message.endswith("the node is uncordoned again")
    assert ground.evictions() == []
    assert uids(ground.ready_pods("big")) == uids(served)
    assert not is_cordoned(ground, node)
    assert mark(ground, node) is None


# --- cordons of others ------------------------------------------------------------------------------------------------


@SCENES.add
def a_cordon_from_before_stays_even_where_a_failed_drain_was_to_uncordon(ground: Ground) -> None:
    node = ground.add_node()
    ground.deploy("api", 1)
    ground.guard("api", min_available=1)
    ground.set_unschedulable(node, on=True, manager="kubectl-cordon")
    phase, code, _ = outcome(ground.hub.finish(ground.hub.submit("node.drain", node, on_failure="uncordon")))
    assert (phase, code) == ("failed", "blocked_by_budget")
    assert is_cordoned(ground, node)
    assert ground.evictions() == []


@SCENES.add
def an_uncordon_in_mid_drain_stops_it(ground: Ground) -> None:
    node, operation = _under_way(ground)
    ground.set_unschedulable(node, on=False, manager="kubectl-uncordon")
    phase, code, message = outcome(ground.hub.finish(operation))
    assert (phase, code) == ("failed", "interrupted")
    # Who takes the field away is named nowhere: managedFields list who holds one.
    assert f"node {node} was uncordoned by somebody in mid-drain" in message
    _nothing_more_is_evicted(ground, node)


@SCENES.add
def an_uncordon_by_a_manager_that_holds_on_to_it_is_named(ground: Ground) -> None:
    node, operation = _under_way(ground)
    wanted = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}, "spec": {"unschedulable": False}}
    path = f"/api/v1/nodes/{node}?fieldManager=gitops&force=true"
    ground.kube.call("PATCH", path, wanted, "application/apply-patch+yaml")
    phase, code, message = outcome(ground.hub.finish(operation))
    assert (phase, code) == ("failed", "interrupted")
    assert f"node {node} was uncordoned by gitops in mid-drain" in message
    _nothing_more_is_evicted(ground, node)


def _under_way(ground: Ground) -> tuple[str, str]:
    """Return a node and its drain, which has evicted one pod and waits for the budget with the others."""
    node = ground.add_node()
    ground.deploy("api", 4, SLOW_START)
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    operation = ground.hub.submit("node.drain", node)
    ground.hub.wait(operation, "one pod is on its way", lambda seen: "blocked 3 by pdb" in str(seen["progress"]))
    return node, operation


def _nothing_more_is_evicted(ground: Ground, node: str) -> None:
    ground.wait_ready("api", 4)  # now the budget would allow another one
    assert len(ground.evictions()) == 1
    assert not is_cordoned(ground, node)


# --- stopping ---------------------------------------------------------------------------------------------------------


@SCENES.add
def a_cancel_stops_it_and_lists_what_was_moved_what_terminates_and_what_was_not_touched(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("api", 8, replace(QUICK, terminate_after="2s"))
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    operation = ground.hub.submit("node.drain", node)
    ground.hub.wait(operation, "one has gone", lambda seen: seen["progress"] and seen["progress"]["done"] >= 1)
    ground.hub.cancel(operation)
    done = ground.hub.finish(operation, timeout_s=10)
    assert outcome(done)[:2] == ("cancelled", "cancelled")
    lists = {name: uids(listed(done, name)) for name in ("moved", "terminating", "unknown", "untouched", "left")}
    assert all(lists[name] for name in ("moved", "terminating", "untouched"))
    assert set().union(*lists.values()) == uids(before)
    assert sum(map(len, lists.values())) == len(before)
    assert set(evicted(ground.evictions())) == lists["moved"] | lists["terminating"]
    assert is_cordoned(ground, node)


@SCENES.add
def cordon_and_uncordon_leave_what_runs_alone(ground: Ground) -> None:
    node = ground.add_node()
    served = ground.deploy("web", 2)
    done = ground.hub.finish(ground.hub.submit("node.cordon", node, reason="bad fan"))
    assert outcome(done) == ("succeeded", "cordoned", "cordoned")
    assert is_cordoned(ground, node)
    again = ground.hub.finish(ground.hub.submit("node.cordon", node))
    assert outcome(again) == ("succeeded", "already_cordoned", f"already cordoned by {ADMIN} (bad fan)")
    ground.hub.finish(ground.hub.submit("node.uncordon", node))
    assert not is_cordoned(ground, node)
    assert mark(ground, node) is None
    assert uids(ground.ready_pods("web")) == uids(served)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_on_a_real_cluster(scene: Scene, all_played: Played) -> None:
    all_played[scene].result()

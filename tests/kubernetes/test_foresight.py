"""Plans and shared workloads on a real cluster: what is foreseen is written nowhere, and nobody loses its last pod."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from testbed.bed import Bed
from testbed.ground import GPU_EACH, QUICK, Ground
from testbed.stack import Stack
from tests.kubernetes.scenes import Played, Scene, Scenes, played
from tests.kubernetes.told import OPERATOR, evicted, is_cordoned, outcome, uids

SECOND = timedelta(seconds=1)
"""Kubernetes keeps the instants of conditions in whole seconds, cut down."""

SCENES = Scenes()


@pytest.fixture(scope="module")
def all_played(bed: Bed, stack: Stack) -> Iterator[Played]:
    with played(SCENES, bed, stack, "foresight") as futures:
        yield futures


@SCENES.add
def a_plan_tells_what_the_drain_then_does_and_is_written_nowhere(ground: Ground) -> None:
    """C96: a dry run lists pods, warnings and blockers, and leaves no write in the audit log."""
    node = ground.add_node()
    before = ground.deploy("web", 3)
    ground.deploy_daemon("agent", 1)
    ground.guard("web", max_unavailable=1)
    spare = ground.add_node()
    ground.wait_counted("web")
    plan = ground.hub.foresee("node.drain", node)
    assert [each for each in ground.bed.audit.writes(OPERATOR) if _is_of(each.namespace, each.name, ground, node)] == []
    assert not is_cordoned(ground, node)
    names = sorted(f"{ground.name}/{pod['metadata']['name']}" for pod in before)
    assert [each["pod"] for each in plan["moves"]] == names
    assert {(each["fits"], each["node"]) for each in plan["moves"]} == {("fits", spare)}
    assert [each["why"] for each in plan["skipped"]] == ["daemonset: it would be put back at once"]
    assert [(each["pods"], each["allowed"], each["steps"]) for each in plan["budgets"]] == [(3, 1, 3)]
    assert (plan["fits"], plan["obstructions"]) == ("fits", [])

    done = ground.hub.finish(ground.hub.submit("node.drain", node))
    assert outcome(done)[2] == "evicted_replicas=3"
    assert sorted(evicted(ground.evictions())) == sorted(uids(before))


def _is_of(namespace: str, name: str, ground: Ground, node: str) -> bool:
    return namespace == ground.name or name == node


@SCENES.add
def a_plan_names_what_fits_nowhere_with_what_is_missing(ground: Ground) -> None:
    node = ground.add_node(gpus=2)
    ground.deploy("big", 1, replace(QUICK, requests={"nvidia.com/gpu": "2"}))
    ground.add_node(gpus=1)
    plan = ground.hub.foresee("node.drain", node)
    (move,) = plan["moves"]
    assert (plan["fits"], move["fits"]) == ("does_not_fit", "does_not_fit")
    assert [each["code"] for each in plan["obstructions"]] == ["no_capacity"]
    assert "needs 2 nvidia.com/gpu on one node, at most 1 are free on one" in plan["obstructions"][0]["message"]


@SCENES.add
def two_drains_that_share_a_workload_never_leave_it_without_a_ready_pod(ground: Ground) -> None:
    """C47: two replicas on two nodes, no budget; the second goes only when the first serves elsewhere."""
    nodes = [ground.add_node(gpus=1), ground.add_node(gpus=1)]
    before = ground.deploy("pair", 2, replace(QUICK, requests=GPU_EACH.requests, ready_after="3s"))
    ground.add_node()
    drains = [ground.hub.submit("node.drain", node) for node in nodes]
    for each in drains:
        assert outcome(ground.hub.finish(each)) == ("succeeded", "drained", "evicted_replicas=1")
    first, second = sorted(ground.evictions(), key=lambda each: each.at)
    assert sorted(evicted([first, second])) == sorted(uids(before))
    ready_at = min(_ready_at(pod) for pod in ground.ready_pods("pair"))
    assert first.at < ready_at + SECOND
    assert ready_at <= second.at


def _ready_at(pod: dict[str, object]) -> datetime:
    status = pod["status"]
    assert isinstance(status, dict)
    (ready,) = (each for each in status["conditions"] if each["type"] == "Ready")
    return datetime.fromisoformat(ready["lastTransitionTime"])


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_on_a_real_cluster(scene: Scene, all_played: Played) -> None:
    all_played[scene].result()

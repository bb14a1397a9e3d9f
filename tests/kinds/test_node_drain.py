"""node.drain on small simulated worlds: what it moves, what it leaves, and what it says of that."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hangar.domain.decision import Evict
from hangar.domain.devices import GPU
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import PodPhase
from hangar.operator.cluster.simulated.spec import PodTemplate, WorkloadSpec
from tests.kinds.draining import drain
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import NOON


def test_every_pod_is_moved_and_the_node_stays_cordoned() -> None:
    world = a_world()
    world.add_workload(an_app(3, on=("n1", "n1", "n1")))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=3")
    node = world.snapshot().nodes[NodeName("n1")]
    assert node.unschedulable
    assert node.mark is not None
    assert (node.mark.operation, node.mark.actor, node.mark.reason) == (operation, "admin", "firmware")
    assert not list(world.snapshot().pods_on(NodeName("n1")))
    assert [row["successor_node"] for row in result.details["moved"]] == ["n2", "n3", "n2"]


def test_an_empty_node_is_drained_at_once() -> None:
    solo, operation = drain(a_world())
    assert solo.finish(operation)[1].message == "evicted_replicas=0"


def test_daemons_and_finished_pods_are_left_and_listed() -> None:
    """C12: a bare pod that has finished is in nobody's way."""
    world = a_world()
    world.add_workload(WorkloadSpec("DaemonSet", "agent", 0))
    world.add_workload(an_app(1, on=("n1",)))
    done = world.add_bare_pod("done", "n1", PodTemplate())
    world.put_pod(replace(done, phase=PodPhase.SUCCEEDED, ready=False))
    solo, operation = drain(world)
    assert solo.finish(operation)[1].message == "evicted_replicas=1"
    skipped = {row["pod"]: row["reason"] for row in solo.results[operation][1].details["skipped"]}
    assert skipped == {"default/agent-00000": "daemonset", "default/done": "finished"}


def test_a_stateful_pod_is_done_when_it_serves_elsewhere_under_its_name() -> None:
    """C03: the same name elsewhere is the pod that was waited for, and no reason to go on waiting."""
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n2"), kind="StatefulSet", name="db"))
    solo, operation = drain(world)
    assert solo.finish(operation)[1].message == "evicted_replicas=1"
    assert world.now <= NOON + timedelta(seconds=4), "it ends in one, and starts in two"
    (move,) = solo.results[operation][1].details["moved"]
    assert move["pod"] == move["successor"] == "default/db-0"
    assert move["uid"] != move["successor_uid"]


def test_a_workload_scaled_away_in_mid_drain_is_no_longer_waited_for() -> None:
    world = a_world(4)
    owner = world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.scale(owner.uid, 0)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert len(result.details["left"]) == 2


def test_an_only_replica_is_moved() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world)
    assert solo.finish(operation)[0] == "succeeded"


def test_the_grace_period_is_the_pods_own_unless_one_is_asked_for() -> None:
    """C63: no grace period is made up."""
    cases: list[tuple[dict[str, Any], int | None]] = [({}, None), ({"grace_period_s": 5}, 5)]
    for params, grace_s in cases:
        world = a_world()
        world.add_workload(an_app(1, on=("n1",)))
        solo, operation = drain(world, **params)
        solo.finish(operation)
        assert [step.grace_s for _, _, step, _ in solo.taken if isinstance(step, Evict)] == [grace_s]


def test_disk_backed_empty_dirs_are_a_warning_not_an_obstacle() -> None:
    world = a_world()
    template = PodTemplate(requests={GPU: 1}, has_disk_empty_dir=True, terminate_after_s=0.1, ready_after_s=0.1)
    world.add_workload(WorkloadSpec("Deployment", "cache", 1, template, pinned=("n1",)))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert phase == "succeeded"
    assert result.details["warnings"] == [
        "default/cache-rs-00000 keeps data in an emptyDir on disk, which is lost when it moves"
    ]


def test_a_daemon_that_is_being_replaced_is_not_waited_for() -> None:
    world = a_world()
    top = world.add_workload(WorkloadSpec("DaemonSet", "agent", 0, PodTemplate(terminate_after_s=30)))
    (here,) = (pod for pod in world.snapshot().pods_of(top.uid) if pod.node == "n1")
    world.delete_pod(here.ref.uid)
    solo, operation = drain(world)
    assert solo.finish(operation)[1].message == "evicted_replicas=0"
    assert world.now == NOON

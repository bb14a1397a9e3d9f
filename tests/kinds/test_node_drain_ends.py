"""node.drain that ends otherwise than it was meant to: cancelled, failed, its node uncordoned, gone or replaced."""

from dataclasses import replace

from hangar.domain.decision import Answer, Busy, Step, Uncordon
from hangar.domain.ids import NodeName
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.spec import NodeSpec, WorkloadSpec
from hangar.operator.cluster.simulated.world import World
from tests.kinds.draining import codes, drain, rows
from tests.simulation.fleet import a_budget, a_world, an_app


def test_a_human_uncordon_in_mid_drain_stops_it_and_is_named() -> None:
    """C40: after our cordon was seen, an uncordon is a word to stop."""
    world = a_world(4)
    world.add_workload(an_app(5, on=("n1",) * 5))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.cordon_by_hand("n1", "kubectl-uncordon", on=False)
    sent = len(solo.evictions())
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "interrupted")
    assert "was uncordoned by somebody" in result.message
    assert len(solo.evictions()) == sent
    assert not world.snapshot().nodes[NodeName("n1")].unschedulable


def test_a_failed_drain_uncordons_where_that_was_asked_for() -> None:
    """C41, C42: at once, and the result says so."""
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world, on_failure="uncordon")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert result.message.endswith("the node is uncordoned again")
    node = world.snapshot().nodes[NodeName("n1")]
    assert (node.unschedulable, node.mark) == (False, None)


def test_a_cordon_from_before_is_never_undone() -> None:
    """C38, C39: whatever was asked for, it is not ours."""
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    world.cordon_by_hand("n1", "kubectl-cordon")
    solo, operation = drain(world, on_failure="uncordon")
    assert solo.finish(operation)[0] == "failed"
    node = world.snapshot().nodes[NodeName("n1")]
    assert (node.unschedulable, node.cordon_manager) == (True, "kubectl-cordon")


def test_a_cancelled_drain_lists_what_it_moved_and_what_it_did_not() -> None:
    """C71: cancelled is no success, and says what was done."""
    world = a_world(4)
    world.add_workload(an_app(4, on=("n1",) * 4, ready_after_s=1, terminate_after_s=2))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(3)
    solo.cancel(operation)
    sent = len(solo.evictions())
    phase, result = solo.finish(operation)
    assert phase == "cancelled"
    assert result.message == "cancelled: 1 moved, 2 terminating, 1 not touched"
    assert [len(rows(solo, operation, name)) for name in ("moved", "terminating", "untouched")] == [1, 2, 1]
    solo.run(60)
    assert len(solo.evictions()) == sent


def test_a_node_deleted_in_mid_drain_is_finished_on_its_old_pods() -> None:
    world = a_world(4)
    world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.remove_node("n1")
    phase, result = solo.finish(operation)
    assert (phase, result.details["note"]) == ("succeeded", "node_deleted")


def test_a_node_replaced_in_mid_drain_is_not_touched() -> None:
    world = a_world(4)
    world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.remove_node("n1")
    world.add_node(NodeSpec("n1"))
    phase, result = solo.finish(operation)
    assert (phase, result.details["note"]) == ("succeeded", "node_replaced")
    assert not world.snapshot().nodes[NodeName("n1")].unschedulable


def test_a_node_that_does_not_confirm_its_pods_ends_is_unreachable_at_the_deadline() -> None:
    """C57: a silent kubelet confirms nothing, and the drain ends all the same."""
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n1")))
    world.put_node(replace(world.snapshot().nodes[NodeName("n1")], ready=False, is_heard=False))
    world.fate = lambda pod, template: None
    solo, operation = drain(world, deadline_s=60)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "node_unreachable")
    assert result.message.startswith(
        "not done within the deadline of 60 s: unconfirmed 2: the kubelet of n1 is silent; "
        "default/api-rs-00000 was told to end, and node n1, whose kubelet is silent, does not confirm that it has; "
    )
    assert rows(solo, operation, "terminating") == ["default/api-rs-00000", "default/api-rs-00001"]


def test_a_cordon_is_undone_when_the_cluster_can_be_read_again() -> None:
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world, on_failure="uncordon")
    real, is_lost = world.snapshot, [False]
    world.snapshot = lambda: (  # type: ignore[method-assign]
        replace(real(), nodes={}, unreadable=("nodes: no reply",)) if is_lost[0] else real()
    )

    def lose_sight(world: World, step: Step) -> Answer:
        answer = Busy("conflict") if isinstance(step, Uncordon) and not is_lost[0] else api.take(world, step)
        is_lost[0] = isinstance(step, Uncordon) and not is_lost[0]
        return answer

    solo.answer = lose_sight
    solo.run(5)
    assert solo.progress[operation].blockers[0].message == "cannot read nodes: no reply"
    is_lost[0] = False
    solo.answer = api.take
    assert solo.finish(operation)[1].message.endswith("; the node is uncordoned again")


def test_pods_of_a_node_that_took_the_name_are_not_listed_as_skipped() -> None:
    world = a_world(4)
    world.add_workload(WorkloadSpec("DaemonSet", "agent", 0))
    world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.remove_node("n1")
    world.add_node(NodeSpec("n1"))
    phase, result = solo.finish(operation)
    assert (phase, result.details["note"], result.details["skipped"]) == ("succeeded", "node_replaced", [])


def test_a_node_that_came_back_as_another_with_its_pods_is_left_alone_and_that_is_said() -> None:
    world = a_world(4)
    world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.remove_node("n1", quarantine_s=40)
    solo.run(1)
    assert codes(solo, operation) == ["collected", "collected", "loading"]
    world.add_node(NodeSpec("n1"))
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "node_replaced")
    assert "runs default/api-rs-00001, default/api-rs-00002 on; the new one is not touched" in result.message
    assert len(solo.evictions()) == 1

"""node.drain that ends otherwise than it was meant to: cancelled, failed, its node uncordoned, gone or replaced."""

from hangar.domain.ids import NodeName
from hangar.operator.cluster.simulated.spec import NodeSpec
from tests.kinds.draining import drain, rows
from tests.simulation.fleet import a_budget, a_world, an_app


def test_a_human_uncordon_in_mid_drain_stops_it_and_is_named() -> None:
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
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world, on_failure="uncordon")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert result.message.endswith("the node is uncordoned again")
    node = world.snapshot().nodes[NodeName("n1")]
    assert (node.unschedulable, node.mark) == (False, None)


def test_a_cordon_from_before_is_never_undone() -> None:
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    world.cordon_by_hand("n1", "kubectl-cordon")
    solo, operation = drain(world, on_failure="uncordon")
    assert solo.finish(operation)[0] == "failed"
    node = world.snapshot().nodes[NodeName("n1")]
    assert (node.unschedulable, node.cordon_manager) == (True, "kubectl-cordon")


def test_a_cancelled_drain_lists_what_it_moved_and_what_it_did_not() -> None:
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

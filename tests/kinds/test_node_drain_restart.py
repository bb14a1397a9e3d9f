"""node.drain across the death of its operator: the next one goes on from the record, and does nothing twice."""

from hangar.domain.decision import Accepted, Cordon
from hangar.domain.ids import NodeName
from tests.kinds.draining import drain, rows
from tests.simulation.fleet import a_budget, a_world, an_app


def test_a_wait_for_a_pod_that_runs_elsewhere_by_now_ends_after_a_restart() -> None:
    """C04: the name is back, on another node; the UID says that it is done."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), kind="StatefulSet", name="web", terminate_after_s=3.0))
    solo, operation = drain(world)
    solo.run(2)
    assert solo.progress[operation].message == "evicted 0/1, rescheduled 0/1, 1 terminating"
    solo.restart()
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert rows(solo, operation, "moved") == ["default/web-0"]
    assert len(solo.evictions()) == 1


def test_what_was_recorded_and_not_done_is_done_after_a_restart() -> None:
    """C74: the store knew of the drain, the node did not; the next operator makes the one true to the other."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world)
    turned = solo.conductor.turn(world.snapshot(), world.now)
    assert turned.steps == ()
    (report,) = solo.conductor.outbox()
    assert report.phase == "running"
    solo.memory[operation] = report.memory or {}
    solo.restart()  # it was killed after the hub had stored its report, and before the cordon left
    assert not world.snapshot().nodes[NodeName("n1")].unschedulable
    assert solo.finish(operation)[0] == "succeeded"
    assert [type(step) for _, _, step, _ in solo.taken].count(Cordon) == 1


def test_a_cancel_works_on_what_an_earlier_operator_began() -> None:
    """C76: killed in mid-drain, started again, cancelled: it stops, and says what was done."""
    world = a_world(4)
    world.add_workload(an_app(4, on=("n1",) * 4, ready_after_s=10.0))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(5)
    solo.restart()
    solo.cancel(operation)
    assert solo.finish(operation, within_s=2)[1].message == "cancelled: 1 moved, 0 terminating, 3 not touched"
    solo.run(60)
    assert [answer for _, _, answer in solo.evictions()] == [Accepted()]


def test_a_deadline_counts_on_through_a_restart() -> None:
    """C59: nothing gives an operation its time again."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.add_budget(a_budget(max_unavailable=0))
    solo, operation = drain(world, skip_fit_check=True, deadline_s=60)
    solo.run(50)
    solo.restart()
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "deadline_exceeded")
    assert (world.now - solo.taken[0][0]).total_seconds() == 60

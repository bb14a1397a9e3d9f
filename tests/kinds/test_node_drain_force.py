"""node.drain with force: what nobody recreates, what is left at the deadline, and nodes that are down for certain."""

from dataclasses import replace
from datetime import timedelta

from hangar.domain.decision import Delete, Evict
from hangar.domain.ids import NodeName
from hangar.operator.cluster.simulated.spec import PodTemplate
from tests.kinds.draining import codes, drain, rows
from tests.kinds.test_node_drain_doubts import lose
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import NOON, Solo


def deleted(solo: Solo) -> list[tuple[float, str, int]]:
    """Return the deletions that were sent: seconds after noon, the pod, its grace."""
    return [
        ((at - NOON).total_seconds(), step.pod.name, step.grace_s)
        for at, _, step, _ in solo.taken
        if isinstance(step, Delete)
    ]


def test_what_nobody_recreates_is_refused_and_with_force_evicted() -> None:
    """C14, C66: refused once and for all, with the reason; or evicted, as the caller chose."""
    world = a_world()
    world.add_bare_pod("scratch", "n1", PodTemplate())
    solo, refused = drain(world)
    assert solo.finish(refused)[1].code == "unmanaged_pods"
    forced = solo.submit("node.drain", "n1", force=True)
    phase, result = solo.finish(forced)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert deleted(solo) == [], "eviction was enough"


def test_an_orphan_goes_with_force_and_is_not_waited_for_elsewhere() -> None:
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n2")))
    for uid in list(world.snapshot().owners):
        world.index.drop_owner(uid)
    world.workloads.clear()
    solo, operation = drain(world, force=True)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")


def test_at_the_deadline_what_a_budget_holds_is_deleted_only_where_that_was_chosen() -> None:
    """C51, C55, C56: no deletion unless it was asked for; and then it is in the record."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.add_budget(a_budget(max_unavailable=0))
    solo, kept = drain(world, deadline_s=10, skip_fit_check=True)
    assert solo.finish(kept)[1].code == "deadline_exceeded"
    assert deleted(solo) == []
    forced = solo.submit("node.drain", "n1", deadline_s=10, skip_fit_check=True, on_deadline="force")
    phase, result = solo.finish(forced)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert deleted(solo) == [(20.0, "api-rs-00000", 1)]
    assert rows(solo, forced, "forced") == ["default/api-rs-00000"]


def test_at_the_deadline_long_graces_are_cut_short() -> None:
    """C61: a kill time-out of minutes does not outlast the deadline that was set."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), grace_s=480, terminate_after_s=480))
    solo, _ = drain(world, deadline_s=10, on_deadline="force")
    solo.run(10)
    ((at_s, _, grace_s),) = deleted(solo)
    assert (at_s, grace_s) == (10.0, 1)


def test_a_forced_drain_that_is_not_done_a_minute_later_says_so() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), grace_s=480, terminate_after_s=480))
    world.fate = lambda pod, template: None
    solo, operation = drain(world, deadline_s=10, on_deadline="force")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "deadline_exceeded")
    assert "what was left was deleted, and 60 s later it is not done" in result.message
    assert world.now == NOON + timedelta(seconds=70)


def test_on_a_node_that_is_down_for_certain_nothing_waits_for_a_confirmation() -> None:
    """C57: only who vouches that the machine is off may have its pods' objects removed."""
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n1")))
    down = replace(world.snapshot().nodes[NodeName("n1")], ready=False, is_heard=False)
    world.put_node(down)
    world.fate = lambda pod, template: None if pod.node == "n1" else 1.0
    solo, operation = drain(world, node_is_down=True)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=2")
    assert [(name, grace_s) for _, name, grace_s in deleted(solo)] == [("api-rs-00000", 0), ("api-rs-00001", 0)]
    assert {type(step) for _, _, step, _ in solo.taken} >= {Evict, Delete}


def test_a_node_that_is_heard_is_not_down_whatever_the_caller_says() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world, node_is_down=True)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "node_is_up")
    assert not solo.evictions()


def test_after_a_cancel_nothing_is_forced() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.add_budget(a_budget(max_unavailable=0))
    solo, operation = drain(world, deadline_s=10, skip_fit_check=True, on_deadline="force")
    solo.run(5)
    assert codes(solo, operation) == ["budget_never"]
    solo.cancel(operation)
    assert solo.finish(operation)[0] == "cancelled"
    solo.run(60)
    assert deleted(solo) == []


def test_force_at_the_deadline_is_not_for_what_nobody_recreates() -> None:
    """C14: not even where the deadline comes before it is known that nobody does."""
    world = a_world()
    lose(world, world.add_workload(an_app(1, on=("n1",))))
    solo, operation = drain(world, deadline_s=3, on_deadline="force")
    solo.run(4)
    assert codes(solo, operation) == ["orphaned"]
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "unmanaged_pods")
    assert deleted(solo) == []
    assert world.now == NOON + timedelta(seconds=5)

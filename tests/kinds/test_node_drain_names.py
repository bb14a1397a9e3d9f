"""node.drain and pods that share a name: done is what is gone by its UID, and nobody else is ever touched."""

from collections.abc import Callable

import pytest

from hangar.domain.decision import Accepted, Answer, Busy, Evict, Step
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Pod
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.world import World
from tests.kinds.draining import drain, rows
from tests.simulation.fleet import a_budget, a_world, an_app


def a_database() -> tuple[World, Pod]:
    """Return a cluster whose n1 has the one pod of a StatefulSet, db-0."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), kind="StatefulSet", name="db", ready_after_s=1.0))
    (pod,) = world.snapshot().pods_on(NodeName("n1"))
    return world, pod


def moved_away(world: World, pod: Pod, seconds: float = 5.0) -> Pod:
    """Let somebody else move a pod: it is gone, and one of its name serves on another node."""
    world.remove_pod(pod.ref.uid)
    world.advance(world.now.fromtimestamp(world.now.timestamp() + seconds, tz=world.now.tzinfo))
    (successor,) = (each for each in world.snapshot().pods.values() if each.ref.name == pod.ref.name)
    assert (successor.ref.uid != pod.ref.uid, successor.node != "n1", successor.ready) == (True, True, True)
    return successor


def replaced_before_the_first(meanwhile: Callable[[], object], first: Answer) -> Callable[[World, Step], Answer]:
    """Return a cluster in which something happens between the first eviction's decision and its answer."""
    left = [first]

    def answer(world: World, step: Step) -> Answer:
        if not isinstance(step, Evict) or not left:
            return api.take(world, step)
        left.clear()
        meanwhile()
        return first if first != Accepted() else api.take(world, step)

    return answer


def test_a_pod_that_was_moved_between_the_look_and_the_eviction_is_done_and_its_namesake_is_left_alone() -> None:
    """C01: the eviction carries the UID; whoever has the name by now is another pod."""
    world, pod = a_database()
    solo, operation = drain(world)
    solo.answer = replaced_before_the_first(lambda: moved_away(world, pod), Accepted())
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=0")
    assert rows(solo, operation, "left") == ["default/db-0"]
    (successor,) = world.snapshot().pods.values()
    assert not successor.is_terminating
    assert [uid for _, uid, _ in solo.evictions()] == [pod.ref.uid]


def test_a_retry_stops_for_a_pod_that_was_moved_and_is_never_turned_on_its_namesake() -> None:
    """C02: after a spent budget nobody loads the pod again by its name."""
    world, pod = a_database()
    budget = world.add_budget(a_budget("db", max_unavailable=0))
    solo, operation = drain(world, skip_fit_check=True)
    solo.run(1)
    assert solo.evictions() == [], "the budget is spent"
    world.change_budget(budget, a_budget("db", max_unavailable=1))
    moved_away(world, pod)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=0")
    assert solo.evictions() == []


@pytest.mark.parametrize("trouble", [Busy("conflict"), Busy("slow down", retry_after_s=5.0)], ids=repr)
def test_a_timer_that_fires_after_its_pod_has_moved_sends_nothing(trouble: Answer) -> None:
    """C32: what is tried again is decided anew, on the cluster as it is then."""
    world, pod = a_database()
    solo, operation = drain(world)
    solo.answer = replaced_before_the_first(lambda: None, trouble)
    solo.settle()
    assert len(solo.evictions()) == 1
    moved_away(world, pod, seconds=10.0)
    assert solo.finish(operation)[1].message == "evicted_replicas=0"
    assert [uid for _, uid, _ in solo.evictions()] == [pod.ref.uid]


def test_what_deletes_the_node_on_success_never_finds_a_container_that_still_runs() -> None:
    """C07: the machine is given away on the word of a drain, so the word comes after the last container."""
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n1"), grace_s=60, terminate_after_s=45.0, ready_after_s=1.0))
    solo, operation = drain(world)
    while operation not in solo.results:
        solo.run(1)
        running = list(world.snapshot().pods_on(NodeName("n1")))
        assert operation not in solo.results or running == []
    assert solo.results[operation][0] == "succeeded"
    assert (world.now - solo.evictions()[0][0]).total_seconds() >= 45

"""node.drain and groups: one evicted pod restarts the whole, which counts once, and another group serves throughout."""

from dataclasses import replace
from datetime import timedelta

from hangar.domain.limits import OWNER_GONE_S
from hangar.operator.cluster.simulated.spec import GROUPED
from hangar.operator.cluster.simulated.world import World
from tests.kinds.draining import drain
from tests.simulation.fleet import a_budget, a_group_set, a_world, an_app
from tests.simulation.solo import NOON, Solo

SIZE = 2


def a_world_of_groups(*, ready_after_s: float = 10.0) -> World:
    """Return a world of six nodes, and two groups of two pods: group 0 on n1 and n2, group 1 on n3 and n4."""
    world = a_world(6)
    app = an_app(2, name="llm", kind=GROUPED, on=("n1", "n2", "n3", "n4"), ready_after_s=ready_after_s)
    world.add_workload(replace(app, group_size=SIZE))
    return world


def watch_groups(world: World) -> list[int]:
    """Return how many complete groups serve, after each change from now on."""
    seen: list[int] = []
    told = world.on_change

    def count() -> None:
        told()
        serving: dict[str, int] = {}
        for pod in world.snapshot().pods.values():
            if pod.group is not None and pod.serves:
                serving[pod.group.index] = serving.get(pod.group.index, 0) + 1
        seen.append(sum(1 for pods in serving.values() if pods == SIZE))

    world.on_change = count
    return seen


def test_a_group_is_moved_whole_and_counts_once() -> None:
    """C53: the drain of one node ends when the whole group serves again, off that node."""
    world = a_world_of_groups()
    serving = watch_groups(world)
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert min(serving) == 1
    assert serving[-1] == 2
    assert not list(world.snapshot().pods_on(next(name for name in world.snapshot().nodes if name == "n1")))


def test_two_drains_never_take_both_groups() -> None:
    """C53, C54: one ledger decides, so that one group serves throughout."""
    world = a_world_of_groups()
    serving = watch_groups(world)
    solo = Solo(world)
    first, second = solo.submit("node.drain", "n1"), solo.submit("node.drain", "n3")
    solo.run(5)
    (held,) = [each for each in solo.progress[second].blockers if each.code == "last_ready"]
    assert held.subject == "leaderworkerset default/llm group 1"
    assert "is the last ready group of leaderworkerset default/llm, which has 1 of 2 ready" in held.message
    assert [solo.finish(each)[1].message for each in (first, second)] == ["evicted_replicas=1"] * 2
    assert min(serving) == 1


def test_a_budget_that_counts_pods_does_not_wedge_a_drain_of_groups() -> None:
    """C53: one pod of the group takes what the budget allows, and the rest of it goes with its controller."""
    world = a_world_of_groups()
    world.add_budget(a_budget("llm", max_unavailable=1))
    serving = watch_groups(world)
    solo, operation = drain(world)
    assert solo.finish(operation)[1].message == "evicted_replicas=1"
    assert min(serving) == 1


def test_an_only_group_is_waited_for_through_the_moment_when_there_is_no_pod_of_it() -> None:
    """C53: it begins anew only when the last of its pods has ended, and until then nothing is seen of it."""
    world = a_world(4)
    world.add_workload(a_group_set(1, SIZE, on=("n1", "n2"), ready_after_s=10.0))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert world.now > NOON + timedelta(seconds=10)
    assert sum(pod.serves for pod in world.snapshot().pods.values()) == SIZE


def test_groups_that_are_deleted_in_mid_drain_are_taken_to_be_gone_after_a_while() -> None:
    world = a_world(4)
    top = world.add_workload(a_group_set(1, SIZE, on=("n1", "n2")))
    solo, operation = drain(world)
    solo.run(0.5)
    world.remove_workload(top.uid)
    solo.run(10)
    assert [each.code for each in solo.progress[operation].blockers] == ["loading"]
    assert solo.finish(operation)[0] == "succeeded"
    assert NOON + timedelta(seconds=OWNER_GONE_S) < world.now < NOON + timedelta(seconds=OWNER_GONE_S + 5)

"""node.drain and groups: one evicted pod restarts the whole, which counts once, and another group serves throughout."""

from dataclasses import replace

from hangar.operator.cluster.simulated.spec import GROUPED
from hangar.operator.cluster.simulated.world import World
from tests.kinds.draining import drain
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import Solo

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

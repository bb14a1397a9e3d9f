"""node.drain and the habits of controllers: some take their time, some ignore the cordon, and two drains may meet."""

from dataclasses import replace
from datetime import timedelta

from hangar.domain.ids import NodeName
from hangar.operator.cluster.simulated.spec import NodeSpec, WorkloadSpec
from tests.kinds.draining import codes, drain, rows
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import NOON, Solo


def test_the_pods_of_a_job_are_waited_for_through_its_back_off() -> None:
    """C68: they are made anew, late."""
    world = a_world()
    world.add_workload(an_app(3, on=("n1",) * 3, kind="Job", name="train"))
    solo, operation = drain(world)
    solo.run(5)
    assert codes(solo, operation) == ["last_ready", "loading"]
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=3")
    assert world.now > NOON + timedelta(seconds=20)


def test_an_owner_that_puts_its_pods_back_despite_the_cordon_is_noticed() -> None:
    """C13: not seen before, since their node is named to them and no toleration shows it; two returns are enough."""
    world = a_world()
    top = world.add_workload(an_app(1, on=("n1",), terminate_after_s=0.5, ready_after_s=0.5))
    before = world.on_change

    def place_at_home() -> None:
        for pod in world.snapshot().pods_of(top.uid):
            if pod.node not in (None, "n1"):
                world.put_pod(replace(pod, node=NodeName("n1")))
        before()

    solo, operation = drain(world)
    world.on_change = place_at_home
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "returns_to_node")
    assert result.message == (
        "deployment default/api puts its pods back on n1 despite the cordon, 2 times by now: default/api-rs-00002"
    )
    assert len(solo.evictions()) == 2


def test_two_drains_that_hold_each_others_budgets_end_one_after_the_other() -> None:
    """C26: each has moved a pod of one app and waits for the other's; the younger lets the older go first."""
    world = a_world(4)
    for name in ("p", "q"):
        world.add_workload(an_app(2, on=("n1", "n2"), name=name, ready_after_s=20.0))
        world.add_budget(a_budget(name, max_unavailable=1))
    solo = Solo(world)
    older, younger = solo.submit("node.drain", "n1"), solo.submit("node.drain", "n2")
    solo.run(5)
    assert [len(solo.progress[each].blockers) > 0 for each in (older, younger)] == [True, True]
    assert solo.finish(older)[0] == "succeeded"
    assert solo.finish(younger)[0] == "succeeded"
    assert rows(solo, older, "moved") + rows(solo, younger, "moved") == [
        "default/p-rs-00000",
        "default/q-rs-00000",
        "default/p-rs-00001",
        "default/q-rs-00001",
    ]


def test_what_a_drain_says_of_the_pods_is_what_the_cluster_has() -> None:
    """C09: two nodes, one of them full; the other cannot be drained, and every pod is told as it is."""
    world = a_world(1, gpus=2)
    world.add_node(NodeSpec("n2", {"nvidia.com/gpu": 1, "cpu": 8000, "pods": 110}))
    world.add_workload(WorkloadSpec("Deployment", "full", 1, an_app(1).template, pinned=("n2",)))
    world.add_workload(an_app(2, on=("n1", "n1"), name="big"))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert "needs 1 nvidia.com/gpu" in result.message
    running = {str(pod.ref) for pod in world.snapshot().pods_on(NodeName("n1")) if pod.serves}
    assert set(rows(solo, operation, "untouched")) == running == {"default/big-rs-00000", "default/big-rs-00001"}

"""Groups: all or none of a group's pods are there, and each knows whose it is."""

from dataclasses import replace

from hangar.domain.devices import GPU
from hangar.domain.snapshot import Pod
from hangar.operator.cluster.simulated.groups import GROUP_LABEL, NAME_LABEL, WORKER_LABEL
from hangar.operator.cluster.simulated.spec import GROUPED, NodeSpec, QuotaSpec, WorkloadSpec
from hangar.operator.cluster.simulated.world import World
from tests.operator.cluster.simulated.worlds import NOON, a_world, an_app, pass_s, pods


def groups(replicas: int = 2, size: int = 3, **template: object) -> WorkloadSpec:
    return replace(an_app(replicas, name="llm", kind=GROUPED, **template), group_size=size)


def names(world: World) -> list[str]:
    return [pod.ref.name for pod in pods(world, "llm")]


def of_group(world: World, number: int) -> list[Pod]:
    return [pod for pod in pods(world, "llm") if pod.labels[GROUP_LABEL] == str(number)]


def test_groups_are_made_whole_and_ready_with_labels_and_owners_as_a_leader_worker_set_has_them() -> None:
    world = a_world()
    top = world.add_workload(groups())
    assert names(world) == ["llm-0", "llm-0-1", "llm-0-2", "llm-1", "llm-1-1", "llm-1-2"]
    assert all(pod.serves for pod in pods(world, "llm"))
    leader, first, second = of_group(world, 1)
    assert {pod.labels[NAME_LABEL] for pod in pods(world, "llm")} == {"llm"}
    assert [pod.labels[WORKER_LABEL] for pod in (leader, first, second)] == ["0", "1", "2"]
    snapshot = world.snapshot()
    assert leader.controller is not None
    leaders = snapshot.owners[leader.controller.uid]
    assert (leaders.ref.kind, leaders.desired, leaders.parent) == ("StatefulSet", 2, top)
    assert first.controller == second.controller != leader.controller
    assert first.controller is not None
    workers = snapshot.owners[first.controller.uid]
    assert (workers.ref.name, workers.desired) == ("llm-1", 2)
    assert workers.parent is not None
    assert (workers.parent.kind, str(workers.parent.uid)) == ("Pod", leader.ref.uid)


def test_one_pod_that_goes_takes_its_group_with_it_and_leaves_the_other_alone() -> None:
    world = a_world()
    world.add_workload(groups(terminate_after_s=5.0))
    before, others = of_group(world, 0), of_group(world, 1)
    world.delete_pod(before[2].ref.uid)
    pass_s(world, 1.0)
    assert all(pod.is_terminating for pod in of_group(world, 0))
    pass_s(world, 60.0)
    after = of_group(world, 0)
    assert [pod.ref.name for pod in after] == [pod.ref.name for pod in before]
    assert not {pod.ref.uid for pod in after} & {pod.ref.uid for pod in before}
    assert all(pod.serves for pod in after)
    assert of_group(world, 1) == others
    owners = {pod.controller.uid for pod in pods(world, "llm") if pod.controller is not None}
    assert {uid for uid, owner in world.snapshot().owners.items() if owner.ref.kind == "StatefulSet"} == owners


def test_a_pod_that_is_taken_away_at_once_restarts_its_group_too() -> None:
    world = a_world()
    world.add_workload(groups(1))
    before = {pod.ref.uid for pod in pods(world, "llm")}
    world.remove_pod(of_group(world, 0)[1].ref.uid)
    pass_s(world, 60.0)
    assert len(pods(world, "llm")) == 3
    assert not {pod.ref.uid for pod in pods(world, "llm")} & before


def test_a_group_waits_as_a_whole_where_one_of_it_has_no_room() -> None:
    world = World(NOON)
    world.add_node(NodeSpec("n1", {GPU: 2, "cpu": 1000, "memory": 1 << 30, "pods": 10}))
    world.add_workload(groups(1, requests={GPU: 1}))
    waiting = [pod for pod in pods(world, "llm") if pod.node is None]
    assert [pod.ref.name for pod in waiting] == ["llm-0-2"]
    world.add_node(NodeSpec("n2"))
    pass_s(world, 10.0)
    assert all(pod.serves for pod in pods(world, "llm"))


def test_groups_are_scaled_as_a_whole() -> None:
    world = a_world()
    top = world.add_workload(groups(1))
    world.scale(top.uid, 2)
    pass_s(world, 10.0)
    assert len(of_group(world, 1)) == 3
    world.scale(top.uid, 1)
    pass_s(world, 60.0)
    assert names(world) == ["llm-0", "llm-0-1", "llm-0-2"]


def test_a_group_that_a_quota_cuts_short_is_completed_when_there_is_more() -> None:
    world = a_world()
    world.add_quota(QuotaSpec("pods", {"pods": 2}))
    world.add_workload(groups(1))
    pass_s(world, 10.0)
    assert names(world) == ["llm-0", "llm-0-1"]
    world.add_quota(QuotaSpec("pods", {"pods": 3}))
    pass_s(world, 10.0)
    assert names(world) == ["llm-0", "llm-0-1", "llm-0-2"]
    workers = [pod.controller for pod in pods(world, "llm") if pod.labels[WORKER_LABEL] != "0"]
    assert workers[0] == workers[1]


def test_a_deleted_workload_takes_its_groups_along() -> None:
    world = a_world()
    top = world.add_workload(groups())
    world.remove_workload(top.uid)
    pass_s(world, 60.0)
    assert (pods(world, "llm"), world.snapshot().owners) == ([], {})

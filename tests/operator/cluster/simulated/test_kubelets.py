"""Kubelets: what starts, what never does, and what a silent one leaves as it is."""

from datetime import timedelta

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import PodPhase
from hangar.operator.cluster.simulated.kubelets import PATIENCE_S, UNHEARD_AFTER_S
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, WorkloadSpec
from tests.operator.cluster.simulated.worlds import a_world, an_app, cordon, pass_s, pods


def test_a_pod_whose_image_cannot_be_pulled_is_pending_and_says_so_from_the_start() -> None:
    world = a_world()
    world.add_workload(an_app(1, stuck_on="main: ImagePullBackOff: no such image"))
    pass_s(world, 0.1)
    (pod,) = pods(world)
    assert (pod.phase, pod.ready, pod.waiting) == (PodPhase.PENDING, False, "main: ImagePullBackOff: no such image")


def test_a_crashed_pod_serves_again_once_it_is_mended() -> None:
    world = a_world()
    world.add_workload(an_app(1))
    (pod,) = pods(world)
    assert pod.ready_at == world.now
    world.crash(pod.ref.uid, "main: CrashLoopBackOff: back-off 10s")
    (crashed,) = pods(world)
    assert (crashed.phase, crashed.serves, crashed.ready_at) == (PodPhase.RUNNING, False, None)
    pass_s(world, 10.0)
    world.mend(pod.ref.uid)
    (mended,) = pods(world)
    assert (mended.serves, mended.waiting, mended.ready_at) == (True, None, world.now)


def test_a_silent_kubelet_is_noticed_after_a_while_and_its_pods_serve_no_more() -> None:
    world = a_world("n1")
    world.add_workload(an_app(2))
    world.add_budget(BudgetSpec("web", {"app": "web"}, min_available=1))
    world.silence("n1")
    pass_s(world, UNHEARD_AFTER_S - 1)
    assert all(pod.serves for pod in pods(world))
    pass_s(world, 2.0)
    node = world.snapshot().nodes[NodeName("n1")]
    assert (node.ready, node.is_heard) == (False, False)
    assert {taint.key for taint in node.taints} == {"node.kubernetes.io/unreachable"}
    assert not any(pod.serves for pod in pods(world))
    (budget,) = world.snapshot().budgets.values()
    assert budget.healthy == 0


def test_after_patience_has_ended_pods_are_deleted_and_stay_and_daemons_are_left() -> None:
    world = a_world("n1", "n2")
    world.add_workload(WorkloadSpec("Deployment", "web", 1, an_app().template, pinned=("n1",)))
    world.add_workload(an_app(name="agent", kind="DaemonSet"))
    world.silence("n1")
    pass_s(world, UNHEARD_AFTER_S + PATIENCE_S + 60.0)
    old, new = sorted(pods(world), key=lambda pod: pod.created_at)
    assert (old.node, old.is_terminating, new.node, new.serves) == ("n1", True, "n2", True)
    assert not any(pod.is_terminating for pod in pods(world, "agent"))


def test_what_was_to_end_meanwhile_ends_when_the_kubelet_comes_back_and_the_rest_serves_again() -> None:
    world = a_world("n1")
    world.add_workload(an_app(2, terminate_after_s=5.0))
    ending, staying = pods(world)
    world.delete_pod(ending.ref.uid)
    pass_s(world, 1.0)  # it was already on its way
    world.silence("n1", noticed_after_s=10.0)
    pass_s(world, 60.0)
    assert ending.ref.uid in world.snapshot().pods
    world.hear("n1")
    pass_s(world, 30.0)
    snapshot = world.snapshot()
    assert ending.ref.uid not in snapshot.pods
    assert snapshot.pods[staying.ref.uid].serves
    node = snapshot.nodes[NodeName("n1")]
    assert (node.ready, node.is_heard, node.taints) == (True, True, ())


def test_a_kubelet_that_was_silent_for_a_moment_is_never_missed() -> None:
    world = a_world("n1")
    world.add_workload(an_app(1))
    before = pods(world)
    world.silence("n1")
    pass_s(world, 10.0)
    world.hear("n1")
    pass_s(world, UNHEARD_AFTER_S + PATIENCE_S)
    assert pods(world) == before


def test_nothing_starts_on_a_silent_node() -> None:
    world = a_world("n1")
    top = world.add_workload(an_app(1, ready_after_s=5.0))
    world.silence("n1")
    world.scale(top.uid, 2)
    pass_s(world, 20.0)
    assert sorted(pod.ready for pod in pods(world)) == [False, True]
    world.hear("n1")
    pass_s(world, 10.0)
    assert all(pod.ready for pod in pods(world))


def test_pods_of_a_removed_node_go_after_a_quarantine_and_stay_where_the_node_is_back_within_it() -> None:
    for is_back in (False, True):
        world = a_world("n1", "n2")
        world.add_workload(WorkloadSpec("Deployment", "web", 1, an_app().template, pinned=("n1",)))
        (before,) = pods(world)
        world.remove_node("n1", quarantine_s=40.0)
        pass_s(world, 30.0)
        assert [pod.ref for pod in pods(world)] == [before.ref]
        if is_back:
            world.add_node(NodeSpec("n1"))
        pass_s(world, 30.0)
        (after,) = pods(world)
        assert (after.ref == before.ref) is is_back
        assert after.node == ("n1" if is_back else "n2")


def test_a_deletion_takes_no_longer_than_its_grace() -> None:
    world = a_world()
    world.add_workload(an_app(1, terminate_after_s=600.0, grace_s=20))
    cordon(world, "n1")
    (pod,) = pods(world)
    world.delete_pod(pod.ref.uid, 5)
    assert world.snapshot().pods[pod.ref.uid].deletion_at == world.now + timedelta(seconds=5)
    pass_s(world, 5.1)
    assert pod.ref.uid not in world.snapshot().pods

"""What every cluster adapter shows of pods that fail or end, and what deletions do where evictions cannot."""

from dataclasses import replace

from hangar.domain.decision import Accepted, BudgetFull, Delete, Evict, Gone, Namesake
from hangar.domain.ids import NodeName, PodUid
from hangar.domain.snapshot import Node, Pod, Snapshot
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, WorkloadSpec
from tests.contracts.cluster_stage import (
    Stage,
    a_deployment,
    a_node,
    a_template,
    gone,
    guard,
    now_shown,
    scene,
    serving,
    take,
    until,
)

# --- readiness --------------------------------------------------------------------------------------------------------


@scene
async def a_pod_that_serves_says_since_when(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=1))
    (pod,) = await serving(stage, "web", 1)
    assert pod.ready_at is not None
    assert abs((stage.cluster.now() - pod.ready_at).total_seconds()) < 20


@scene
async def a_pod_whose_container_stops_says_why_and_serves_no_more(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=2))
    await guard(stage, BudgetSpec("guard", {"app": "web"}, min_available=1))
    broken, whole = await serving(stage, "web", 2)
    await stage.crash(broken.ref, "CrashLoopBackOff", "back-off 5m0s restarting failed container")
    seen = await until(stage, "it is not ready", lambda snapshot: _unready(snapshot, broken.ref.uid))
    assert seen.waiting == "main: CrashLoopBackOff: back-off 5m0s restarting failed container"
    assert (seen.serves, seen.ready_at) == (False, None)
    await until(stage, "the budget knows", lambda snapshot: _healthy(snapshot) == 1)
    assert isinstance(await take(stage, Evict(whole.ref)), BudgetFull)
    assert await take(stage, Evict(broken.ref)) == Accepted()  # enough others are healthy


def _unready(snapshot: Snapshot, uid: PodUid) -> Pod | None:
    pod = snapshot.pods.get(uid)
    return pod if pod is not None and not pod.ready else None


def _healthy(snapshot: Snapshot) -> int:
    (budget,) = snapshot.budgets.values()
    return budget.healthy


# --- deletions --------------------------------------------------------------------------------------------------------


@scene
async def a_deletion_goes_past_a_budget_and_gives_the_pod_its_time(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=1, grace_s=60, terminate_after_s=600.0))
    await guard(stage, BudgetSpec("guard", {"app": "web"}, min_available=1))
    (pod,) = await serving(stage, "web", 1)
    assert isinstance(await take(stage, Evict(pod.ref)), BudgetFull)
    assert await take(stage, Delete(pod.ref, 20)) == Accepted()
    ends_at = await until(stage, "it is terminating", lambda snapshot: snapshot.pods[pod.ref.uid].deletion_at)
    assert 15 < (ends_at - stage.cluster.now()).total_seconds() <= 21.5


@scene
async def a_deletion_is_of_one_pod_and_never_of_another_that_took_its_name(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(WorkloadSpec("StatefulSet", "db", 1, a_template(labels={"app": "db"})))
    (before,) = await serving(stage, "db", 1)
    assert await take(stage, Delete(before.ref, 1)) == Accepted()
    await gone(stage, before)
    (after,) = await serving(stage, "db", 1)
    assert after.ref.name == before.ref.name
    assert await take(stage, Delete(before.ref, 1)) == Namesake()
    assert await take(stage, Delete(replace(before.ref, name="nobody"), 1)) == Gone()
    assert not now_shown(stage).pods[after.ref.uid].is_terminating


# --- nodes that go ----------------------------------------------------------------------------------------------------


@scene
async def the_pods_of_a_node_that_is_replaced_at_once_are_the_new_ones(stage: Stage) -> None:
    before = await a_node(stage)
    await stage.add_workload(a_deployment(replicas=1))
    (pod,) = await serving(stage, "web", 1)
    await stage.replace_node(NodeSpec("n1"))
    after = await until(stage, "another node has the name", lambda snapshot: _other(snapshot, before))
    assert after.uid != before.uid
    await stage.scale("Deployment", "web", 2)
    pods = await serving(stage, "web", 2)  # time enough for the old one to be missed
    assert pod.ref in [each.ref for each in pods]
    assert {each.node for each in pods} == {"n1"}
    assert [each.ref for each in now_shown(stage).pods_on(after.name)].count(pod.ref) == 1


def _other(snapshot: Snapshot, before: Node) -> Node | None:
    node = snapshot.nodes.get(before.name)
    return node if node is not None and node.uid != before.uid and node.ready and not node.taints else None


# --- silent kubelets --------------------------------------------------------------------------------------------------


def _node(snapshot: Snapshot, *, is_heard: bool) -> Node | None:
    node = snapshot.nodes[NodeName("n1")]
    return node if node.is_heard == is_heard and node.ready == is_heard else None


@scene
async def on_a_silent_node_an_eviction_is_accepted_and_nothing_ends_until_its_object_is_removed(stage: Stage) -> None:
    await a_node(stage, "n1", place="here")
    await a_node(stage, "n2", place="there")
    await stage.add_workload(a_deployment(replicas=2, grace_s=2, node_selector={"place": "here"}))
    clock = a_deployment("clock", replicas=1, ready_after_s=4.0, node_selector={"place": "there"})
    await stage.add_workload(clock)
    first, second = await serving(stage, "web", 2)
    await serving(stage, "clock", 1)
    await stage.silence("n1")
    await until(stage, "the node is not heard", lambda snapshot: _node(snapshot, is_heard=False))
    assert await take(stage, Evict(first.ref)) == Accepted()
    assert await take(stage, Delete(second.ref, 1)) == Accepted()
    await stage.scale("Deployment", "clock", 2)
    await serving(stage, "clock", 2)  # by now a kubelet would long have ended both
    snapshot = now_shown(stage)
    assert all(snapshot.pods[pod.ref.uid].is_terminating for pod in (first, second))
    assert await take(stage, Delete(first.ref, 0)) == Accepted()
    await gone(stage, first)
    assert second.ref.uid in now_shown(stage).pods
    await stage.hear("n1")
    await until(stage, "the node is heard", lambda snapshot: _node(snapshot, is_heard=True))
    await gone(stage, second)
    await serving(stage, "web", 2)

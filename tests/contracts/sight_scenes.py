"""What every cluster adapter shows: nodes, pods, owners and budgets, as they are."""

from collections.abc import Callable
from datetime import timedelta

from hangar.domain.decision import (
    Accepted,
    Cordon,
)
from hangar.domain.devices import GPU
from hangar.domain.ids import NodeName, OwnerUid
from hangar.domain.snapshot import Node, PodPhase, Snapshot, Taint, Toleration
from hangar.operator.cluster.simulated.spec import BudgetSpec, NodeSpec, WorkloadSpec
from tests.contracts.cluster_stage import (
    MARK,
    Stage,
    a_deployment,
    a_node,
    a_template,
    guard,
    now_shown,
    pods_of,
    scene,
    serving,
    take,
    until,
)


@scene
async def a_node_is_shown_with_what_it_has(stage: Stage) -> None:
    taint = Taint("dedicated", "inference", "NoSchedule")
    resources = {GPU: 8, "cpu": 191_500, "memory": 2 << 40, "pods": 110}
    await stage.add_node(NodeSpec("n1", resources, {"zone": "a"}, (taint,)))
    node = await until(stage, "n1 is ready", _ready_node)
    assert node.uid
    assert node.taints == (taint,)
    assert node.labels["zone"] == "a"
    assert node.capacity == node.allocatable == resources
    assert (node.unschedulable, node.mark, node.cordon_manager, node.cordon_is_ours) == (False, None, None, False)


def _ready_node(snapshot: Snapshot) -> Node | None:
    node = snapshot.nodes.get(NodeName("n1"))
    return node if node is not None and node.ready and len(node.taints) == 1 else None


@scene
async def a_pod_is_shown_with_what_it_asks_for_and_who_owns_it(stage: Stage) -> None:
    await a_node(stage, "n1", zone="a")
    requests = {GPU: 2, "cpu": 1500, "memory": 1 << 30}
    toleration = Toleration("dedicated", "Exists", "", "NoSchedule")
    spec = a_deployment(
        replicas=1, requests=requests, tolerations=(toleration,), node_selector={"zone": "a"}, grace_s=7
    )
    await stage.add_workload(spec)
    (pod,) = await serving(stage, "web", 1)
    assert (pod.node, pod.phase, pod.ready, pod.grace_s) == ("n1", PodPhase.RUNNING, True, 7)
    assert pod.requests == requests
    assert toleration in pod.tolerations
    assert pod.node_selector == {"zone": "a"}
    assert (pod.waiting, pod.deletion_at, pod.unschedulable_since) == (None, None, None)
    assert (pod.is_mirror, pod.has_disk_empty_dir) == (False, False)
    assert abs(stage.cluster.now() - pod.created_at) < timedelta(minutes=1)
    snapshot = now_shown(stage)
    top = snapshot.top_owner(pod)
    assert top is not None
    assert (top.kind, top.name) == ("Deployment", "web")
    assert pod.controller is not None
    assert pod.controller.kind == "ReplicaSet"
    assert snapshot.owners[top.uid].desired == 1
    assert [each.ref for each in snapshot.pods_of(top.uid)] == [pod.ref]
    assert [each.ref for each in snapshot.pods_on(NodeName("n1"))] == [pod.ref]


def wants(owner: OwnerUid, count: int) -> Callable[[Snapshot], bool]:
    return lambda snapshot: snapshot.owners[owner].desired == count


@scene
async def owners_of_every_kind_are_known_by_their_names(stage: Stage) -> None:
    await a_node(stage)
    for kind, replicas in (("StatefulSet", 2), ("DaemonSet", 1), ("Job", 2)):
        name = kind.lower()
        await stage.add_workload(WorkloadSpec(kind, name, replicas, a_template(labels={"app": name})))
        pods = await serving(stage, name, replicas)
        snapshot = now_shown(stage)
        owners = {snapshot.top_owner(pod) for pod in pods}
        (owner,) = owners
        assert owner is not None
        assert (owner.kind, owner.name) == (kind, name)
        await until(stage, f"{kind} wants {replicas}", wants(owner.uid, replicas))
    await stage.add_bare_pod("bare", "n1", a_template(labels={"app": "bare"}))
    (pod,) = await serving(stage, "bare", 1)
    assert pod.controller is None
    assert now_shown(stage).top_owner(pod) is None


@scene
async def a_scaled_owner_is_shown_with_what_it_wants_now(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=1))
    (pod,) = await serving(stage, "web", 1)
    owner = now_shown(stage).top_owner(pod)
    assert owner is not None
    await stage.scale("Deployment", "web", 3)
    await until(stage, "it wants three", wants(owner.uid, 3))
    await serving(stage, "web", 3)


@scene
async def a_budget_is_shown_with_its_figures_beside_the_pods_it_guards(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=3))
    await stage.add_workload(a_deployment("other", replicas=1))
    await guard(stage, BudgetSpec("guard", {"app": "web"}, max_unavailable=1))
    pods = await serving(stage, "web", 3)
    budgets = {budget for pod in pods for budget in now_shown(stage).budgets_of(pod)}
    (budget,) = budgets
    assert (budget.name, budget.expected, budget.healthy, budget.desired_healthy, budget.allowed) == (
        "guard",
        3,
        3,
        2,
        1,
    )
    assert (budget.is_current, budget.sync_failure) == (True, None)
    (other,) = await serving(stage, "other", 1)
    assert now_shown(stage).budgets_of(other) == ()


@scene
async def a_pod_without_room_says_since_when_and_why(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=1, requests={GPU: 9}))

    def look(snapshot: Snapshot) -> bool:
        return any(pod.unschedulable_since is not None for pod in pods_of(snapshot, "web"))

    await until(stage, "the pod is unschedulable", look)
    (pod,) = pods_of(now_shown(stage), "web")
    assert (pod.node, pod.phase, pod.ready) == (None, PodPhase.PENDING, False)
    assert "nvidia.com/gpu" in (pod.waiting or "")


@scene
async def a_pod_that_is_not_ready_yet_is_placed_and_does_not_serve(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=1, ready_after_s=600.0))
    # The simulated cluster's first pods are ready from the start; those that follow take their time.
    await stage.scale("Deployment", "web", 2)
    pod = await until(
        stage,
        "a placed pod that is not ready",
        lambda snapshot: next((pod for pod in pods_of(snapshot, "web") if pod.node and not pod.ready), None),
    )
    assert not pod.serves
    assert pod.phase is PodPhase.PENDING


@scene
async def a_snapshot_does_not_change_under_its_reader(stage: Stage) -> None:
    node = await a_node(stage)
    before = now_shown(stage)
    assert await take(stage, Cordon(node.name, node.uid, MARK)) == Accepted()
    assert not before.nodes[node.name].unschedulable
    assert now_shown(stage).nodes[node.name].unschedulable


@scene
async def the_cluster_says_who_it_is_and_what_it_grants(stage: Stage) -> None:
    first, second = await stage.cluster.identity(), await stage.cluster.identity()
    assert first == second
    assert first.uid
    assert first.version.startswith("v1.")
    granted = await stage.cluster.grants()
    assert all(granted[name] for name in ("cordon", "drain", "force"))


@scene
async def time_goes_on(stage: Stage) -> None:
    before = stage.cluster.now()
    assert before.tzinfo is not None
    await a_node(stage)
    assert stage.cluster.now() >= before

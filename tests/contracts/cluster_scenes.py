"""The contract of the Cluster port: what every adapter shows and answers, scene by scene, simulated or real."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeAlias

from hangar.domain.decision import (
    Accepted,
    BudgetFull,
    Cordon,
    Evict,
    Gone,
    Namesake,
    SeveralBudgets,
    Uncordon,
    Unmark,
    Withheld,
)
from hangar.domain.ids import NodeName, NodeUid, OperationId, OwnerUid, PodUid
from hangar.domain.snapshot import CordonMark, Node, PodPhase, Snapshot, Taint, Toleration
from hangar.operator.cluster.simulated.spec import GPU, BudgetSpec, NodeSpec, PodTemplate, WorkloadSpec
from tests.contracts.cluster_stage import Stage, a_node, gone, guard, now_shown, pods_of, serving, take, until

Scene: TypeAlias = Callable[[Stage], Awaitable[None]]
SCENES: list[Scene] = []

MARK = CordonMark(OperationId("op_01"), "kim", "firmware upgrade", prior_unschedulable=False)


def scene(each: Scene) -> Scene:
    """Add a scene to the contract."""
    SCENES.append(each)
    return each


def a_template(**parts: object) -> PodTemplate:
    """Return pods that start and end quickly."""
    return replace(PodTemplate(ready_after_s=0.0, terminate_after_s=1.0), **parts)  # type: ignore[arg-type]


def a_deployment(name: str = "web", replicas: int = 2, **parts: object) -> WorkloadSpec:
    labels = {"app": name}
    return WorkloadSpec("Deployment", name, replicas, a_template(labels=labels, **parts))


# --- what is shown ----------------------------------------------------------------------------------------------------


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
    assert await stage.cluster.grants() == {"cordon": True, "drain": True}


@scene
async def time_goes_on(stage: Stage) -> None:
    before = stage.cluster.now()
    assert before.tzinfo is not None
    await a_node(stage)
    assert stage.cluster.now() >= before


# --- cordons ----------------------------------------------------------------------------------------------------------


@scene
async def a_cordon_is_seen_at_once_with_its_mark_and_as_ours(stage: Stage) -> None:
    node = await a_node(stage)
    assert await take(stage, Cordon(node.name, node.uid, MARK)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark, seen.cordon_is_ours) == (True, MARK, True)
    assert seen.cordon_manager == "hangar-operator"


@scene
async def a_cordon_again_takes_the_new_mark(stage: Stage) -> None:
    node = await a_node(stage)
    mark = replace(MARK, operation=OperationId("op_02"), reason=None, prior_unschedulable=True)
    for each in (MARK, mark):
        assert await take(stage, Cordon(node.name, node.uid, each)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark, seen.cordon_is_ours) == (True, mark, True)


@scene
async def a_cordon_on_top_of_somebody_elses_does_not_make_it_ours(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.cordon_by_hand("n1", "kubectl-cordon")
    await until(stage, "it is cordoned", lambda snapshot: snapshot.nodes[node.name].unschedulable)
    mark = replace(MARK, prior_unschedulable=True)
    assert await take(stage, Cordon(node.name, node.uid, mark)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.mark, seen.cordon_is_ours, seen.cordon_manager) == (mark, False, "kubectl-cordon")


@scene
async def an_uncordon_by_hand_leaves_our_mark_until_it_is_taken_off(stage: Stage) -> None:
    node = await a_node(stage)
    await take(stage, Cordon(node.name, node.uid, MARK))
    await stage.cordon_by_hand("n1", "kubectl-uncordon", on=False)
    await until(stage, "it is uncordoned", lambda snapshot: not snapshot.nodes[node.name].unschedulable)
    seen = now_shown(stage).nodes[node.name]
    assert (seen.mark, seen.cordon_is_ours, seen.cordon_manager) == (MARK, False, None)
    assert await take(stage, Unmark(node.name, node.uid)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark) == (False, None)


@scene
async def a_cordon_by_hand_under_our_mark_is_not_ours(stage: Stage) -> None:
    node = await a_node(stage)
    await take(stage, Cordon(node.name, node.uid, MARK))
    await stage.cordon_by_hand("n1", "kubectl-uncordon", on=False)
    await stage.cordon_by_hand("n1", "kubectl-cordon")
    seen = await until(
        stage,
        "it is cordoned by hand",
        lambda snapshot: node if (node := snapshot.nodes[NodeName("n1")]).cordon_manager == "kubectl-cordon" else None,
    )
    assert (seen.unschedulable, seen.mark, seen.cordon_is_ours) == (True, MARK, False)
    assert await take(stage, Unmark(node.name, node.uid)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark) == (True, None)


@scene
async def an_uncordon_works_on_anybodys_cordon(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.cordon_by_hand("n1", "kubectl-cordon")
    await until(stage, "it is cordoned", lambda snapshot: snapshot.nodes[node.name].unschedulable)
    for _ in range(2):
        assert await take(stage, Uncordon(node.name, node.uid)) == Accepted()
        seen = now_shown(stage).nodes[node.name]
        assert (seen.unschedulable, seen.mark, seen.cordon_manager) == (False, None, None)


@scene
async def a_node_replaced_under_its_name_is_never_touched(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.replace_node(NodeSpec("n1"))
    other = await until(
        stage,
        "another node has the name",
        lambda snapshot: each if (each := snapshot.nodes.get(node.name)) is not None and each.uid != node.uid else None,
    )
    for step in (Cordon(node.name, node.uid, MARK), Uncordon(node.name, node.uid), Unmark(node.name, node.uid)):
        assert await take(stage, step) == Namesake()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.uid, seen.unschedulable, seen.mark) == (other.uid, False, None)


@scene
async def a_node_that_never_was_is_gone(stage: Stage) -> None:
    missing = (NodeName("nowhere"), NodeUid("no-uid"))
    for step in (Cordon(*missing, MARK), Uncordon(*missing), Unmark(*missing)):
        assert await take(stage, step) == Gone()


# --- evictions --------------------------------------------------------------------------------------------------------


@scene
async def an_evicted_pod_terminates_and_goes_and_is_made_anew_off_the_cordoned_node(stage: Stage) -> None:
    first = await a_node(stage, "n1")
    await stage.add_workload(a_deployment(replicas=1))
    (pod,) = await serving(stage, "web", 1)
    await a_node(stage, "n2")
    assert await take(stage, Cordon(first.name, first.uid, MARK)) == Accepted()
    assert await take(stage, Evict(pod.ref)) == Accepted()
    await until(
        stage,
        "the pod is terminating",
        lambda snapshot: pod.ref.uid in snapshot.pods and snapshot.pods[pod.ref.uid].is_terminating,
    )
    await gone(stage, pod)
    (replacement,) = await serving(stage, "web", 1)
    assert replacement.ref.uid != pod.ref.uid
    assert replacement.node == "n2"


@scene
async def a_pod_ends_within_its_own_grace_or_the_one_that_was_asked_for(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=2, grace_s=60, terminate_after_s=600.0))
    own, asked = await serving(stage, "web", 2)
    assert await take(stage, Evict(own.ref)) == Accepted()
    assert await take(stage, Evict(asked.ref, grace_s=20)) == Accepted()
    for pod, grace_s in ((own, 60), (asked, 20)):
        ends_at = await until(stage, f"{pod.ref} is terminating", ending(pod.ref.uid))
        left_s = (ends_at - stage.cluster.now()).total_seconds()
        assert grace_s - 5 < left_s <= grace_s + 1.5


def ending(uid: PodUid) -> Callable[[Snapshot], datetime | None]:
    return lambda snapshot: snapshot.pods[uid].deletion_at


@scene
async def a_spent_budget_refuses_with_its_figures_and_leaves_the_pod_alone(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=2))
    await guard(stage, BudgetSpec("guard", {"app": "web"}, min_available=2))
    first, _ = await serving(stage, "web", 2)
    answer = await take(stage, Evict(first.ref))
    assert isinstance(answer, BudgetFull)
    assert "guard needs 2 healthy pods and has 2 currently" in answer.message
    assert not now_shown(stage).pods[first.ref.uid].is_terminating


@scene
async def a_budget_is_spent_by_the_first_of_two_evictions_in_a_row(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=3, ready_after_s=2.0))
    await guard(stage, BudgetSpec("guard", {"app": "web"}, max_unavailable=1))
    first, second, _ = await serving(stage, "web", 3)
    assert await take(stage, Evict(first.ref)) == Accepted()
    assert isinstance(await take(stage, Evict(second.ref)), BudgetFull)
    await gone(stage, first)
    await serving(stage, "web", 3)
    assert await take(stage, Evict(second.ref)) == Accepted()


@scene
async def a_pod_under_two_budgets_can_not_be_evicted_at_all(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=2))
    await guard(stage, BudgetSpec("one", {"app": "web"}, max_unavailable=1))
    await guard(stage, BudgetSpec("two", {"app": "web"}, max_unavailable=1))
    pod, _ = await serving(stage, "web", 2)
    assert [budget.name for budget in now_shown(stage).budgets_of(pod)] == ["one", "two"]
    assert isinstance(await take(stage, Evict(pod.ref)), SeveralBudgets)
    assert not now_shown(stage).pods[pod.ref.uid].is_terminating


@scene
async def a_pod_that_never_was_is_gone(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_bare_pod("bare", "n1", a_template(labels={"app": "bare"}))
    (pod,) = await serving(stage, "bare", 1)
    assert await take(stage, Evict(replace(pod.ref, name="nobody"))) == Gone()


@scene
async def a_pod_that_has_gone_is_gone(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_bare_pod("bare", "n1", a_template(labels={"app": "bare"}))
    (pod,) = await serving(stage, "bare", 1)
    await stage.remove_pod(pod.ref)
    await gone(stage, pod)
    assert await take(stage, Evict(pod.ref)) == Gone()


@scene
async def a_pod_that_took_anothers_name_is_never_evicted_in_its_place(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_workload(WorkloadSpec("StatefulSet", "db", 1, a_template(labels={"app": "db"})))
    (before,) = await serving(stage, "db", 1)
    await stage.remove_pod(before.ref)
    await gone(stage, before)
    (after,) = await serving(stage, "db", 1)
    assert (after.ref.name, after.ref.uid != before.ref.uid) == (before.ref.name, True)
    assert await take(stage, Evict(before.ref)) == Namesake()
    # With a spent budget the API server would answer for the budget and not for the UID.
    await guard(stage, BudgetSpec("guard", {"app": "db"}, max_unavailable=0))
    await serving(stage, "db", 1)
    assert await take(stage, Evict(before.ref)) == Namesake()
    assert not now_shown(stage).pods[after.ref.uid].is_terminating
    assert await take(stage, Evict(replace(after.ref, uid=PodUid("no-uid")))) == Namesake()


# --- the gate ---------------------------------------------------------------------------------------------------------


@scene
async def nothing_leaves_through_a_closed_gate(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.add_bare_pod("bare", "n1", a_template(labels={"app": "bare"}))
    (pod,) = await serving(stage, "bare", 1)
    for step in (Cordon(node.name, node.uid, MARK), Evict(pod.ref)):
        assert await stage.cluster.perform(step, lambda: "cancelled") == Withheld("cancelled")
    snapshot = now_shown(stage)
    assert not snapshot.nodes[node.name].unschedulable
    assert not snapshot.pods[pod.ref.uid].is_terminating


@scene
async def the_gate_is_asked_before_a_step_and_not_long_after(stage: Stage) -> None:
    node = await a_node(stage)
    asked: list[bool] = []

    def gate() -> None:
        asked.append(now_shown(stage).nodes[node.name].unschedulable)

    assert await stage.cluster.perform(Cordon(node.name, node.uid, MARK), gate) == Accepted()
    assert asked
    assert not any(asked)

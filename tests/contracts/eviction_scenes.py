"""What every cluster adapter answers to evictions, and that it asks the gate before it sends anything."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from hangar.domain.decision import (
    Accepted,
    BudgetFull,
    Cordon,
    Evict,
    Gone,
    Namesake,
    SeveralBudgets,
    Withheld,
)
from hangar.domain.ids import PodUid
from hangar.domain.snapshot import Snapshot
from hangar.operator.cluster.simulated.spec import BudgetSpec, WorkloadSpec
from tests.contracts.cluster_stage import (
    MARK,
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
    pod, _ = await serving(stage, "web", 2)
    # Only now: of several budgets over a changed pod the real controller counts anew but one.
    await guard(stage, BudgetSpec("one", {"app": "web"}, max_unavailable=1))
    await guard(stage, BudgetSpec("two", {"app": "web"}, max_unavailable=1))
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
    """C01, C02: whoever else has the name by now is left alone."""
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

"""node.drain on small simulated worlds: what it does, and in which order."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hangar.domain.decision import Accepted, Answer, Busy, Denied, Evict, Step, Unknown, Withheld
from hangar.domain.ids import NodeName, OperationId
from hangar.domain.snapshot import PodPhase, Toleration
from hangar.domain.view import ClusterSettings
from hangar.kinds import KINDS
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.spec import GPU, NodeSpec, PodTemplate, WorkloadSpec
from hangar.operator.cluster.simulated.world import World
from hangar.operator.conductor import Conductor
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import BOTH, NOON, Solo


def drain(world: World, target: str = "n1", **params: Any) -> tuple[Solo, OperationId]:
    solo = Solo(world)
    return solo, solo.submit("node.drain", target, reason="firmware", **params)


def rows(solo: Solo, operation: OperationId, name: str) -> list[str]:
    return [row["pod"] for row in solo.results[operation][1].details[name]]


def test_every_pod_is_moved_and_the_node_stays_cordoned() -> None:
    world = a_world()
    world.add_workload(an_app(3, on=("n1", "n1", "n1")))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=3")
    node = world.snapshot().nodes[NodeName("n1")]
    assert node.unschedulable
    assert node.mark is not None
    assert (node.mark.operation, node.mark.actor, node.mark.reason) == (operation, "admin", "firmware")
    assert not list(world.snapshot().pods_on(NodeName("n1")))
    assert [row["successor_node"] for row in result.details["moved"]] == ["n2", "n3", "n2"]


def test_success_waits_for_the_replacements_to_be_ready() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",), ready_after_s=60))
    solo, operation = drain(world)
    solo.run(30)
    assert operation not in solo.results
    assert solo.progress[operation].message == "evicted 1/1, rescheduled 0/1 (1 loading)"
    solo.finish(operation)
    assert world.now >= NOON + timedelta(seconds=60)


def test_an_empty_node_is_drained_at_once() -> None:
    solo, operation = drain(a_world())
    assert solo.finish(operation)[1].message == "evicted_replicas=0"


def test_a_budget_is_never_exceeded_and_the_drain_goes_on_as_it_opens() -> None:
    world = a_world(4)
    world.add_workload(an_app(5, on=("n1",) * 5))
    world.add_budget(a_budget(max_unavailable=1))
    least_ready = [5]
    seen = world.on_change

    def watch() -> None:
        seen()
        least_ready.append(sum(pod.serves for pod in world.snapshot().pods.values()))

    world.on_change = watch
    solo, operation = drain(world)
    assert solo.finish(operation)[0] == "succeeded"
    assert min(least_ready) == 4
    assert all(isinstance(answer, Accepted) for _, _, answer in solo.evictions())


def test_a_pod_whose_budget_is_spent_is_waited_for_by_name_and_numbers() -> None:
    world = a_world(4)
    world.add_workload(an_app(5, on=("n1",) * 5))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    progress = solo.progress[operation]
    assert "blocked 4 by pdb default/api: needs 4 has 4" in progress.message
    blocked = [each for each in progress.blockers if each.code == "budget_spent"]
    assert blocked[0].message == "default/api-rs-00001 waits for pdb default/api: needs 4 has 4"
    assert blocked[0].facts == {"budget": "pdb default/api", "needs": 4, "has": 4}


def test_what_fits_on_no_node_fails_the_drain_before_any_eviction() -> None:
    world = a_world(2)
    world.add_workload(an_app(1, on=("n1",), gpus=8))
    world.add_workload(an_app(1, on=("n2",), gpus=4, name="other"))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert "default/api-rs-00000 needs 8 nvidia.com/gpu on one node, at most 4 are free" in result.message
    assert not solo.evictions()
    assert world.snapshot().nodes[NodeName("n1")].unschedulable
    assert all(pod.serves for pod in world.snapshot().pods.values())


def test_what_asks_for_more_than_is_free_in_sum_fails_the_drain() -> None:
    world = a_world(3)
    world.add_workload(an_app(4, on=("n1",) * 4, gpus=2))
    world.add_workload(an_app(2, on=("n2", "n3"), gpus=5, name="other"))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert "8 nvidia.com/gpu in sum, 6 are free on 2 node(s)" in result.message


def test_an_autoscaler_makes_a_misfit_no_verdict() -> None:
    world = a_world(2)
    world.add_workload(an_app(1, on=("n1",), gpus=8))
    world.add_workload(an_app(1, on=("n2",), gpus=4, name="other"))
    solo = Solo(world, Conductor(KINDS, BOTH, ClusterSettings(has_autoscaler=True)))
    operation = solo.submit("node.drain", "n1")
    solo.run(60)
    assert operation not in solo.results
    world.add_node(NodeSpec("n9"))
    assert solo.finish(operation)[0] == "succeeded"


def test_a_budget_that_can_never_allow_it_fails_the_drain_before_any_eviction() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.add_budget(a_budget(min_available=1))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "blocked_by_budget")
    assert "pdb default/api: needs 1 has 1, and it can never allow this" in result.message
    assert not solo.evictions()
    assert world.now == NOON


def test_with_the_check_skipped_a_closed_budget_ends_the_drain_at_its_deadline() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.add_budget(a_budget(min_available=1))
    solo, operation = drain(world, skip_fit_check=True, deadline_s=10)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "deadline_exceeded")
    assert "default/api-rs-00000 waits for pdb default/api: needs 1 has 1" in result.message
    assert world.now == NOON + timedelta(seconds=10)
    assert not solo.evictions()


def test_two_budgets_over_one_pod_fail_the_drain_and_are_both_named() -> None:
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n2")))
    world.add_budget(a_budget(max_unavailable=1))
    world.add_budget(replace(a_budget(max_unavailable=1), name="second"))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "blocked_by_budget")
    assert "pdb default/api and pdb default/second" in result.message


def test_a_bare_pod_fails_the_drain_by_name() -> None:
    world = a_world()
    world.add_bare_pod("scratch", "n1", PodTemplate())
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "unmanaged_pods")
    assert "default/scratch has no controller" in result.message
    assert not solo.evictions()


def test_daemons_and_finished_pods_are_left_and_listed() -> None:
    world = a_world()
    world.add_workload(WorkloadSpec("DaemonSet", "agent", 0))
    world.add_workload(an_app(1, on=("n1",)))
    done = world.add_bare_pod("done", "n1", PodTemplate())
    world.put_pod(replace(done, phase=PodPhase.SUCCEEDED, ready=False))
    solo, operation = drain(world)
    assert solo.finish(operation)[1].message == "evicted_replicas=1"
    skipped = {row["pod"]: row["reason"] for row in solo.results[operation][1].details["skipped"]}
    assert skipped == {"default/agent-00000": "daemonset", "default/done": "finished"}


def test_a_stateful_pod_is_done_when_it_serves_elsewhere_under_its_name() -> None:
    world = a_world()
    world.add_workload(an_app(2, on=("n1", "n2"), kind="StatefulSet", name="db"))
    solo, operation = drain(world)
    assert solo.finish(operation)[1].message == "evicted_replicas=1"
    (move,) = solo.results[operation][1].details["moved"]
    assert move["pod"] == move["successor"] == "default/db-0"
    assert move["uid"] != move["successor_uid"]


def test_a_pod_that_would_come_back_fails_the_drain_with_its_toleration() -> None:
    world = a_world()
    template = PodTemplate(tolerations=(Toleration("", "Exists", "", ""),))
    world.add_workload(WorkloadSpec("Deployment", "stubborn", 1, template, pinned=("n1",)))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "returns_to_node")
    assert "it tolerates every taint" in result.message


def test_a_human_uncordon_in_mid_drain_stops_it_and_is_named() -> None:
    world = a_world(4)
    world.add_workload(an_app(5, on=("n1",) * 5))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.cordon_by_hand("n1", "kubectl-uncordon", on=False)
    sent = len(solo.evictions())
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "interrupted")
    assert "was uncordoned by somebody" in result.message
    assert len(solo.evictions()) == sent
    assert not world.snapshot().nodes[NodeName("n1")].unschedulable


def test_a_failed_drain_uncordons_where_that_was_asked_for() -> None:
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world, on_failure="uncordon")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert result.message.endswith("the node is uncordoned again")
    node = world.snapshot().nodes[NodeName("n1")]
    assert (node.unschedulable, node.mark) == (False, None)


def test_a_cordon_from_before_is_never_undone() -> None:
    world = a_world(1)
    world.add_workload(an_app(1, on=("n1",)))
    world.cordon_by_hand("n1", "kubectl-cordon")
    solo, operation = drain(world, on_failure="uncordon")
    assert solo.finish(operation)[0] == "failed"
    node = world.snapshot().nodes[NodeName("n1")]
    assert (node.unschedulable, node.cordon_manager) == (True, "kubectl-cordon")


def test_a_cancelled_drain_lists_what_it_moved_and_what_it_did_not() -> None:
    world = a_world(4)
    world.add_workload(an_app(4, on=("n1",) * 4, ready_after_s=1, terminate_after_s=2))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(3)
    solo.cancel(operation)
    sent = len(solo.evictions())
    phase, result = solo.finish(operation)
    assert phase == "cancelled"
    assert result.message == "cancelled: 1 moved, 2 terminating, 1 not touched"
    assert [len(rows(solo, operation, name)) for name in ("moved", "terminating", "untouched")] == [1, 2, 1]
    solo.run(60)
    assert len(solo.evictions()) == sent


def test_a_node_deleted_in_mid_drain_is_finished_on_its_old_pods() -> None:
    world = a_world(4)
    world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.remove_node("n1")
    phase, result = solo.finish(operation)
    assert (phase, result.details["note"]) == ("succeeded", "node_deleted")


def test_a_node_replaced_in_mid_drain_is_not_touched() -> None:
    world = a_world(4)
    world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.remove_node("n1")
    world.add_node(NodeSpec("n1"))
    phase, result = solo.finish(operation)
    assert (phase, result.details["note"]) == ("succeeded", "node_replaced")
    assert not world.snapshot().nodes[NodeName("n1")].unschedulable


def test_a_denied_eviction_fails_the_drain_with_the_clusters_words() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))

    def deny(world: World, step: Step) -> Answer:
        return Denied("webhook says no") if isinstance(step, Evict) else api.take(world, step)

    solo, operation = drain(world)
    solo.answer = deny
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "eviction_denied")
    assert "refuses to evict default/api-rs-00000: webhook says no" in result.message


def test_a_denied_cordon_is_fatal() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world)
    solo.answer = lambda _, step: Denied("no patch on nodes")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "forbidden")
    assert not solo.evictions()


@pytest.mark.parametrize("trouble", [Busy("conflict"), Withheld("no word from the hub")])
def test_what_did_not_land_is_tried_again_soon(trouble: Answer) -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    answers = iter([trouble, trouble])

    def flaky(world: World, step: Step) -> Answer:
        return next(answers, None) or api.take(world, step) if isinstance(step, Evict) else api.take(world, step)

    solo, operation = drain(world)
    solo.answer = flaky
    assert solo.finish(operation)[0] == "succeeded"
    assert len(solo.evictions()) == 3
    assert world.now < NOON + timedelta(seconds=5)


def test_an_eviction_of_unknown_outcome_is_not_sent_again_while_it_may_land() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    answers = iter([Unknown("timed out")])

    def hang(world: World, step: Step) -> Answer:
        return next(answers, None) or api.take(world, step) if isinstance(step, Evict) else api.take(world, step)

    solo, operation = drain(world)
    solo.answer = hang
    solo.run(34)
    assert len(solo.evictions()) == 1
    assert [each.code for each in solo.progress[operation].blockers] == ["landing"]
    assert solo.finish(operation)[0] == "succeeded"
    assert len(solo.evictions()) == 2


def test_a_quota_that_stops_the_replacement_fails_the_drain_with_its_text() -> None:
    world = a_world()
    owner = world.add_workload(an_app(2, on=("n1", "n2")))
    solo, operation = drain(world)
    workload = world.workloads[owner.uid]
    workload.replicas = 1  # the controller cannot make the second one
    solo.run(1.5)
    workload.replicas = 2
    world.put_owner_failure(workload, "exceeded quota: gpus, requested 1, used 8, limited 8")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "quota_exceeded")
    assert "exceeded quota: gpus" in result.message


def test_a_replacement_that_cannot_be_placed_fails_the_drain_after_a_while() -> None:
    world = a_world(2)
    world.add_workload(an_app(1, on=("n1",), gpus=4))
    solo, operation = drain(world)
    solo.settle()
    world.add_workload(an_app(2, on=("n2", "n2"), name="late", gpus=4))
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert "cannot be placed: 0/2 nodes are available" in result.message
    assert world.now >= NOON + timedelta(seconds=30)


def test_a_workload_scaled_away_in_mid_drain_is_no_longer_waited_for() -> None:
    world = a_world(4)
    owner = world.add_workload(an_app(3, on=("n1",) * 3))
    world.add_budget(a_budget(max_unavailable=1))
    solo, operation = drain(world)
    solo.run(1)
    world.scale(owner.uid, 0)
    phase, result = solo.finish(operation)
    assert (phase, result.message) == ("succeeded", "evicted_replicas=1")
    assert len(result.details["left"]) == 2


def test_two_drains_never_take_an_owners_last_ready_pod() -> None:
    world = a_world(4)
    world.add_workload(an_app(2, on=("n1", "n2"), ready_after_s=20))
    solo = Solo(world)
    first, second = solo.submit("node.drain", "n1"), solo.submit("node.drain", "n2")
    solo.run(5)
    (held,) = [each for each in solo.progress[second].blockers if each.code == "last_ready"]
    assert (
        held.message == "default/api-rs-00001 is the last ready pod of deployment default/api, which has 1 of 2 ready"
    )
    solo.finish(first)
    solo.finish(second)
    (_, _, _), (at, _, _) = solo.evictions()
    assert at >= NOON + timedelta(seconds=20)


def test_an_only_replica_is_moved() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world)
    assert solo.finish(operation)[0] == "succeeded"


def test_a_foreign_controller_gets_time_to_react_to_the_cordon() -> None:
    world = a_world(2)
    world.add_workload(an_app(1, on=("n1",), gpus=8, kind="PodCliqueSet"))
    world.add_workload(an_app(1, on=("n2",), gpus=4, name="other"))
    solo, operation = drain(world)
    solo.run(29)
    assert [each.code for each in solo.progress[operation].blockers] == ["settling"]
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "no_capacity")
    assert world.now == NOON + timedelta(seconds=30)


def test_the_grace_period_is_the_pods_own_unless_one_is_asked_for() -> None:
    cases: list[tuple[dict[str, Any], int | None]] = [({}, None), ({"grace_period_s": 5}, 5)]
    for params, grace_s in cases:
        world = a_world()
        world.add_workload(an_app(1, on=("n1",)))
        solo, operation = drain(world, **params)
        solo.finish(operation)
        assert [step.grace_s for _, _, step, _ in solo.taken if isinstance(step, Evict)] == [grace_s]


def test_disk_backed_empty_dirs_are_a_warning_not_an_obstacle() -> None:
    world = a_world()
    template = PodTemplate(requests={GPU: 1}, has_disk_empty_dir=True, terminate_after_s=0.1, ready_after_s=0.1)
    world.add_workload(WorkloadSpec("Deployment", "cache", 1, template, pinned=("n1",)))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert phase == "succeeded"
    assert result.details["warnings"] == [
        "default/cache-rs-00000 keeps data in an emptyDir on disk, which is lost when it moves"
    ]

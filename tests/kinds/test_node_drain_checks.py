"""node.drain where it can be seen before the first eviction that it cannot be done."""

from dataclasses import replace
from datetime import timedelta

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Toleration
from hangar.domain.view import ClusterSettings
from hangar.kinds import KINDS
from hangar.operator.cluster.simulated.spec import NodeSpec, PodTemplate, WorkloadSpec
from hangar.operator.conductor import Conductor
from tests.kinds.draining import drain
from tests.simulation.fleet import a_budget, a_world, an_app
from tests.simulation.solo import ALL, NOON, Solo


def test_what_fits_on_no_node_fails_the_drain_before_any_eviction() -> None:
    """C09: what is missing is told, and all goes on serving."""
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
    solo = Solo(world, Conductor(KINDS, ALL, ClusterSettings(has_autoscaler=True)))
    operation = solo.submit("node.drain", "n1")
    solo.run(60)
    assert operation not in solo.results
    world.add_node(NodeSpec("n9"))
    assert solo.finish(operation)[0] == "succeeded"


def test_a_budget_that_can_never_allow_it_fails_the_drain_before_any_eviction() -> None:
    """C16, C21, C22, C23: it fails right after the cordon, and names the budget with its numbers."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.add_budget(a_budget(min_available=1))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "blocked_by_budget")
    assert "needs 1 has 1, and can never allow one; scale up" in result.message
    assert not solo.evictions()
    assert world.now == NOON


def test_with_the_check_skipped_a_closed_budget_ends_the_drain_at_its_deadline() -> None:
    """C22: whoever skips the check has the budget as the cause at the deadline."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    world.add_budget(a_budget(min_available=1))
    solo, operation = drain(world, skip_fit_check=True, deadline_s=10)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "deadline_exceeded")
    assert "pdb default/api holds back default/api-rs-00000: needs 1 has 1" in result.message
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


def test_a_pod_that_would_come_back_fails_the_drain_with_its_toleration() -> None:
    """C13: seen before the first eviction."""
    world = a_world()
    template = PodTemplate(tolerations=(Toleration("", "Exists", "", ""),))
    world.add_workload(WorkloadSpec("Deployment", "stubborn", 1, template, pinned=("n1",)))
    solo, operation = drain(world)
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "returns_to_node")
    assert "it tolerates every taint" in result.message


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

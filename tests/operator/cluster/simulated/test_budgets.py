"""Budgets: what their status says of pods that serve, crash or are on their way out."""

from dataclasses import replace

from hangar.domain.decision import Accepted, Answer, BudgetFull, Evict
from hangar.domain.snapshot import Budget
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.spec import BudgetSpec
from hangar.operator.cluster.simulated.world import World
from tests.operator.cluster.simulated.worlds import a_world, an_app, pass_s, pods

GUARD = BudgetSpec("web", {"app": "web"}, min_available=2)


def budget(world: World) -> Budget:
    (found,) = world.snapshot().budgets.values()
    return found


def test_a_status_follows_the_pods_a_moment_later_and_an_eviction_at_once() -> None:
    world = a_world()
    world.add_workload(an_app(3))
    world.add_budget(replace(GUARD, min_available=None, max_unavailable=2))
    first, second, _ = pods(world)
    assert (budget(world).expected, budget(world).healthy, budget(world).allowed) == (3, 3, 2)
    world.crash(second.ref.uid, "main: CrashLoopBackOff: back-off 10s")
    assert budget(world).healthy == 3
    assert api.take(world, Evict(first.ref)) == Accepted()
    assert (budget(world).allowed, budget(world).has_disrupted) == (1, True)
    pass_s(world, 0.04)
    assert (budget(world).healthy, budget(world).allowed, budget(world).has_disrupted) == (1, 0, False)
    assert budget(world).desired_healthy == 1


def test_a_crashing_pod_goes_only_where_enough_others_serve_or_the_budget_never_minds() -> None:
    def evicted(*, always_allow_unready: bool, crashing: int) -> Answer:
        world = a_world()
        world.add_workload(an_app(3))
        world.add_budget(replace(GUARD, always_allow_unready=always_allow_unready))
        for pod in pods(world)[:crashing]:
            world.crash(pod.ref.uid, "main: CrashLoopBackOff: back-off 10s")
        pass_s(world, 1.0)
        return api.take(world, Evict(pods(world)[0].ref))

    assert evicted(always_allow_unready=False, crashing=1) == Accepted()
    assert isinstance(evicted(always_allow_unready=False, crashing=2), BudgetFull)
    assert evicted(always_allow_unready=True, crashing=2) == Accepted()


def test_a_changed_budget_counts_by_its_new_bounds() -> None:
    world = a_world()
    world.add_workload(an_app(3))
    uid = world.add_budget(GUARD)
    world.change_budget(uid, replace(GUARD, min_available=3))
    pass_s(world, 1.0)
    assert (budget(world).desired_healthy, budget(world).allowed) == (3, 0)


def test_a_foreign_controller_is_known_by_its_scale() -> None:
    world = a_world()
    world.add_workload(an_app(2, kind="Rollout"))
    world.add_budget(replace(GUARD, min_available=None, max_unavailable=1))
    assert (budget(world).expected, budget(world).allowed) == (2, 1)

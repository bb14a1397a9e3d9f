"""Quotas and namespaces: what is let in, what it says where not, and who tries again."""

from hangar.operator.cluster.simulated.spec import BudgetSpec, QuotaSpec
from hangar.operator.cluster.simulated.world import World
from tests.operator.cluster.simulated.worlds import a_world, an_app, pass_s, pods


def failures(world: World) -> set[str]:
    return {owner.failure for owner in world.snapshot().owners.values() if owner.failure is not None}


def test_a_quota_says_what_was_asked_what_is_used_and_what_there_is() -> None:
    world = a_world()
    world.add_quota(QuotaSpec("small", {"requests.cpu": 3000, "requests.nvidia.com/gpu": 8, "memory": 1 << 40}))
    world.add_workload(an_app(2, requests={"cpu": 2000, "nvidia.com/gpu": 1}))
    assert len(pods(world)) == 1
    (why,) = failures(world)
    assert why == (
        'pods "web-rs-00001" is forbidden: exceeded quota: small, '
        "requested: requests.cpu=2000m, used: requests.cpu=2000m, limited: requests.cpu=3000m"
    )


def test_a_pod_holds_its_share_until_it_is_gone_and_then_what_waited_is_made() -> None:
    world = a_world()
    world.add_quota(QuotaSpec("two", {"pods": 2}))
    world.add_workload(an_app(2, terminate_after_s=10.0))
    world.delete_pod(pods(world)[0].ref.uid)
    pass_s(world, 1.0)
    assert len(failures(world)) == 1
    assert world.snapshot().quotas["default", "two"].used == {"pods": 2}
    pass_s(world, 20.0)
    assert failures(world) == set()
    assert sum(pod.serves for pod in pods(world)) == 2


def test_kinds_that_do_not_say_why_are_silent_and_try_again_all_the_same() -> None:
    for kind in ("StatefulSet", "Job"):
        world = a_world()
        world.add_quota(QuotaSpec("one", {"count/pods": 1}))
        world.add_workload(an_app(2, kind=kind))
        assert (len(pods(world)), failures(world)) == (1, set())
        world.add_quota(QuotaSpec("one", {"count/pods": 2}))
        pass_s(world, 30.0)
        assert len(pods(world)) == 2


def test_a_quota_is_about_its_own_namespace_and_what_it_names() -> None:
    world = a_world()
    world.add_quota(QuotaSpec("elsewhere", {"pods": 0}, "other"))
    world.add_quota(QuotaSpec("odd", {"limits.cpu": 1, "requests.example.com/fpga": 0}))
    world.add_workload(an_app(3, requests={"cpu": 1000}))
    assert len(pods(world)) == 3


def test_a_namespace_that_is_deleted_lets_nothing_in_and_loses_all() -> None:
    world = a_world()
    world.add_workload(an_app(2))
    world.add_budget(BudgetSpec("web", {"app": "web"}, min_available=1))
    world.add_bare_pod("bare", "n1", an_app(name="bare").template)
    world.remove_namespace("default")
    pass_s(world, 0.5)
    assert all(pod.is_terminating for pod in (*pods(world), *pods(world, "bare")))
    pass_s(world, 60.0)
    snapshot = world.snapshot()
    assert (snapshot.pods, snapshot.owners, snapshot.budgets) == ({}, {}, {})
    world.add_workload(an_app(1))
    (why,) = failures(world)
    assert why.endswith("unable to create new content in namespace default because it is being terminated")

"""Webhooks: what they say is what an eviction is told, and what they do about it."""

import pytest

from hangar.domain.decision import Accepted, BudgetFull, Busy, Denied, Evict, Trouble, Unknown
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.spec import BudgetSpec, WebhookSpec
from tests.operator.cluster.simulated.worlds import a_world, an_app, pass_s, pods


def test_a_webhook_is_asked_about_the_pods_it_selects_alone() -> None:
    world = a_world()
    world.add_workload(an_app(1))
    world.add_workload(an_app(1, name="other"))
    world.webhooks.add(WebhookSpec("guard", {"app": "web"}, "no"))
    (pod,), (other,) = pods(world), pods(world, "other")
    assert api.take(world, Evict(pod.ref)) == Denied(
        '400: admission webhook "guard" denied the request: no', by_webhook=True
    )
    assert api.take(world, Evict(other.ref)) == Accepted()
    world.webhooks.drop("guard")
    assert api.take(world, Evict(pod.ref)) == Accepted()


def test_a_webhook_that_moves_pods_itself_does_so_after_its_denial() -> None:
    world = a_world()
    world.add_workload(an_app(1))
    world.webhooks.add(WebhookSpec("mover", moves_after_s=3.0))
    (pod,) = pods(world)
    assert isinstance(api.take(world, Evict(pod.ref)), Denied)
    pass_s(world, 2.9)
    assert not pods(world)[0].is_terminating
    pass_s(world, 10.0)
    assert pods(world)[0].ref.uid != pod.ref.uid


@pytest.mark.parametrize(
    ("timeout_s", "lets_pass", "waits_s", "answer"),
    [(2.0, False, 2.0, Busy), (2.0, True, 2.0, Accepted), (30.0, False, 8.0, Unknown), (30.0, True, 8.0, Unknown)],
)
def test_a_slow_webhook_costs_its_time_and_may_let_an_eviction_land_that_nobody_waits_for(
    timeout_s: float, lets_pass: bool, waits_s: float, answer: type[object]
) -> None:
    world = a_world()
    world.add_workload(an_app(1))
    world.webhooks.add(WebhookSpec("slow", is_slow=True, timeout_s=timeout_s, lets_pass=lets_pass))
    (pod,) = pods(world)
    assert api.delay_s(world, Evict(pod.ref)) == waits_s
    said = api.take(world, Evict(pod.ref))
    assert isinstance(said, answer)
    if isinstance(said, Busy):
        assert (said.trouble, said.message.startswith("webhook timeout: ")) == (Trouble.WEBHOOK, True)
    pass_s(world, timeout_s - waits_s + 0.01)
    assert pods(world)[0].is_terminating is lets_pass


def test_what_lands_late_finds_the_budget_as_it_is_by_then() -> None:
    world = a_world()
    world.add_workload(an_app(1))
    world.add_budget(BudgetSpec("web", {"app": "web"}, min_available=1))
    world.webhooks.add(WebhookSpec("slow", is_slow=True, timeout_s=30.0, lets_pass=True))
    (pod,) = pods(world)
    assert isinstance(api.take(world, Evict(pod.ref)), Unknown)
    pass_s(world, 60.0)
    assert not pods(world)[0].is_terminating
    world.webhooks.drop("slow")
    assert isinstance(api.take(world, Evict(pod.ref)), BudgetFull)

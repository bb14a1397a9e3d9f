"""The walk over a node's pods: what goes, what is held and why, and that nothing held keeps another from going."""

from dataclasses import replace
from typing import Any

import pytest

from hangar.domain.blockers import sentence
from hangar.domain.budgets import Hold
from hangar.domain.decision import Answer, Busy, Denied, Evict, Fail, SeveralBudgets, Trouble, Withheld
from hangar.domain.drain.pacing import CRITICAL_PRIORITY, Walk, Walker
from hangar.domain.ids import PodUid
from hangar.domain.limits import DENIED_TRIES_MAX, WEBHOOK_DENIED_TRIES_MAX
from hangar.domain.snapshot import Pod
from hangar.domain.view import ClusterSettings
from tests.domain.building import NOON, OP, OTHER_OP, a_budget, a_pod, a_view, an_answer, at
from tests.domain.drain.test_crossing import a_crossing

A, B = a_pod("a"), a_pod("b")
FREE = a_pod("free", labels={}, owner=None)


def walked(
    *pods: Pod, others: tuple[Any, ...] = (), is_emptying: bool = False, seconds: float = 0, **view: Any
) -> Walk:
    return Walker(OP, None).walk(pods, is_emptying, a_view(*pods, *others, **view), at(seconds))


def after(answer: Answer, *, seconds: float, tries: int = 1) -> Walk:
    return walked(A, answers=an_answer(Evict(A.ref), answer, tries=tries), seconds=seconds)


def held(walk: Walk) -> list[str]:
    return [why.cause.value if isinstance(why, Hold) else sentence(why) for _, why in walk.held]


def test_what_is_held_keeps_nothing_else_from_going() -> None:
    walk = walked(A, FREE, others=(a_budget(healthy=1, needs=1, expected=2),))
    assert walk.steps == (Evict(FREE.ref),)
    assert held(walk) == ["spent"]


def test_each_sees_what_those_before_it_have_spent() -> None:
    """C18: never more in flight than a budget allows, even if the server would grant it."""
    walk = walked(A, B, a_pod("c"), others=(a_budget(healthy=3, needs=2),))
    assert walk.steps == (Evict(A.ref),)
    assert held(walk) == ["spent", "spent"]


def test_critical_pods_go_when_the_others_have_left() -> None:
    critical = a_pod("dns", labels={}, owner=None, priority=CRITICAL_PRIORITY)
    walk = walked(critical, FREE)
    assert walk.steps == (Evict(FREE.ref),)
    assert held(walk) == ["default/dns is critical and waits until the other pods have left"]
    assert walked(critical, is_emptying=True).steps == ()
    assert walked(critical).steps == (Evict(critical.ref),)


def test_the_operators_own_pace_is_kept_and_told() -> None:
    settings = ClusterSettings(evictions_per_minute_max=7)
    pods = [a_pod(name, labels={}, owner=None) for name in "abc"]
    walk = walked(*pods, settings=settings, evictions_left=2, evictions_again_at=at(40))
    assert len(walk.steps) == 2
    assert held(walk) == ["default/c waits its turn: the operator evicts at most 7 pods a minute"]
    full = walked(*pods, settings=settings, evictions_left=0, evictions_again_at=at(40))
    assert (full.steps, full.recheck_at) == ((), at(40))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Busy("x", trouble=Trouble.CONFLICT), "default/a is tried again (conflict): x"),
        (Busy("x", trouble=Trouble.WEBHOOK), "default/a is tried again (webhook): x"),
        (Denied("x"), "default/a is tried again (denied): x"),
        (Denied("x", by_webhook=True), "default/a is tried again (denied by a webhook): x"),
        (SeveralBudgets("x"), "default/a is tried again (several budgets): x"),
        (Withheld("x"), "default/a is tried again (not sent): x"),
        (
            Busy("x", trouble=Trouble.NAMESPACE_TERMINATING),
            "default/a goes with its namespace, which is being deleted",
        ),
    ],
)
def test_what_was_not_taken_is_told_by_its_cause_and_tried_again(answer: Answer, told: str) -> None:
    waits = after(answer, seconds=0.1)
    assert (waits.steps, held(waits), waits.recheck_at) == ((), [told], at(0.2))
    assert after(answer, seconds=0.2).steps == (Evict(A.ref),)


def test_a_refusal_that_stays_is_the_end_and_a_webhook_gets_longer() -> None:
    """C28: some webhooks refuse an eviction and move the pod themselves."""
    over = after(Denied("no"), seconds=0, tries=DENIED_TRIES_MAX)
    assert over.denied == Fail("eviction_denied", "the cluster refuses to evict default/a: no")
    assert after(Denied("no", by_webhook=True), seconds=0, tries=DENIED_TRIES_MAX).denied is None
    assert after(Denied("no", by_webhook=True), seconds=0, tries=WEBHOOK_DENIED_TRIES_MAX).denied is not None


def test_a_grace_period_that_was_chosen_goes_along() -> None:
    """C63: none in the request where none was chosen."""
    assert Walker(OP, 5).walk((FREE,), False, a_view(FREE), NOON).steps == (Evict(FREE.ref, 5),)
    assert walked(FREE).steps == (Evict(FREE.ref, None),)


def test_the_younger_of_two_drains_that_cross_evicts_nothing() -> None:
    """C26: each holds the budget that the other waits for; the younger one pauses, and says for whom."""
    crossing = a_crossing()
    held_back, free = crossing.snapshot.pods[PodUid("p2")], a_pod("free", on="n2", labels={}, owner=None)
    view = replace(crossing, snapshot=replace(crossing.snapshot, pods={**crossing.snapshot.pods, free.ref.uid: free}))
    for pods in ([held_back, free], [held_back]):  # also where it had nothing else left to evict
        younger = Walker(OTHER_OP, None).walk(pods, False, view, NOON)
        assert younger.steps == ()
        assert held(younger)[-1] == (
            "waiting for op_01, the older drain: it holds pdb default/p, and waits for a budget that this one holds"
        )
    older = Walker(OP, None).walk([crossing.snapshot.pods[PodUid("q1")], free], False, view, NOON)
    assert older.steps == (Evict(free.ref),)

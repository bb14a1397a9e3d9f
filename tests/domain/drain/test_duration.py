"""Duration: steps times what was seen of an owner's pods; not known where nothing was."""

from datetime import timedelta
from typing import Any

from hangar.domain.drain.disruption import budgets_of
from hangar.domain.drain.duration import Expected, expected, longest_grace_s
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Pod
from tests.domain.building import Object, a_budget, a_node, a_pod, a_view, an_owner, at, draining, pending

WEB = an_owner("web", desired=2)


def seen(name: str, ready_after_s: float, **fields: Any) -> Pod:
    """Return a pod that took so long to be ready."""
    return a_pod(name, ready_at=at(-3600) + timedelta(seconds=ready_after_s), **fields)


def reckoned(*objects: Object, grace_s: int | None = None) -> Expected:
    view = a_view(a_node("n1"), a_node("n2"), *objects, claims=draining("n1"))
    moving = sorted(view.snapshot.pods_on(NodeName("n1")), key=lambda pod: pod.ref)
    return expected(moving, budgets_of(moving, view), grace_s, view)


def test_a_step_takes_the_longest_grace_and_the_median_time_to_be_ready() -> None:
    pods = seen("a", 10, grace_s=20), seen("b", 12, grace_s=60), seen("c", 300, on="n2"), a_pod("d", on="n2")
    assert reckoned(an_owner(desired=4), *pods) == Expected(
        72, 1, "deployment default/api: 1 step(s) of up to 60 s to end and 12 s to be ready (median of 3 pod(s))"
    )


def test_steps_follow_one_another() -> None:
    pods = [seen(name, 10) for name in "abc"] + [seen("d", 10, on="n2")]
    assert reckoned(an_owner(desired=4), *pods, a_budget(healthy=4, needs=3)).duration_s == 3 * (30 + 10)
    assert reckoned(an_owner(desired=4), *pods, a_budget(healthy=4, needs=3)).steps == 3


def test_a_grace_period_that_was_chosen_counts_for_all() -> None:
    assert reckoned(an_owner(desired=1), seen("a", 10, grace_s=600), grace_s=5).duration_s == 15
    assert longest_grace_s([a_pod(grace_s=600)], 5) == 5
    assert longest_grace_s([], None) == 0


def test_owners_move_side_by_side_so_the_slowest_counts() -> None:
    slow, fast = seen("a", 500), seen("w", 1, owner=WEB.ref, labels={})
    both = reckoned(an_owner(desired=1), WEB, slow, fast)
    assert (both.duration_s, both.steps) == (530, 2)
    assert both.basis.startswith("deployment default/api: 1 step(s)")


def test_critical_pods_follow_the_others() -> None:
    first, last = seen("a", 10), seen("w", 20, owner=WEB.ref, labels={}, priority=2_000_000_000)
    waves = reckoned(an_owner(desired=1), an_owner("web", desired=1), first, last)
    assert (waves.duration_s, waves.steps) == (40 + 50, 2)
    assert ", then deployment default/web: " in waves.basis


def test_where_nothing_was_seen_nothing_is_foretold() -> None:
    assert reckoned(an_owner(desired=1), a_pod("a")) == Expected(
        None, 1, "it is not known how long pods of deployment default/api take to be ready"
    )


def test_an_owner_without_a_ready_pod_is_waited_for_to_end_only() -> None:
    assert reckoned(an_owner(desired=1), pending("a", on="n1", grace_s=7)) == Expected(
        7, 1, "deployment default/api: 1 step(s) of up to 7 s to end"
    )


def test_what_has_no_owner_takes_its_end() -> None:
    assert reckoned(a_pod("a", owner=None)) == Expected(30, 1, "default/a: 1 step(s) of up to 30 s to end")


def test_an_empty_node_takes_no_time() -> None:
    assert reckoned() == Expected(0, 0, "no pod has to move")

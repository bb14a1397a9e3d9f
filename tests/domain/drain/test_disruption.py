"""Pace: how many steps budgets and owners make of a drain, and how far an owner may fall on the way."""

from typing import Any

from hangar.domain.drain.disruption import budgets_of, loss_of, parts_of, steps_of
from hangar.domain.ids import NodeName, OwnerUid
from hangar.domain.plan import PlannedBudget, PlannedLoss
from hangar.domain.snapshot import Pod
from hangar.domain.view import View
from tests.domain.building import (
    API,
    Object,
    a_budget,
    a_member,
    a_node,
    a_pod,
    a_view,
    an_owner,
    draining,
    pending,
    terminating,
)

OTHERS = a_pod("x", on="n2"), a_pod("y", on="n2")


def a_drain(*objects: Object) -> tuple[list[Pod], View]:
    """Return the pods of n1, and a view in which it is drained."""
    view = a_view(a_node("n1"), a_node("n2"), *objects, claims=draining("n1"))
    return sorted(view.snapshot.pods_on(NodeName("n1")), key=lambda pod: pod.ref), view


def paced(*objects: Object) -> list[PlannedBudget]:
    return list(budgets_of(*a_drain(*objects)).values())


def loss(*objects: Object) -> PlannedLoss:
    moving, view = a_drain(*objects)
    (part,) = parts_of(moving, view)
    return loss_of(part, budgets_of(moving, view), view)


def steps(*objects: Object) -> int:
    moving, view = a_drain(*objects)
    (part,) = parts_of(moving, view)
    return steps_of(part, budgets_of(moving, view), view)


def here(count: int, **fields: Any) -> list[Pod]:
    return [a_pod(f"m{number}", **fields) for number in range(count)]


# --- budgets ----------------------------------------------------------------------------------------------------------


def test_six_pods_under_a_budget_that_allows_one_take_six_steps() -> None:
    only = paced(an_owner(desired=8), *here(6), *OTHERS, a_budget(healthy=8, needs=7))
    assert only == [PlannedBudget("pdb default/api", pods=6, allowed=1, steps=6, message="needs 7 has 8")]


def test_steps_are_rounded_up_and_at_least_one() -> None:
    assert [each.steps for each in paced(*here(3), *OTHERS, a_budget(healthy=5, needs=3))] == [2]
    assert [each.steps for each in paced(*here(1), *OTHERS, a_budget(healthy=3, needs=0))] == [1]


def test_a_budget_that_can_never_allow_one_says_so_with_what_can_be_done() -> None:
    """C21."""
    (only,) = paced(an_owner(desired=1), *here(1), a_budget(healthy=1, needs=1))
    assert (only.allowed, only.steps) == (0, 1)
    assert only.message == (
        "holds back default/m0: needs 1 has 1, and can never allow one; "
        "scale up, relax the budget, or drain with skip_fit_check"
    )


def test_a_budget_that_is_spent_for_now_says_what_it_lacks() -> None:
    ill = a_pod("ill", on="n2", ready=False, waiting="CrashLoopBackOff")
    (only,) = paced(an_owner(desired=3), *here(2), ill, a_budget(healthy=2, needs=2, expected=3))
    assert only.message == "holds back default/m0, default/m1: needs 2 has 2; not ready: default/ill: CrashLoopBackOff"


def test_a_budget_is_not_asked_about_pods_that_go_freely() -> None:
    freely = pending("a", on="n1"), terminating("b"), a_pod("c", ready=False)
    assert paced(*freely, *OTHERS, a_budget(healthy=2, needs=1)) == []
    assert paced(a_pod("c", ready=False), a_budget(healthy=0, needs=1, always_allow_unready=True)) == []
    held = paced(a_pod("c", ready=False), *OTHERS, a_budget(healthy=2, needs=3, expected=3))
    assert [each.pods for each in held] == [1]


def test_budgets_come_in_the_order_of_their_names() -> None:
    both = paced(*here(1), *OTHERS, a_budget("z"), a_budget("a"))
    assert [each.budget for each in both] == ["pdb default/a", "pdb default/z"]
    assert both[0].message == (
        "default/m0 is guarded by pdb default/a and pdb default/z, and the eviction API takes one at most"
    )


# --- owners -----------------------------------------------------------------------------------------------------------


def test_without_a_budget_all_may_go_at_once_but_the_last_where_more_are_wanted() -> None:
    assert loss(an_owner(desired=4), *here(2), *OTHERS) == PlannedLoss("deployment default/api", 4, 2, 2)
    assert loss(an_owner(desired=3), *here(3)).lowest == 1
    assert loss(an_owner(desired=1), *here(1)).lowest == 0
    assert loss(an_owner(desired=3), *here(1), pending("new")).lowest == 1, "the others are on their way"


def test_of_an_owner_that_is_not_read_what_is_ready_is_what_it_wants() -> None:
    assert loss(*here(2)).lowest == 1
    assert loss(*here(1)).lowest == 0


def test_a_budget_bounds_what_is_gone_at_a_time() -> None:
    assert loss(an_owner(desired=5), *here(3), *OTHERS, a_budget(healthy=5, needs=4)).lowest == 4
    assert loss(an_owner(desired=5), *here(3), *OTHERS, a_budget(healthy=5, needs=5)).lowest == 5
    assert loss(an_owner(desired=5), *here(3), *OTHERS, a_budget("a"), a_budget("b")).lowest == 5


def test_pods_that_no_budget_guards_go_beside_those_that_one_does() -> None:
    free = a_pod("free", labels={})
    assert loss(an_owner(desired=5), *here(2), free, *OTHERS, a_budget(healthy=4, needs=3)).lowest == 3


def test_what_does_not_serve_is_no_loss() -> None:
    assert loss(an_owner(desired=3), a_pod("m0", ready=False), *OTHERS) == PlannedLoss(
        "deployment default/api", 2, 1, 2
    )
    assert loss(an_owner(desired=1), a_pod("m0", ready=False)).lowest == 0


def test_an_owner_whose_pods_are_all_here_takes_two_steps_at_least() -> None:
    assert steps(an_owner(desired=3), *here(3)) == 2
    assert steps(an_owner(desired=1), *here(1)) == 1
    assert steps(an_owner(desired=4), *here(2), *OTHERS) == 1
    assert steps(an_owner(desired=5), *here(3), *OTHERS, a_budget(healthy=5, needs=4)) == 3
    assert steps(an_owner(desired=2), a_pod("m0", ready=False), a_pod("m1", ready=False)) == 1


def test_pods_are_told_apart_by_their_owners() -> None:
    web = an_owner("web")
    moving, view = a_drain(*here(1), a_pod("w", owner=web.ref), a_pod("bare", owner=None))
    assert [(each.name, [pod.ref.name for pod in each.pods]) for each in parts_of(moving, view)] == [
        ("deployment default/api", ["m0"]),
        ("deployment default/web", ["w"]),
    ]


# --- groups -----------------------------------------------------------------------------------------------------------


def test_a_group_counts_once() -> None:
    """C53."""
    pods = [a_member("a0"), a_member("a1"), a_member("b0", 1, on="n2"), a_member("b1", 1, on="n2")]
    assert loss(*pods) == PlannedLoss("leaderworkerset default/llama", 2, 1, 1)
    assert steps(*pods) == 1
    assert loss(*pods[:2]) == PlannedLoss("leaderworkerset default/llama", 1, 1, 0)


def test_owners_are_known_by_their_uid() -> None:
    moving, view = a_drain(*here(1))
    assert [each.owner for each in parts_of(moving, view)] == [OwnerUid(API.uid)]

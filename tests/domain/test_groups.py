"""Groups: known by their pods' labels, counted once, and never the last complete one."""

from dataclasses import replace
from typing import Any

from hangar.domain.budgets import may_evict
from hangar.domain.decision import Evict
from hangar.domain.groups import Group, group_of
from hangar.domain.ids import OwnerUid
from hangar.domain.owners import baseline_of, desired_by, group_size, keeps_last_ready, ready_count, shortfall
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import Budget, OwnerRef, Pod
from hangar.domain.view import View
from tests.domain.building import a_budget, a_node, a_pod, a_view, an_owner, draining, uids

LWS = "leaderworkerset.sigs.k8s.io/"
OWNER = OwnerUid("LeaderWorkerSet/default/llama")


def labels(index: int) -> dict[str, str]:
    return {f"{LWS}name": "llama", f"{LWS}group-index": str(index)}


def member(group: int, number: int, *, on: str, **fields: Any) -> Pod:
    return a_pod(f"llama-{group}-{number}", on=on, owner=None, labels=labels(group), **fields)


def two_groups(**fields: Any) -> tuple[Pod, ...]:
    """Return two groups of two pods: group 0 on n1 and n2, group 1 on n3 and n4."""
    return (
        member(0, 0, on="n1", **fields),
        member(0, 1, on="n2"),
        member(1, 0, on="n3"),
        member(1, 1, on="n4"),
    )


def a_view_of(*pods: Pod | Budget, before: int = 2, leaving: str = "") -> View:
    nodes = [a_node(name) for name in ("n1", "n2", "n3", "n4", "n5")]
    claims = draining("n1", baselines={OWNER: before})
    return a_view(*nodes, *pods, claims=claims, leaving=uids(*filter(None, [leaving])))


def test_both_kinds_of_groups_are_known_by_their_labels() -> None:
    grove = {
        "grove.io/podcliquescalinggroup": "decode",
        "grove.io/podcliquescalinggroup-replica-index": "3",
        "grove.io/podclique": "decode-3-ldr",
    }
    assert group_of("serving", grove) == Group("PodCliqueScalingGroup", "serving", "decode", "3")
    assert str(group_of("default", labels(0))) == "leaderworkerset default/llama group 0"
    assert group_of("default", {"grove.io/podclique": "frontend"}) is None


def test_the_pods_of_all_groups_have_one_owner_whatever_keeps_their_parts() -> None:
    view = a_view_of(*two_groups())
    owner = view.snapshot.top_owner(view.snapshot.pods[next(iter(uids("llama-0-1")))])
    assert owner is not None
    assert (owner.kind, owner.name, owner.uid) == ("LeaderWorkerSet", "llama", OWNER)
    assert len(list(view.snapshot.pods_of(OWNER))) == 4


def test_an_owner_of_groups_is_counted_in_complete_groups() -> None:
    assert group_size(OWNER, a_view_of(*two_groups())) == 2
    assert ready_count(OWNER, a_view_of(*two_groups())) == 2
    assert baseline_of(OWNER, a_view_of(*two_groups(), before=0)) == 2
    assert ready_count(OWNER, a_view_of(*two_groups(ready=False))) == 1
    assert ready_count(OWNER, a_view_of(*two_groups(), leaving="llama-1-0")) == 1


def test_a_group_that_is_being_made_anew_is_complete_only_at_its_old_size() -> None:
    """C53: its leader alone serves nobody."""
    _, _, *other = two_groups()
    lack = shortfall(OWNER, a_view_of(member(0, 9, on="n5"), *other))
    assert lack is not None
    assert (lack.has, lack.needs, lack.unit) == (1, 2, "group")
    assert shortfall(OWNER, a_view_of(member(0, 8, on="n2"), member(0, 9, on="n5"), *other)) is None


def test_a_group_of_which_one_pod_is_about_to_end_spends_its_budget_whole() -> None:
    """C53: a budget that counts pods never lets two groups go for two pods."""
    pods = two_groups()
    budget = a_budget(healthy=4, needs=2, selector=(Requirement(f"{LWS}name", SelectorOp.IN, frozenset({"llama"})),))
    view = a_view_of(*pods, budget)
    assert may_evict(pods[0], view) is None
    after = view.assuming((Evict(pods[0].ref),))
    assert [after.serving(each) for each in pods] == [False, False, True, True]
    assert may_evict(pods[2], after) is not None


def test_a_keeper_of_groups_wants_as_many_as_its_leaders_are() -> None:
    """Scaled down in mid-drain: what is not wanted any more is not waited for."""
    lws = OwnerRef("LeaderWorkerSet", "llama", OwnerUid("lws-uid"))
    leaders = an_owner("llama", 1, kind="StatefulSet", parent=lws)
    pods = [replace(pod, controller=leaders.ref) if pod.ref.name.endswith("-0") else pod for pod in two_groups()[2:]]
    view = a_view(
        *(a_node(f"n{number}") for number in range(1, 5)), leaders, *pods, claims=draining("n1", baselines={OWNER: 2})
    )
    assert desired_by(OWNER, view.snapshot) == 1
    assert shortfall(OWNER, view) is None


def test_the_last_complete_group_is_kept_while_another_restarts() -> None:
    """C53, C54: whichever drains meet, one group serves throughout."""
    pods = two_groups(ready=False)
    view = a_view_of(*pods)
    held = keeps_last_ready(pods[2], view)
    assert held is not None
    assert (held.subject, held.facts["unit"]) == ("leaderworkerset default/llama group 1", "group")
    assert keeps_last_ready(pods[1], view) is None, "its group does not serve any more, so that it is free to go"
    assert keeps_last_ready(pods[2], a_view_of(*two_groups())) is None

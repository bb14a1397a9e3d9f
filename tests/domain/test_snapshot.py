"""The snapshot's own rules: tolerations, selectors, who guards and who owns whom."""

from dataclasses import replace
from typing import Any

import pytest

from hangar.domain.ids import OwnerUid
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import OwnerRef, Pod, PodPhase, Snapshot, Taint, Toleration
from tests.domain.building import API, a_budget, a_pod, a_snapshot, an_owner, pending, terminating

TAINT = Taint("team", "red", "NoSchedule")


@pytest.mark.parametrize(
    ("key", "operator", "value", "effect", "tolerates"),
    [
        ("team", "Equal", "red", "NoSchedule", True),
        ("team", "", "red", "", True),  # Equal is what an empty operator means
        ("team", "Equal", "blue", "", False),
        ("team", "Exists", "", "", True),
        ("team", "Exists", "", "NoExecute", False),
        ("other", "Exists", "", "", False),
        ("", "Exists", "", "", True),
        ("", "Equal", "", "", False),
    ],
)
def test_a_toleration_meets_taints_as_kubernetes_says(
    key: str, operator: str, value: str, effect: str, tolerates: bool
) -> None:
    assert Toleration(key, operator, value, effect).tolerates(TAINT) is tolerates


@pytest.mark.parametrize(
    ("op", "values", "with_x", "with_y", "without"),
    [
        (SelectorOp.IN, {"x"}, True, False, False),
        (SelectorOp.IN, set[str](), False, False, False),
        (SelectorOp.NOT_IN, {"x"}, False, True, True),
        (SelectorOp.EXISTS, set[str](), True, True, False),
        (SelectorOp.DOES_NOT_EXIST, set[str](), False, False, True),
    ],
)
def test_a_requirement_meets_labels_as_kubernetes_says(
    op: SelectorOp, values: set[str], with_x: bool, with_y: bool, without: bool
) -> None:
    requirement = Requirement("app", op, frozenset(values))
    labels: list[dict[str, str]] = [{"app": "x"}, {"app": "y"}, {"tier": "x"}]
    assert [requirement.matches(each) for each in labels] == [with_x, with_y, without]


def test_a_budget_guards_what_meets_all_of_its_selector_in_its_namespace() -> None:
    both = (
        Requirement("app", SelectorOp.IN, frozenset({"api"})),
        Requirement("tier", SelectorOp.DOES_NOT_EXIST),
    )
    budget = a_budget(selector=both)
    assert budget.guards(a_pod())
    assert not budget.guards(a_pod(labels={"app": "api", "tier": "gold"}))
    assert not budget.guards(a_pod(namespace="other"))
    assert a_budget(selector=()).guards(a_pod(labels={}))
    assert str(budget) == "pdb default/api"


@pytest.mark.parametrize(
    ("pod", "serves", "is_finished", "is_terminating"),
    [
        (a_pod(), True, False, False),
        (a_pod(ready=False), False, False, False),
        (pending("a"), False, False, False),
        (terminating("a"), False, False, True),
        (a_pod(phase=PodPhase.SUCCEEDED), False, True, False),
        (a_pod(phase=PodPhase.FAILED), False, True, False),
        (a_pod(phase=PodPhase.UNKNOWN), True, False, False),
    ],
    ids=["ready", "unready", "pending", "terminating", "succeeded", "failed", "unknown"],
)
def test_what_serves_is_ready_and_stays_so(pod: Pod, serves: bool, is_finished: bool, is_terminating: bool) -> None:
    assert (pod.serves, pod.is_finished, pod.is_terminating) == (serves, is_finished, is_terminating)


def test_the_top_owner_is_the_deployment_and_not_its_replica_set() -> None:
    replica_set = an_owner("api-1", kind="ReplicaSet", parent=API)
    pod = a_pod(owner=replica_set.ref)
    assert a_snapshot(pod, replica_set, an_owner()).top_owner(pod) == API
    assert a_snapshot(pod, replica_set).top_owner(pod) == API, "its Deployment need not be known"
    assert a_snapshot(pod).top_owner(pod) == replica_set.ref
    assert a_snapshot().top_owner(a_pod(owner=None)) is None


def test_a_controller_has_the_pods_of_all_below_it() -> None:
    top = OwnerRef("Rollout", "api", OwnerUid("rollout"))
    old = an_owner("old", kind="ReplicaSet", parent=top)
    new = an_owner("new", kind="ReplicaSet", parent=top)
    pods = (a_pod("a", owner=old.ref), a_pod("b", owner=new.ref), a_pod("c", owner=top), a_pod("d", owner=None))
    shown = a_snapshot(old, new, *pods)
    assert {pod.ref.name for pod in shown.pods_of(top.uid)} == {"a", "b", "c"}


def test_names_are_as_people_write_them() -> None:
    assert str(an_owner()) == "deployment default/api"
    assert str(a_pod().ref) == "default/a"


def test_what_nobody_knows_is_empty() -> None:
    nothing: Any = "nothing"
    shown = a_snapshot()
    assert list(shown.pods_on(nothing)) == list(shown.pods_of(nothing)) == []
    assert shown.budgets_of(a_pod()) == ()


def test_an_operator_that_compares_is_taken_to_let_in() -> None:
    taint = Taint("tier", "5", "NoSchedule")
    assert Toleration("tier", "Gt", "3", "").tolerates(taint)
    assert not Toleration("rank", "Gt", "3", "").tolerates(taint)
    assert not Toleration("tier", "Equal", "3", "").tolerates(taint)


def test_what_was_found_out_of_a_snapshot_is_asked_once_and_not_taken_over_by_another() -> None:
    asked: list[int] = []

    def count(snapshot: Snapshot) -> int:
        asked.append(len(snapshot.pods))
        return len(snapshot.pods)

    of_one = a_snapshot(a_pod("web-1"))
    assert (of_one.once(count), of_one.once(count)) == (1, 1)
    assert replace(of_one, pods={}).once(count) == 0
    assert asked == [1, 0]

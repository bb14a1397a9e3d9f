"""What a change of a workload waits for, cluster by cluster, and the words it is told in."""

from dataclasses import replace

import pytest

from hangar.domain.blockers import sentence
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.graph import Unwritten
from hangar.domain.workloads.placement import Division, Misfit, Policy
from hangar.domain.workloads.rollout import (
    away,
    changed_back,
    connected,
    drifters,
    followers,
    misfit_text,
    per_cluster,
    progress,
    reach,
    reverted,
    reverts,
    waiting,
)
from hangar.domain.workloads.workload import Deployment
from tests.domain.building import OP
from tests.domain.workloads.building import FRA, HPA, IAD, SIN, a_deployment, a_graph, a_workload, with_rivals

BY_HAND = a_deployment(graph=a_graph(5, rev=7, by="kubectl-edit"))


@pytest.mark.parametrize(
    ("of", "code"),
    [
        (a_deployment(graph=None), "graph_missing"),
        (a_deployment(shape=None), "graph_missing"),
        (a_deployment(graph=None, planned=a_graph(1, rev=None)), "not_created"),
        (a_deployment(desired=0, graph=None, planned=a_graph(1, rev=None)), None),
        (a_deployment(graph=replace(a_graph(2, rev=6), is_paused=True)), "graph_paused"),
        (BY_HAND, "drifted"),
        (a_deployment(is_written=False), "not_written"),
        (a_deployment(ready=1), "not_ready"),
        (a_deployment(), None),
    ],
)
def test_a_deployment_is_waited_for_by_the_first_thing_that_it_lacks(of: Deployment, code: str | None) -> None:
    found = waiting(of, until_ready=True)
    assert (None if found is None else found.code) == code


def test_what_is_not_ready_is_not_waited_for_where_written_is_enough() -> None:
    assert waiting(a_deployment(ready=1), until_ready=False) is None


@pytest.mark.parametrize(
    ("of", "told"),
    [
        (
            a_deployment(ready=1, graph=replace(a_graph(2, rev=7, ready=1), unready="pods are pending")),
            "fra-1/serving/llama has 1 of 2 replicas ready: pods are pending",
        ),
        (BY_HAND, "fra-1/serving/llama was changed by kubectl-edit after it was written: it is to have 2 replicas"),
        (
            a_deployment(is_written=False),
            "fra-1/serving/llama is to have 2 replicas, and its operator has not written that yet",
        ),
    ],
)
def test_what_is_waited_for_is_told_with_names_and_numbers(of: Deployment, told: str) -> None:
    found = waiting(of, until_ready=True)
    assert found is not None
    assert sentence(found) == told


def test_progress_counts_the_connected_clusters_alone() -> None:
    workload = a_workload(a_deployment(FRA), a_deployment(IAD, is_written=False), a_deployment(SIN, is_online=False))
    seen = progress(workload, until_ready=False)
    assert (seen.done, seen.total, seen.message) == (1, 2, "written on 1 of 2 clusters")
    assert [each.subject for each in seen.blockers] == ["iad-1/serving/llama"]
    assert [each.cluster for each in connected(workload)] == [FRA, IAD]
    assert away(workload) == (SIN,)
    assert progress(a_workload(), until_ready=True).message == "ready on 3 of 3 clusters"


def test_whoever_changed_a_number_is_named_once_and_an_unknown_hand_is_somebody() -> None:
    assert drifters(BY_HAND) == ["kubectl-edit"]
    assert drifters(a_deployment(graph=a_graph(5, rev=7))) == ["somebody"]
    assert drifters(a_deployment()) == []
    assert drifters(a_deployment(graph=None)) == []


@pytest.mark.parametrize(
    ("policy", "text"),
    [(Policy(), "2 + 2 = 4, divided"), (Policy(Division.DUPLICATED), "6 each x 2 = 4, duplicated")],
)
def test_a_number_is_told_with_what_it_means_in_all(policy: Policy, text: str) -> None:
    drained = a_deployment(SIN, 0, drained_by=OP)
    assert reach(a_workload(a_deployment(FRA), a_deployment(IAD), drained, policy=policy)) == text


def test_clusters_are_told_with_what_is_wanted_and_ready() -> None:
    assert per_cluster([a_deployment(ready=1)]) == [
        {"cluster": "fra-1", "graph": "serving/llama", "desired": 2, "ready": 1, "state": "reconciling"}
    ]


@pytest.mark.parametrize(
    ("clusters", "text"),
    [
        ((), ""),
        ((SIN,), "; sin-1 is offline and will follow"),
        ((FRA, SIN), "; fra-1, sin-1 are offline and will follow"),
    ],
)
def test_those_that_follow_are_named(clusters: tuple[ClusterName, ...], text: str) -> None:
    assert followers(clusters) == text


@pytest.mark.parametrize(
    ("misfit", "text"),
    [
        (Misfit(9, 0, 6), "9 replicas are out of its bounds: its clusters need at least 0 and at most 6, or 0"),
        (Misfit(1, 3, None), "1 replicas are out of its bounds: its clusters need at least 3, or 0"),
    ],
)
def test_a_number_without_a_place_is_told_with_those_that_have_one(misfit: Misfit, text: str) -> None:
    assert misfit_text(misfit) == text


def test_a_change_back_is_told_by_the_name_of_the_rival_where_one_is_known() -> None:
    assert reverted(BY_HAND) == "fra-1/serving/llama: kubectl-edit has set decode to 5 instead of 2"
    assert reverted(with_rivals(a_deployment(graph=a_graph(5, rev=7)), HPA)) == (
        "fra-1/serving/llama: HorizontalPodAutoscaler llama has set decode to 5 instead of 2"
    )
    lost = replace(a_graph(2, rev=7), components=a_graph(2, rev=7).components[:1])
    assert reverted(a_deployment(graph=lost)) == "fra-1/serving/llama: decode is not there any more"
    assert reverted(a_deployment()) is None
    assert reverted(a_deployment(graph=None)) is None


def test_a_change_back_that_the_operator_tells_of_is_told_in_its_words() -> None:
    told = Unwritten(7, "reverted", "the adapter llama-decode was set to 3 by keda")
    assert reverted(a_deployment(is_written=False, told=told)) == (
        "fra-1/serving/llama: the adapter llama-decode was set to 3 by keda"
    )
    old = replace(told, rev=6)
    assert reverted(a_deployment(is_written=False, told=old)) is None


def test_changes_back_count_only_where_nothing_else_is_waited_for_and_this_operation_wrote() -> None:
    late, done = a_deployment(IAD, is_written=False), a_deployment(SIN)
    assert len(reverts([BY_HAND, done], {"fra-1": 6}, until_ready=False)) == 1
    assert reverts([BY_HAND, late], {"fra-1": 6, "iad-1": 6}, until_ready=False) == []
    assert reverts([BY_HAND, done], {"fra-1": 7}, until_ready=False) == []
    assert changed_back(["a", "b"]) == "changed back: a; b. What is wanted stays, and is not written again by itself"


def test_why_something_is_not_written_is_told_where_it_is_known() -> None:
    told = Unwritten(7, "adapter_missing", "decode has no adapter yet")
    found = waiting(a_deployment(is_written=False, told=told), until_ready=False)
    assert found is not None
    assert sentence(found) == (
        "fra-1/serving/llama is to have 2 replicas, and its operator has not written that yet: "
        "decode has no adapter yet (adapter_missing)"
    )

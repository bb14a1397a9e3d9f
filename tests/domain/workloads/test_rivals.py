"""Who else writes the numbers of a deployment, and when that stands in the way."""

from dataclasses import replace

import pytest

from hangar.domain.workloads.graph import Component, Rival, RivalKind, Role
from hangar.domain.workloads.kind import SetReplicas, TakeOut
from hangar.domain.workloads.placement import Bounds, Policy
from hangar.domain.workloads.rivals import changer_of, opposed, opposed_numbers, rival_of, rivals_of, warnings
from hangar.domain.workloads.workload import Deployment
from tests.domain.building import OP
from tests.domain.workloads.building import (
    FRA,
    GITOPS,
    HPA,
    IAD,
    SIN,
    a_deployment,
    a_graph,
    a_workload,
    with_rivals,
)

FRONTEND = Rival(RivalKind.KEDA, "front", "Frontend")
ANY = Rival(RivalKind.KEDA, "all")


def with_planner(replicas: int) -> Deployment:
    graph = a_graph(2, rev=7)
    planner = Component("planner", Role.PLANNER, replicas)
    return a_deployment(graph=replace(graph, components=(*graph.components, planner)))


def test_rivals_are_those_of_scaled_components_and_of_all() -> None:
    assert rivals_of(with_rivals(a_deployment(), HPA, FRONTEND, ANY)) == (HPA, ANY)
    assert rivals_of(a_deployment(graph=None)) == ()
    assert rivals_of(replace(with_rivals(a_deployment(), HPA), shape=None)) == ()


def test_a_planner_is_one_while_it_runs() -> None:
    assert rivals_of(with_planner(1)) == (Rival(RivalKind.PLANNER, "planner"),)
    assert rivals_of(with_planner(0)) == ()


def test_the_rival_of_a_component_is_its_own_or_that_of_all() -> None:
    assert rival_of(with_rivals(a_deployment(), HPA), "decode") == HPA
    assert rival_of(with_rivals(a_deployment(), HPA), "prefill") is None
    assert rival_of(with_rivals(a_deployment(), ANY), "decode") == ANY


@pytest.mark.parametrize(
    ("fra", "replicas", "is_opposed"),
    [
        (with_rivals(a_deployment(FRA), HPA), 9, True),
        (with_rivals(a_deployment(FRA), HPA), 6, False),
        (with_rivals(a_deployment(FRA), GITOPS), 9, False),
        (with_rivals(a_deployment(FRA, graph=a_graph(5, rev=7)), HPA), 6, True),
        (with_planner(1), 9, True),
    ],
    ids=["its number changes", "its number stays", "a repository only warns", "it is written anew", "a planner"],
)
def test_only_a_cluster_that_is_to_be_written_counts(fra: Deployment, replicas: int, is_opposed: bool) -> None:
    workload = a_workload(fra, a_deployment(IAD), a_deployment(SIN))
    assert (opposed(workload, SetReplicas(replicas)) is not None) == is_opposed


def test_all_rivals_are_named_with_their_clusters_and_the_way_on() -> None:
    workload = a_workload(with_rivals(a_deployment(FRA), ANY), with_planner(1))
    fail = opposed(workload, SetReplicas(0))
    assert fail is not None
    assert fail.message == (
        "ScaledObject all writes the number of serving/llama on fra-1; "
        "Planner planner writes the number of serving/llama on fra-1: remove them, "
        "or go on with an operation that has `override` and a reason (`--override --reason TEXT`)"
    )


def test_what_cannot_be_placed_is_refused_as_that() -> None:
    policy = Policy(default_bounds=Bounds(0, 1))
    assert opposed(a_workload(with_rivals(a_deployment(), HPA), policy=policy), TakeOut(IAD, OP)) is None


def test_an_autoscaler_says_what_it_does_with_nothing_alone() -> None:
    workload = a_workload(with_rivals(a_deployment(FRA), HPA))
    to_none, to_one = (
        opposed_numbers(workload, replace(workload, deployments=(a_deployment(FRA, number),))) for number in (0, 1)
    )
    assert to_none is not None
    assert to_one is not None
    assert "may scale it back up to its minReplicas" in to_none.message
    assert "minReplicas" not in to_one.message


def test_a_repository_is_warned_of_in_other_words() -> None:
    assert warnings(a_workload(with_rivals(a_deployment(FRA), GITOPS))) == [
        "the number of decode of serving/llama on fra-1 will be reverted by GitOps argocd, unless it is changed there "
        "too"
    ]


@pytest.mark.parametrize(
    ("rival", "by", "named"),
    [
        (HPA, "kube-controller-manager", "HorizontalPodAutoscaler llama"),
        (HPA, "llama", "HorizontalPodAutoscaler llama"),
        (HPA, None, "HorizontalPodAutoscaler llama"),
        (HPA, "kubectl-edit", "kubectl-edit"),
        (GITOPS, "argocd-controller", "GitOps argocd"),
        (GITOPS, "kube-controller-manager", "kube-controller-manager"),
        (None, "kubectl-edit", "kubectl-edit"),
        (None, None, "somebody"),
    ],
)
def test_who_has_set_a_number_is_named_as_people_know_it(rival: Rival | None, by: str | None, named: str) -> None:
    deployment = a_deployment(FRA, graph=a_graph(5, rev=7, by=by))
    found = deployment if rival is None else with_rivals(deployment, rival)
    assert changer_of(found, "decode") == named

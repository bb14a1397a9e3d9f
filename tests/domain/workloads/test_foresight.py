"""What an operation on a workload would do: numbers, what is in the way, and what may come of it."""

from dataclasses import replace
from typing import Any

import pytest

from hangar.domain.ids import OperationId
from hangar.domain.workloads.foresight import Foresight, foresee
from hangar.domain.workloads.graph import Component, Role
from hangar.domain.workloads.kind import AnyWorkloadKind, WorkloadJob
from hangar.domain.workloads.placement import Bounds, Policy
from hangar.domain.workloads.workload import Workload
from hangar.kinds import workload_drain, workload_pause, workload_resume, workload_scale, workload_undrain
from tests.domain.building import NOON, OP, at
from tests.domain.workloads.building import (
    CLUSTERS,
    FRA,
    GITOPS,
    HPA,
    IAD,
    SIN,
    a_deployment,
    a_graph,
    a_workload,
    numbers,
    with_rivals,
)

BARE = replace(a_graph(2, rev=7), components=a_graph(2, rev=7).components[1:])
"""A graph without a frontend."""


def seen(kind: AnyWorkloadKind, workload: Workload, *, on: Any = None, **params: Any) -> Foresight:
    job: WorkloadJob[object, object] = WorkloadJob(
        OperationId("dry run"), workload.name, on, kind.params(**params), kind.memory(), "alice", None, at(60)
    )
    return foresee(kind, job, workload, NOON)


def test_a_scale_is_told_by_its_numbers_before_and_after() -> None:
    found = seen(workload_scale.KIND, a_workload(), replicas=9)
    assert found.message == "2 + 2 + 2 = 6, divided becomes 3 + 3 + 3 = 9, divided"
    assert (numbers(found.after), found.obstructions, found.warnings) == ([3, 3, 3], (), ())


def test_a_drain_is_told_as_it_is_at_its_end() -> None:
    found = seen(workload_drain.KIND, a_workload(), on=SIN)
    assert numbers(found.after) == [3, 3, 0]
    assert found.message == "2 + 2 + 2 = 6, divided becomes 3 + 3 = 6, divided"


def test_a_pause_and_its_end_are_told_in_words() -> None:
    paused = a_workload(*(a_deployment(each, 0) for each in CLUSTERS), is_paused=True)
    assert seen(workload_pause.KIND, a_workload()).message == "2 + 2 + 2 = 6, divided becomes paused (6 when resumed)"
    assert seen(workload_pause.KIND, paused).message == "nothing would be changed: paused (6 when resumed)"
    assert numbers(seen(workload_resume.KIND, paused).after) == [2, 2, 2]


def test_what_would_be_refused_or_fail_is_in_the_way_and_changes_nothing() -> None:
    no_room = a_workload(a_deployment(FRA, room=0), a_deployment(IAD), a_deployment(SIN))
    for found, code in (
        (
            seen(workload_scale.KIND, a_workload(policy=Policy(default_bounds=Bounds(0, 2))), replicas=9),
            "out_of_bounds",
        ),
        (seen(workload_scale.KIND, a_workload(is_paused=True), replicas=9), "workload_paused"),
        (seen(workload_drain.KIND, no_room, on=SIN), "no_room"),
        (seen(workload_drain.KIND, a_workload(a_deployment(SIN)), on=SIN), "only_cluster"),
        (seen(workload_pause.KIND, a_workload(with_rivals(a_deployment(FRA), HPA))), "rival_owner"),
    ):
        assert [each.code for each in found.obstructions] == [code]
        assert found.message == "nothing would be changed"
    assert numbers(seen(workload_drain.KIND, no_room, on=SIN).after) == [2, 2, 2]


def test_what_cannot_be_placed_after_all_is_in_the_way() -> None:
    drained = a_deployment(SIN, 0, drained_by=OP)
    workload = a_workload(a_deployment(FRA, 6), drained, policy=Policy(bounds={SIN: Bounds(7, None)}))
    found = seen(workload_undrain.KIND, workload, on=SIN)
    assert [each.code for each in found.obstructions] == ["out_of_bounds"]


def front(cluster: Any, desired: int) -> Any:
    deployment = a_deployment(cluster, desired)
    assert deployment.graph is not None
    more = Component("Router", Role.FRONTEND, 2)
    return replace(deployment, graph=replace(deployment.graph, components=(*deployment.graph.components, more)))


def test_no_replica_left_is_warned_of_with_what_stays() -> None:
    found = seen(workload_pause.KIND, a_workload(front(FRA, 2)))
    assert found.warnings == (
        "on fra-1 2 replicas end: a request that outlasts the grace period of its pod is cut off",
        "serving/llama on fra-1 runs no replica then: Frontend, Router stay, its model leaves /v1/models there, and "
        "callers get 404",
        "no cluster serves llama then",
    )


@pytest.mark.parametrize(
    ("workload", "replicas", "warning"),
    [
        (a_workload(a_deployment(FRA), a_deployment(IAD)), 1, "no other cluster than fra-1 serves llama then"),
        (a_workload(a_deployment(FRA)), 1, "llama has a single replica then: while it is moved or restarted nothing"),
        (a_workload(a_deployment(FRA, is_online=False)), 9, "fra-1 is offline, and follows when it is back"),
        (a_workload(a_deployment(FRA, room=3)), 9, "fra-1 has room for 3 of 7 more: pods may wait for GPUs"),
        (a_workload(a_deployment(FRA, graph=None)), 9, "serving/llama on fra-1 is not there, or does not tell"),
        (
            a_workload(with_rivals(a_deployment(FRA), GITOPS)),
            9,
            "the number of decode of serving/llama on fra-1 will be reverted by GitOps argocd",
        ),
        (
            a_workload(a_deployment(FRA, graph=BARE)),
            0,
            "serving/llama on fra-1 runs no replica then: its model leaves",
        ),
    ],
)
def test_what_may_come_of_it_is_warned_of(workload: Workload, replicas: int, warning: str) -> None:
    found = seen(workload_scale.KIND, workload, replicas=replicas)
    assert [each for each in found.warnings if each.startswith(warning)] != [], found.warnings


def test_a_cluster_whose_number_stays_is_not_warned_of() -> None:
    workload = a_workload(a_deployment(FRA, is_online=False), policy=Policy())
    assert seen(workload_scale.KIND, replace(workload, replicas=2), replicas=2).warnings == ()


def test_a_drain_warns_of_clusters_that_cannot_be_seen_to_take_over() -> None:
    workload = a_workload(a_deployment(FRA), a_deployment(IAD, is_online=False), a_deployment(SIN))
    found = seen(workload_drain.KIND, workload, on=SIN)
    assert found.warnings[0] == "iad-1 is offline: what it serves does not count as taken over, and is waited for"

"""workload.scale: what it refuses, what it changes, and what it says at its end."""

import pytest

from hangar.domain.decision import End, Go
from hangar.domain.operation import Phase
from hangar.domain.workloads.carrying import RolloutMemory
from hangar.domain.workloads.kind import SetReplicas
from hangar.domain.workloads.placement import Bounds, Policy
from hangar.domain.workloads.workload import Workload
from hangar.kinds.workload_scale import KIND, ScaleParams, decide, refuse, touches
from tests.domain.building import NOON, OP
from tests.domain.workloads.building import (
    FRA,
    HPA,
    IAD,
    SIN,
    a_deployment,
    a_job,
    a_workload,
    after,
    numbers,
    with_rivals,
)

DRAINED = a_deployment(SIN, 0, drained_by=OP)


@pytest.mark.parametrize(
    ("replicas", "workload", "code"),
    [
        (9, a_workload(), None),
        (0, a_workload(), None),
        (9, a_workload(is_paused=True), "workload_paused"),
        (0, a_workload(is_paused=True), "workload_paused"),
        (1, a_workload(DRAINED), "out_of_bounds"),
        (0, a_workload(DRAINED), None),
        (9, a_workload(policy=Policy(default_bounds=Bounds(1, 2))), "out_of_bounds"),
        (0, a_workload(policy=Policy(default_bounds=Bounds(1, 2))), None),
    ],
)
def test_what_it_refuses(replicas: int, workload: Workload, code: str | None) -> None:
    fail = refuse(ScaleParams(replicas=replicas), workload, None)
    assert (None if fail is None else fail.code) == code


def test_it_begins_with_the_number_and_waits_until_it_is_written() -> None:
    job = a_job(ScaleParams(replicas=9), RolloutMemory())
    decided = decide(job, a_workload(), NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.changes == (SetReplicas(9),)
    made = after(a_workload(), *decided.changes)
    assert numbers(made) == [3, 3, 3]
    waits = decide(a_job(ScaleParams(replicas=9), decided.outcome.memory), made, NOON)
    assert isinstance(waits.outcome, Go)
    assert len(waits.outcome.blockers) == 3


def test_it_ends_with_what_the_number_means() -> None:
    job = a_job(ScaleParams(replicas=6), RolloutMemory(is_made=True))
    decided = decide(job, a_workload(a_deployment(FRA, 3), a_deployment(IAD, 3), DRAINED), NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.phase, decided.outcome.message) == (Phase.SUCCEEDED, "scaled to 6: 3 + 3 = 6, divided")


def test_what_has_become_impossible_meanwhile_fails_and_changes_nothing() -> None:
    decided = decide(a_job(ScaleParams(replicas=9), RolloutMemory()), a_workload(is_paused=True), NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.phase, decided.outcome.code, decided.changes) == (Phase.FAILED, "workload_paused", ())
    assert decided.outcome.message.endswith("; nothing was changed")


def test_it_needs_the_leave_of_all_clusters_that_are_not_drained() -> None:
    assert touches(a_workload(a_deployment(FRA), DRAINED), None) == (FRA,)


def test_the_kind_is_what_the_contract_says() -> None:
    assert (KIND.name, KIND.needs, KIND.runs_in, KIND.is_per_cluster) == ("workload.scale", "scale", "hub", False)


def test_a_number_that_somebody_else_writes_is_refused_unless_that_is_overridden() -> None:
    workload = a_workload(with_rivals(a_deployment(FRA), HPA))
    fail = refuse(ScaleParams(replicas=9), workload, None)
    assert fail is not None
    assert fail.code == "rival_owner"
    assert refuse(ScaleParams(replicas=9, override=True), workload, None) is None

"""workload.resume: what was paused runs again with the number that it had."""

from dataclasses import replace

from hangar.domain.decision import End, Go
from hangar.domain.operation import Phase
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams
from hangar.domain.workloads.kind import SetPaused
from hangar.domain.workloads.placement import Bounds, Policy
from hangar.kinds.workload_resume import KIND, decide, refuse, touches
from tests.domain.building import NOON, OP
from tests.domain.workloads.building import (
    CLUSTERS,
    FRA,
    HPA,
    SIN,
    a_deployment,
    a_job,
    a_workload,
    after,
    numbers,
    with_rivals,
)

PARAMS = RolloutParams()
RESTING = a_workload(*(a_deployment(each, 0) for each in CLUSTERS), is_paused=True)


def test_it_places_the_number_by_todays_policy() -> None:
    weighed = replace(RESTING, policy=Policy(weights={FRA: 4}))
    decided = decide(a_job(PARAMS, RolloutMemory()), weighed, NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.changes == (SetPaused(on=False),)
    assert numbers(after(weighed, *decided.changes)) == [4, 1, 1]


def test_it_ends_when_that_is_written() -> None:
    decided = decide(a_job(PARAMS, RolloutMemory(is_made=True)), a_workload(), NOON)
    assert isinstance(decided.outcome, End)
    assert decided.outcome.message == "resumed: 2 + 2 + 2 = 6, divided"


def test_what_runs_is_left_as_it_is_and_says_so() -> None:
    decided = decide(a_job(PARAMS, RolloutMemory()), a_workload(), NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.phase, decided.changes) == (Phase.SUCCEEDED, ())
    assert decided.outcome.message == "was not paused: 2 + 2 + 2 = 6, divided"


def test_what_a_cancelled_scale_holds_is_left_where_it_is() -> None:
    held = a_workload(a_deployment(FRA, 1, held=1), a_deployment(SIN, 2, held=2), replicas=600)
    assert decide(a_job(PARAMS, RolloutMemory()), held, NOON).changes == ()


def test_what_a_cancelled_resume_left_resting_is_started() -> None:
    half = a_workload(a_deployment(FRA, 0, held=0), a_deployment(SIN, 3, held=3))
    decided = decide(a_job(PARAMS, RolloutMemory()), half, NOON)
    assert isinstance(decided.outcome, Go)
    assert numbers(after(half, *decided.changes)) == [3, 3]


def test_a_number_without_a_place_is_refused_and_fails_if_it_lost_it_meanwhile() -> None:
    tight = replace(RESTING, policy=Policy(default_bounds=Bounds(0, 1)))
    fail = refuse(PARAMS, tight, None)
    assert fail is not None
    assert fail.code == "out_of_bounds"
    decided = decide(a_job(PARAMS, RolloutMemory()), tight, NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.phase, decided.outcome.code, decided.changes) == (Phase.FAILED, "out_of_bounds", ())


def test_the_kind_is_what_the_contract_says() -> None:
    assert (KIND.name, KIND.needs, KIND.is_per_cluster) == ("workload.resume", "scale", False)
    assert touches(a_workload(a_deployment(FRA), a_deployment(SIN, drained_by=OP)), None) == (FRA,)


def test_a_number_that_somebody_else_writes_is_refused_unless_that_is_overridden() -> None:
    workload = a_workload(with_rivals(a_deployment(FRA, 0), HPA), is_paused=True)
    fail = refuse(RolloutParams(), workload, None)
    assert fail is not None
    assert fail.code == "rival_owner"
    assert refuse(RolloutParams(override=True), workload, None) is None

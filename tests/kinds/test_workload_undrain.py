"""workload.undrain: a drained cluster counts again."""

import pytest

from hangar.domain.decision import End, Go
from hangar.domain.operation import Phase
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams
from hangar.domain.workloads.kind import TakeIn
from hangar.kinds.workload_undrain import KIND, decide, refuse, touches
from tests.domain.building import NOON, OP
from tests.domain.workloads.building import (
    CLUSTERS,
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

PARAMS = RolloutParams()
DRAINED = a_workload(a_deployment(FRA, 3), a_deployment(IAD, 3), a_deployment(SIN, 0, drained_by=OP))


def test_the_cluster_gets_its_share_again() -> None:
    decided = decide(a_job(PARAMS, RolloutMemory(), cluster=SIN), DRAINED, NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.changes == (TakeIn(SIN),)
    assert numbers(after(DRAINED, *decided.changes)) == [2, 2, 2]


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (RolloutMemory(is_made=True), "sin-1 counts again: 2 + 2 + 2 = 6, divided"),
        (RolloutMemory(), "sin-1 was not drained: 2 + 2 + 2 = 6, divided"),
    ],
)
def test_it_ends_when_that_is_written_and_says_what_it_was(memory: RolloutMemory, message: str) -> None:
    decided = decide(a_job(PARAMS, memory, cluster=SIN), a_workload(), NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.phase, decided.outcome.message, decided.changes) == (Phase.SUCCEEDED, message, ())


def test_a_cluster_without_a_deployment_is_refused_with_those_that_have_one() -> None:
    assert refuse(PARAMS, DRAINED, SIN) is None
    fail = refuse(PARAMS, a_workload(a_deployment(FRA), a_deployment(IAD)), SIN)
    assert fail is not None
    assert fail.message == "llama has no deployment on sin-1; it has one on: fra-1, iad-1"


def test_the_kind_is_what_the_contract_says() -> None:
    assert (KIND.name, KIND.needs, KIND.is_per_cluster) == ("workload.undrain", "scale", True)
    assert touches(DRAINED, SIN) == CLUSTERS


def test_a_number_that_somebody_else_writes_is_refused_unless_that_is_overridden() -> None:
    drained = a_deployment(SIN, 0, drained_by=OP)
    workload = a_workload(with_rivals(a_deployment(FRA, 6), HPA), drained)
    fail = refuse(PARAMS, workload, SIN)
    assert fail is not None
    assert fail.code == "rival_owner"
    assert refuse(RolloutParams(override=True), workload, SIN) is None
    decided = decide(a_job(PARAMS, RolloutMemory(), cluster=SIN), workload, NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.code, decided.changes) == ("rival_owner", ())
    quiet = a_workload(with_rivals(a_deployment(FRA, 6), HPA))
    assert refuse(PARAMS, quiet, FRA) is None, "what is not drained changes nothing"

"""workload.pause: no replicas anywhere, and the number is kept."""

from dataclasses import replace

from hangar.domain.decision import End, Go
from hangar.domain.limits import RIVAL_WATCH_S
from hangar.domain.operation import Phase
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams
from hangar.domain.workloads.kind import SetPaused
from hangar.kinds.workload_pause import KIND, decide, refuse, touches
from tests.domain.building import NOON, at
from tests.domain.workloads.building import (
    CLUSTERS,
    FRA,
    HPA,
    a_deployment,
    a_job,
    a_workload,
    after,
    numbers,
    with_rivals,
)

PARAMS = RolloutParams()
RESTING = a_workload(*(a_deployment(each, 0) for each in CLUSTERS), is_paused=True)


def test_it_lets_every_cluster_run_none_and_keeps_the_number() -> None:
    decided = decide(a_job(PARAMS, RolloutMemory()), a_workload(), NOON)
    assert isinstance(decided.outcome, Go)
    assert decided.changes == (SetPaused(on=True),)
    paused = after(a_workload(), *decided.changes)
    assert (numbers(paused), paused.replicas) == ([0, 0, 0], 6)


def test_it_ends_when_that_is_written() -> None:
    decided = decide(a_job(PARAMS, RolloutMemory(is_made=True)), RESTING, NOON)
    assert isinstance(decided.outcome, End)
    assert decided.outcome.message == "paused; `resume` places its 6 replicas again"


def test_what_is_paused_already_is_left_as_it_is_and_says_so() -> None:
    """C83."""
    assert refuse(PARAMS, RESTING, None) is None
    decided = decide(a_job(PARAMS, RolloutMemory()), RESTING, NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.phase, decided.changes) == (Phase.SUCCEEDED, ())
    assert decided.outcome.message == "already paused; `resume` places its 6 replicas again"


def test_what_a_cancelled_pause_left_running_is_paused() -> None:
    half = replace(RESTING, deployments=(a_deployment(FRA, held=2), *RESTING.deployments[1:]))
    decided = decide(a_job(PARAMS, RolloutMemory()), half, NOON)
    assert isinstance(decided.outcome, Go)
    assert numbers(after(half, *decided.changes)) == [0, 0, 0]


def test_a_pause_that_an_autoscaler_would_undo_is_refused_and_says_why() -> None:
    """C82: an autoscaler scales back up what is at 0, and Wingsmith does not edit it."""
    workload = a_workload(with_rivals(a_deployment(FRA), HPA))
    fail = refuse(PARAMS, workload, None)
    assert fail is not None
    assert (fail.code, fail.message) == (
        "rival_owner",
        "HorizontalPodAutoscaler llama writes the number of decode of serving/llama on fra-1, and may scale it back up "
        "to its minReplicas: remove it, or go on with an operation that has `override` and a reason "
        "(`--override --reason TEXT`)",
    )
    decided = decide(a_job(PARAMS, RolloutMemory()), workload, NOON)
    assert isinstance(decided.outcome, End)
    assert (decided.outcome.phase, decided.outcome.code, decided.changes) == (Phase.FAILED, "rival_owner", ())


def test_an_override_pauses_all_the_same_and_the_result_warns() -> None:
    params = RolloutParams(override=True)
    workload = a_workload(with_rivals(a_deployment(FRA), HPA))
    assert refuse(params, workload, None) is None
    assert decide(a_job(params, RolloutMemory()), workload, NOON).changes == (SetPaused(on=True),)
    done = replace(workload, deployments=(with_rivals(a_deployment(FRA, 0), HPA),), is_paused=True)
    decided = decide(a_job(params, RolloutMemory(is_made=True, stands_since=NOON)), done, at(RIVAL_WATCH_S))
    assert isinstance(decided.outcome, End)
    assert decided.outcome.details["warnings"] == [
        "the number of decode of serving/llama on fra-1 may be changed again by HorizontalPodAutoscaler llama"
    ]


def test_pausing_what_is_paused_asks_nobody() -> None:
    assert refuse(PARAMS, replace(RESTING, deployments=(with_rivals(RESTING.deployments[0], HPA),)), None) is None


def test_the_kind_is_what_the_contract_says() -> None:
    assert (KIND.name, KIND.needs, KIND.is_per_cluster) == ("workload.pause", "scale", False)
    assert touches(a_workload(), None) == CLUSTERS

"""A change is made once, then waited for: until it is there, cancelled, or out of time."""

from dataclasses import replace

import pytest

from hangar.domain.decision import End, Fail, Go
from hangar.domain.limits import NODE_DEADLINE_DEFAULT_S, READY_DEADLINE_DEFAULT_S
from hangar.domain.operation import Phase
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams, begin, deadline_s, follow, refused
from hangar.domain.workloads.kind import Change, Decided, Hold, SetReplicas, WorkloadJob
from hangar.domain.workloads.workload import Workload
from tests.domain.building import NOON, at
from tests.domain.workloads.building import FRA, IAD, SIN, a_deployment, a_graph, a_job, a_workload

MADE = RolloutMemory(is_made=True, before={"fra-1": 2, "iad-1": 1, "sin-1": 1})


def job(
    params: RolloutParams | None = None, *, is_cancelled: bool = False
) -> WorkloadJob[RolloutParams, RolloutMemory]:
    return a_job(params or RolloutParams(), MADE, is_cancelled=is_cancelled)


def over(decided: Decided[RolloutMemory]) -> tuple[Phase, str, str, tuple[Change, ...]]:
    assert isinstance(decided.outcome, End)
    return decided.outcome.phase, decided.outcome.code, decided.outcome.message, decided.changes


def half_written() -> Workload:
    return a_workload(a_deployment(FRA), a_deployment(IAD, is_written=False), a_deployment(SIN, is_written=False))


@pytest.mark.parametrize(
    ("params", "seconds"),
    [
        (RolloutParams(), NODE_DEADLINE_DEFAULT_S),
        (RolloutParams(until="ready"), READY_DEADLINE_DEFAULT_S),
        (RolloutParams(until="ready", deadline_s=5), 5),
    ],
)
def test_how_long_it_may_take_depends_on_what_is_waited_for(params: RolloutParams, seconds: int) -> None:
    assert deadline_s(params) == seconds


def test_it_begins_with_its_change_and_remembers_what_was_wanted_before() -> None:
    decided = begin(a_job(RolloutParams(), RolloutMemory()), a_workload(), SetReplicas(9))
    assert isinstance(decided.outcome, Go)
    assert decided.outcome.memory == RolloutMemory(is_made=True, before={"fra-1": 2, "iad-1": 2, "sin-1": 2})
    assert decided.outcome.recheck_at == at(60)
    assert decided.changes == (SetReplicas(9),)


def test_it_waits_for_every_connected_cluster_by_name() -> None:
    decided = follow(job(), half_written(), NOON, what="scaled")
    assert isinstance(decided.outcome, Go)
    assert decided.changes == ()
    assert [each.subject for each in decided.outcome.blockers] == ["iad-1/serving/llama", "sin-1/serving/llama"]
    assert (decided.outcome.progress.done, decided.outcome.progress.total) == (1, 3)


def test_it_is_over_when_all_connected_clusters_have_it_even_if_it_was_cancelled_or_late() -> None:
    workload = replace(half_written(), deployments=(a_deployment(FRA), a_deployment(SIN, is_online=False)))
    for each in (job(), job(is_cancelled=True)):
        decided = follow(each, workload, at(60), what="scaled")
        assert over(decided) == (Phase.SUCCEEDED, "applied", "scaled; sin-1 is offline and will follow", ())
        assert isinstance(decided.outcome, End)
        assert decided.outcome.details["offline"] == ["sin-1"]


def test_until_ready_waits_on() -> None:
    workload = a_workload(a_deployment(FRA, ready=1))
    assert over(follow(job(), workload, NOON, what="scaled"))[0] is Phase.SUCCEEDED
    waiting = follow(job(RolloutParams(until="ready")), workload, NOON, what="scaled")
    assert isinstance(waiting.outcome, Go)
    assert [each.code for each in waiting.outcome.blockers] == ["not_ready"]


def test_at_its_deadline_it_fails_and_what_is_wanted_stays() -> None:
    assert isinstance(follow(job(), half_written(), at(59.9), what="scaled").outcome, Go)
    phase, code, message, changes = over(follow(job(), half_written(), at(60), what="scaled"))
    assert (phase, code, changes) == (Phase.FAILED, "deadline_exceeded", ())
    assert message == (
        "written on 1 of 3 clusters; not written in time: "
        "iad-1/serving/llama is to have 2 replicas, and its operator has not written that yet; "
        "sin-1/serving/llama is to have 2 replicas, and its operator has not written that yet. "
        "What is wanted stays, and is written later"
    )


def test_a_cancel_takes_back_what_no_cluster_has_written() -> None:
    phase, code, message, changes = over(follow(job(is_cancelled=True), half_written(), NOON, what="scaled"))
    assert (phase, code) == (Phase.CANCELLED, "cancelled")
    assert changes == (Hold(IAD, 1), Hold(SIN, 1))
    assert message == "cancelled: withdrawn: iad-1 stays at 1, sin-1 stays at 1; written: fra-1 at 2"


def test_a_cancel_leaves_what_somebody_else_has_changed_and_what_was_not_to_change() -> None:
    drifted = a_deployment(IAD, graph=a_graph(5, rev=7))
    same = a_deployment(FRA, is_written=False)
    _, _, message, changes = over(follow(job(is_cancelled=True), a_workload(same, drifted), NOON, what="scaled"))
    assert changes == ()
    assert message == "cancelled: withdrawn: nothing; written: fra-1 at 2, iad-1 at 2"


def test_what_cannot_be_carried_out_ends_without_a_change() -> None:
    decided = refused(job(), Fail("out_of_bounds", "too many"))
    assert over(decided) == (Phase.FAILED, "out_of_bounds", "too many; nothing was changed", ())

"""A change is made once, then waited for: until it is there, cancelled, or out of time."""

from dataclasses import replace
from typing import Any

import pytest

from hangar.domain.decision import End, Fail, Go
from hangar.domain.limits import NODE_DEADLINE_DEFAULT_S, READY_DEADLINE_DEFAULT_S, RIVAL_WATCH_S
from hangar.domain.operation import Phase
from hangar.domain.workloads.carrying import RolloutMemory, RolloutParams, begin, deadline_s, follow, refused
from hangar.domain.workloads.kind import Change, Decided, Hold, SetReplicas, WorkloadJob
from hangar.domain.workloads.workload import Workload
from tests.domain.building import NOON, at
from tests.domain.workloads.building import FRA, HPA, IAD, SIN, a_deployment, a_graph, a_job, a_workload, with_rivals

MADE = RolloutMemory(
    is_made=True, before={"fra-1": 2, "iad-1": 1, "sin-1": 1}, revs={"fra-1": 6, "iad-1": 6, "sin-1": 6}
)


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
    assert decided.outcome.memory == RolloutMemory(
        is_made=True,
        before={"fra-1": 2, "iad-1": 2, "sin-1": 2},
        revs={"fra-1": 7, "iad-1": 7, "sin-1": 7},
    )
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
        "written on 1 of 3 clusters; not written in time: iad-1/serving/llama is to have 2 replicas, and its "
        "operator has not written that yet; sin-1/serving/llama is to have 2 replicas, and its operator has not "
        "written that yet. "
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


# --- what somebody changes back ---------------------------------------------------------------------------------------

BACK = a_deployment(IAD, graph=a_graph(1, rev=7, by="kubectl-edit"))


def test_what_was_changed_back_ends_it_once_all_else_is_done_and_says_by_whom() -> None:
    decided = follow(job(), a_workload(a_deployment(FRA), BACK), NOON, what="scaled")
    phase, code, message, changes = over(decided)
    assert (phase, code, changes) == (Phase.FAILED, "reverted", ())
    assert message == (
        "written on 1 of 2 clusters; changed back: iad-1/serving/llama: kubectl-edit has set decode to 1 instead of 2. "
        "What is wanted stays, and is not written again by itself"
    )


def test_while_another_cluster_is_waited_for_a_change_back_is_only_a_blocker() -> None:
    late = a_deployment(SIN, is_written=False)
    decided = follow(job(), a_workload(BACK, late), NOON, what="scaled")
    assert isinstance(decided.outcome, Go)
    assert [each.code for each in decided.outcome.blockers] == ["drifted", "not_written"]


def test_what_this_operation_did_not_write_is_waited_for_when_somebody_changes_it() -> None:
    memory = replace(MADE, revs=MADE.revs | {"iad-1": 7})
    decided = follow(replace(job(), memory=memory), a_workload(BACK), NOON, what="scaled")
    assert isinstance(decided.outcome, Go)
    idle = follow(replace(job(), memory=RolloutMemory()), a_workload(BACK), NOON, what="already scaled")
    assert isinstance(idle.outcome, Go)


def against_a_rival(**fields: Any) -> Workload:
    return a_workload(with_rivals(a_deployment(FRA, **fields), HPA))


def test_what_a_rival_may_put_back_has_to_stand_for_a_while_before_it_is_done() -> None:
    first = follow(job(), against_a_rival(), NOON, what="scaled").outcome
    assert isinstance(first, Go)
    assert first.memory == replace(MADE, stands_since=NOON)
    assert [(each.code, each.facts["rival"]) for each in first.blockers] == [
        ("rival_watched", "HorizontalPodAutoscaler llama")
    ]
    assert first.recheck_at == at(RIVAL_WATCH_S)
    waiting = replace(job(), memory=first.memory)
    assert isinstance(follow(waiting, against_a_rival(), at(RIVAL_WATCH_S - 0.1), what="scaled").outcome, Go)
    decided = follow(waiting, against_a_rival(), at(RIVAL_WATCH_S), what="scaled")
    assert over(decided)[:3] == (Phase.SUCCEEDED, "applied", "scaled")


def test_what_a_rival_puts_back_meanwhile_fails_and_what_is_written_anew_stands_anew() -> None:
    waiting = replace(job(), memory=replace(MADE, stands_since=NOON))
    put_back = against_a_rival(graph=a_graph(5, rev=7))
    assert over(follow(waiting, put_back, at(5), what="scaled"))[:2] == (Phase.FAILED, "reverted")
    again = follow(waiting, against_a_rival(is_written=False), at(5), what="scaled").outcome
    assert isinstance(again, Go)
    assert again.memory == MADE


def test_a_rival_is_not_watched_where_nothing_was_written_nor_beyond_the_deadline_nor_a_cancel() -> None:
    untouched = replace(job(), memory=replace(MADE, revs={"fra-1": 7}))
    assert over(follow(untouched, against_a_rival(), NOON, what="scaled"))[0] is Phase.SUCCEEDED
    nothing_made = replace(job(), memory=RolloutMemory())
    assert over(follow(nothing_made, against_a_rival(), NOON, what="was so"))[0] is Phase.SUCCEEDED
    assert over(follow(job(), against_a_rival(), at(60), what="scaled"))[0] is Phase.SUCCEEDED
    hurried = follow(replace(job(), deadline_at=at(5)), against_a_rival(), NOON, what="scaled").outcome
    assert isinstance(hurried, Go)
    assert hurried.recheck_at == at(5)
    assert over(follow(job(is_cancelled=True), against_a_rival(), NOON, what="scaled"))[0] is Phase.SUCCEEDED

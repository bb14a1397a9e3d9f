"""One turn: oldest first, each on what those before it have spent, and what counts as under way."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from hangar.domain.budgets import explain, may_evict
from hangar.domain.decision import Accepted, Answer, Answered, BudgetFull, Evict, Go, Progress, Unknown, Withheld
from hangar.domain.ids import OperationId, PodUid
from hangar.domain.kind import Job
from hangar.domain.limits import HELD_MAX_S, LANDING_MAX_S
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import Claims, ClusterSettings, StepKey, View, key_of
from hangar.operator.pace import Pace
from hangar.operator.turn import Decision, OpenJob, turn, view_of
from tests.domain.building import (
    CHAT,
    LLAMA,
    NOON,
    OP,
    OTHER_OP,
    a_budget,
    a_job,
    a_node,
    a_pod,
    a_ref,
    a_snapshot,
    a_view,
    at,
    draining,
    terminating,
    uids,
)
from tests.operator.scripted import EVICT_A, Decide, Memory, Params, Script, ending, going

KEY_A = key_of(OP, EVICT_A)
NO_SETTINGS = ClusterSettings()


def open_job(says: Decide, operation: OperationId = OP, holds: Claims | None = None) -> OpenJob:
    script = Script(says, holds or Claims())
    kind: Any = script.kind()
    return OpenJob(kind, a_job(Params(), Memory(), operation))


def decided(view: View, *jobs: OpenJob) -> dict[OperationId, Decision]:
    return dict(turn(jobs, view, NOON)[0])


# --- the fold ---------------------------------------------------------------------------------------------------------


def test_the_oldest_is_decided_first_whatever_the_order() -> None:
    jobs = [open_job(going(0), OTHER_OP), open_job(going(0), OP)]
    assert [operation for operation, _ in turn(jobs, a_view(), NOON)[0]] == [OP, OTHER_OP]


def evicting(job: Job[Params, Memory], view: View, now: datetime) -> Go[Memory]:
    """Evict the pod named like the operation's last letter, if its budget lets it go."""
    pod = view.snapshot.pods[PodUid(job.id[-1])]
    held = may_evict(pod, view)
    steps = () if held is not None else (Evict(pod.ref),)
    waits = () if held is None else (explain(held, [pod], view),)
    return Go(job.memory, Progress(0, 1, "pods", "evicting"), steps, waits)


def test_two_operations_never_spend_one_budget_twice() -> None:
    view = a_view(a_pod("1"), a_pod("2"), a_pod("3"), a_budget(healthy=3, needs=2))
    first, second = decided(view, open_job(evicting, OTHER_OP), open_job(evicting, OP)).values()
    assert isinstance(first, Go)
    assert isinstance(second, Go)
    assert first.steps == (Evict(a_ref("1")),)
    assert second.steps == ()
    assert [each.facts["has"] for each in second.blockers] == [2]


def test_an_end_is_held_back_while_its_own_calls_are_unanswered() -> None:
    view = a_view(in_flight=frozenset({KEY_A}))
    mine, other = decided(view, open_job(ending(), OP), open_job(ending(), OTHER_OP)).values()
    assert isinstance(mine, Go)
    assert [each.facts["steps"] for each in mine.progress.blockers] == [1]
    assert not isinstance(other, Go)


def test_a_decision_that_asks_to_look_again_in_the_past_is_a_fault() -> None:
    def busy(job: Job[Params, Memory], view: View, now: datetime) -> Go[Memory]:
        return Go(job.memory, Progress(0, 1, "pods", "busy"), recheck_at=now)

    with pytest.raises(ValueError, match="a busy loop"):
        turn([open_job(busy)], a_view(), NOON)


# --- what is under way ------------------------------------------------------------------------------------------------


def seen(
    snapshot: Snapshot,
    *,
    sent: Mapping[str, datetime] | None = None,
    in_flight: frozenset[StepKey] = frozenset(),
    answers: Mapping[StepKey, Answered] | None = None,
    accepted: Mapping[str, datetime] | None = None,
    seconds: float = 0,
) -> View:
    claims = Claims(None, {}, {PodUid(name): when for name, when in (sent or {}).items()})
    jobs = [open_job(going(0), OP, claims)]
    recently = {PodUid(name): when for name, when in (accepted or {}).items()}
    return view_of(snapshot, jobs, in_flight, answers or {}, recently, Pace(), NO_SETTINGS, at(seconds), {})


THERE = a_snapshot(a_pod("a"))


def test_a_view_carries_what_open_operations_hold() -> None:
    claims = draining("n1")[OperationId("op_01")]
    view = view_of(
        a_snapshot(a_node()),
        [open_job(going(0), OP, claims)],
        frozenset(),
        {},
        {},
        Pace(),
        NO_SETTINGS,
        NOON,
        {LLAMA: CHAT},
    )
    assert view.claims == {OP: claims}
    assert view.workloads == {LLAMA: CHAT}
    assert view.draining_nodes() == {"n1"}
    assert view.leaving == frozenset()


def test_what_is_sent_and_unanswered_is_leaving_however_long_it_takes() -> None:
    assert seen(THERE, in_flight=frozenset({KEY_A}), sent={"a": NOON}, seconds=3600).leaving == uids("a")
    cordon = frozenset({StepKey(OP, KEY_A.step.CORDON, "n1-uid")})
    assert seen(THERE, in_flight=cordon).leaving == frozenset()


@pytest.mark.parametrize(
    ("answer", "lands_s"),
    [
        (None, HELD_MAX_S + LANDING_MAX_S),
        (Answered(BudgetFull("of an earlier try"), at(-1)), HELD_MAX_S + LANDING_MAX_S),
        (Answered(Unknown("timed out"), at(8)), 8 + LANDING_MAX_S),
        (Answered(Accepted(), at(2)), 2 + LANDING_MAX_S),
    ],
    ids=["after a crash", "answered before", "unknown", "accepted"],
)
def test_what_may_have_been_sent_is_leaving_for_as_long_as_it_may_land(answer: Answered | None, lands_s: float) -> None:
    answers = {KEY_A: answer} if answer is not None else {}
    for seconds, leaving in ((lands_s - 0.001, uids("a")), (lands_s, frozenset())):
        assert seen(THERE, sent={"a": NOON}, answers=answers, seconds=seconds).leaving == leaving


@pytest.mark.parametrize("answer", [BudgetFull("full"), Withheld("cancelled")], ids=repr)
def test_what_was_refused_is_not_leaving(answer: Answer) -> None:
    assert seen(THERE, sent={"a": NOON}, answers={KEY_A: Answered(answer, at(1))}, seconds=1).leaving == frozenset()


@pytest.mark.parametrize("shown", [a_snapshot(), a_snapshot(terminating("a"))], ids=["gone", "terminating"])
def test_what_is_seen_to_go_is_not_counted_beside_the_snapshot(shown: Snapshot) -> None:
    assert seen(shown, sent={"a": NOON}, accepted={"a": NOON}).leaving == frozenset()


def test_what_an_operation_that_is_over_evicted_is_leaving_until_it_is_seen() -> None:
    assert seen(THERE, accepted={"a": NOON}).leaving == uids("a")
    later = (at(LANDING_MAX_S) - NOON) / timedelta(seconds=1)
    assert seen(THERE, accepted={"a": NOON}, seconds=later).leaving == frozenset()

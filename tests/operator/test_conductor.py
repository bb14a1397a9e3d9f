"""The conductor: memory before act, each end said once, and nothing after a cancel."""

from datetime import timedelta
from typing import Any

import pytest

from hangar.domain.decision import Accepted, Answer, Answered, Busy, Unknown
from hangar.domain.ids import NodeName, NodeUid, PodUid
from hangar.domain.limits import HELD_MAX_S, LANDING_MAX_S, PROGRESS_INTERVAL_S
from hangar.domain.operation import Phase
from hangar.domain.view import Claims, key_of
from hangar.wire.operator import Ack
from tests.domain.building import NOON, OP, OTHER_OP, a_pod, a_snapshot, at, terminating, uids
from tests.operator.scripted import EVICT_A, EVICT_B, Memory, Params, Script, Stage, a_doc, ending, going

KEY_A = key_of(OP, EVICT_A)


def begun(*, phase: str = "pending") -> Stage:
    """Return a stage on which OP has claimed and wants nothing."""
    stage = Stage()
    stage.hear(a_doc(phase=phase))
    stage.turn()
    stage.ack()
    return stage


def on_its_way() -> Stage:
    """Return a stage on which OP has sent the eviction of a, and it is not answered yet."""
    stage = begun()
    stage.script.says = going(1, EVICT_A)
    stage.turn(1)
    assert stage.ack() == ((OP, EVICT_A),)
    stage.script.says = going(1)
    return stage


# --- first sight ------------------------------------------------------------------------------------------------------


def test_a_pending_operation_is_claimed_before_its_first_step_leaves() -> None:
    stage = Stage(Script(going(0, EVICT_A)))
    stage.hear(a_doc())
    assert stage.turn().steps == ()
    assert (stage.report().n, stage.report().phase, stage.report().memory) == (1, "running", {"step": 0})
    assert stage.ack() == ((OP, EVICT_A),)


def test_an_operation_is_decided_as_the_hub_tells_of_it() -> None:
    stage = Stage()
    stage.hear(a_doc(params={"deadline_s": 9}, memory={"step": 7}, reason="firmware", remaining_s=5.0))
    stage.turn()
    ((job, _),) = stage.script.asked
    assert (job.id, job.target, job.target_uid) == (OP, NodeName("n1"), NodeUid("n1-uid"))
    assert (job.params, job.memory, job.actor, job.reason) == (Params(9), Memory(7), "alice", "firmware")
    assert job.deadline_at == at(5)


def test_a_deadline_counts_from_the_start_and_follows_what_the_hub_says() -> None:
    stage = Stage()
    stage.hear(a_doc(deadline_s=60.0))
    stage.turn()
    assert stage.script.asked[-1][0].deadline_at == at(60)
    stage.ack()
    stage.now = at(10)
    stage.hear(a_doc(phase="running", remaining_s=57.5))
    stage.turn()
    assert stage.script.asked[-1][0].deadline_at == at(67.5)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"type": "node.reboot"}, "unsupported_kind"),
        ({"kind_version": 2}, "unsupported_kind"),
        ({"params": {"deadline_s": "soon"}}, "unsupported_kind"),
        ({"memory": {"step": "one"}}, "unsupported_kind"),
    ],
    ids=["kind", "version", "params", "memory"],
)
def test_what_it_does_not_understand_it_refuses_and_goes_on_with_the_others(fields: dict[str, Any], code: str) -> None:
    stage = Stage()
    stage.hear(a_doc(report_n=4, **fields), a_doc(OTHER_OP))
    stage.turn()
    refusal, other = sorted(stage.conductor.outbox(), key=lambda report: report.id)
    assert (refusal.id, refusal.n, refusal.phase) == (OP, 5, "failed")
    assert refusal.result is not None
    assert refusal.result.code == code
    assert (other.id, other.phase) == (OTHER_OP, "running")


def test_what_its_cluster_does_not_allow_it_refuses_naming_what_is_missing() -> None:
    stage = Stage(allowed=frozenset({"cordon"}))
    stage.hear(a_doc())
    assert stage.turn().steps == ()
    result = stage.report().result
    assert result is not None
    assert result.code == "operation_not_allowed"
    assert "'drain' is missing in cluster.allowedOperations" in result.message


def test_a_refusal_is_sent_until_it_is_heard_and_is_the_last_word() -> None:
    stage = Stage(allowed=frozenset())
    stage.hear(a_doc())
    stage.hear(a_doc())
    assert [report.phase for report in stage.conductor.outbox()] == ["failed"]
    stage.ack()
    stage.hear(a_doc())
    assert stage.conductor.outbox() == []


# --- memory before act ------------------------------------------------------------------------------------------------


def test_steps_whose_decision_changed_the_memory_wait_for_its_acknowledgement() -> None:
    stage = begun()
    stage.script.says = going(1, EVICT_A, EVICT_B)
    assert stage.turn(1).steps == ()
    assert stage.report().memory == {"step": 1}
    assert stage.ack() == ((OP, EVICT_A), (OP, EVICT_B))
    assert stage.conductor.outbox() == []


def test_steps_whose_decision_changed_nothing_leave_at_once() -> None:
    stage = begun()
    stage.script.says = going(0, EVICT_A)
    assert stage.turn(1).steps == ((OP, EVICT_A),)


def test_nothing_new_is_decided_while_a_report_is_not_acknowledged() -> None:
    stage = begun()
    stage.script.says = going(1, EVICT_A)
    stage.turn(1)
    asked = len(stage.script.asked)
    assert stage.turn(2).steps == ()
    assert len(stage.script.asked) == asked
    assert stage.report().n == 2


@pytest.mark.parametrize("n", [1, 3], ids=["older", "newer"])
def test_an_acknowledgement_of_another_report_lets_nothing_go(n: int) -> None:
    stage = begun()
    stage.script.says = going(1, EVICT_A)
    stage.turn(1)
    assert stage.conductor.acked([Ack(id=OP, n=n, outcome="stored")]) == ()
    assert stage.ack() == ((OP, EVICT_A),)


def test_a_report_that_was_stored_before_lets_its_steps_go_too() -> None:
    stage = begun()
    stage.script.says = going(1, EVICT_A)
    stage.turn(1)
    assert stage.ack("duplicate") == ((OP, EVICT_A),)


def test_held_steps_count_as_under_way() -> None:
    stage = begun()
    stage.snapshot = a_snapshot(a_pod("a"))
    stage.hear(a_doc(phase="running"), a_doc(OTHER_OP))
    stage.script.says = lambda job, view, now: (going(1, EVICT_A) if job.id == OP else going(0))(job, view, now)
    stage.turn(1)
    stage.conductor.acked([Ack(id=OTHER_OP, n=1, outcome="stored")])
    stage.turn(2)
    job, view = stage.script.asked[-1]
    assert job.id == OTHER_OP
    assert view.leaving == uids("a")
    assert view.in_flight == {KEY_A}


def test_numbers_go_on_where_an_earlier_session_stopped() -> None:
    stage = Stage()
    stage.hear(a_doc(phase="running", report_n=7))
    stage.turn()
    assert stage.report().n == 8


# --- the gate ---------------------------------------------------------------------------------------------------------


def test_a_step_may_leave_while_its_operation_is_open_and_the_decision_fresh() -> None:
    stage = on_its_way()
    assert stage.withheld(EVICT_A) is None
    stage.now = at(1 + HELD_MAX_S)
    assert stage.withheld(EVICT_A) is None


def test_a_step_that_was_decided_long_ago_does_not_leave() -> None:
    """The hub was away: what it acknowledges now was decided on a cluster of back then."""
    stage = on_its_way()
    stage.now = at(1 + HELD_MAX_S) + timedelta(milliseconds=1)
    assert stage.withheld(EVICT_A) == "it could not leave soon after it was decided, and is decided anew"


def test_nothing_leaves_that_nobody_decided() -> None:
    assert on_its_way().withheld(EVICT_B) is not None


def test_a_cancel_closes_the_gate_whichever_way_it_is_heard() -> None:
    by_sync, by_ack = on_its_way(), begun()
    by_sync.hear(a_doc(phase="running", cancel=True))
    assert by_sync.withheld(EVICT_A) == "the operation was cancelled"
    by_ack.script.says = going(1, EVICT_A)
    by_ack.turn(1)
    by_ack.ack(cancel=True)
    assert by_ack.withheld(EVICT_A) == "the operation was cancelled"


def test_a_cancel_is_never_taken_back() -> None:
    stage = on_its_way()
    stage.hear(a_doc(phase="running", cancel=True))
    stage.hear(a_doc(phase="running", cancel=False))
    stage.turn(2)
    assert stage.script.asked[-1][0].is_cancelled


def test_an_operation_that_the_hub_does_not_list_any_more_is_over() -> None:
    stage = on_its_way()
    stage.hear()
    assert stage.withheld(EVICT_A) == "the operation is over"
    assert stage.turn(2).steps == ()
    assert stage.conductor.outbox() == []


# --- the end ----------------------------------------------------------------------------------------------------------


def test_an_end_is_reported_with_memory_progress_and_result() -> None:
    stage = begun()
    stage.script.says = ending(Phase.FAILED, "no_capacity")
    stage.turn(1)
    report = stage.report()
    assert (report.n, report.phase, report.memory) == (2, "failed", {"step": 0})
    assert report.result is not None
    assert report.progress is not None
    assert (report.result.code, report.result.message, report.progress.done) == ("no_capacity", "it is done", 1)


def test_an_end_waits_for_the_answers_to_what_was_sent() -> None:
    stage = on_its_way()
    stage.script.says = ending()
    stage.turn(2)
    report = stage.report()
    assert (report.phase, report.result) == ("running", None)
    assert report.progress is not None
    assert [each.message for each in report.progress.blockers] == ["waiting for the answer to 1 call(s) already sent"]
    stage.ack()
    stage.answer(EVICT_A, Accepted())
    stage.turn(3)
    assert stage.report().phase == "succeeded"


def test_a_late_sync_does_not_revive_what_has_ended() -> None:
    """C73: an old message about what is over changes nothing."""
    stage = begun()
    stage.script.says = ending()
    stage.turn(1)
    stage.ack()
    stage.hear(a_doc(phase="running", report_n=1))
    assert stage.turn(2).steps == ()
    assert stage.conductor.outbox() == []


@pytest.mark.parametrize("outcome", ["ended", "unknown"])
def test_what_the_hub_says_is_over_is_over_and_its_held_steps_with_it(outcome: str) -> None:
    stage = begun()
    stage.script.says = going(1, EVICT_A)
    stage.turn(1)
    assert stage.ack(outcome) == ()
    assert stage.withheld(EVICT_A) == "the operation is over"
    stage.hear(a_doc(phase="running"))
    assert stage.turn(2).steps == ()


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_a_new_session_begins_with_what_the_hub_has_stored() -> None:
    """C04, C74: what another one began goes on from the record."""
    stage = begun()
    stage.script.says = going(1, EVICT_A)
    stage.turn(1)
    stage.conductor.begin_session()
    assert stage.conductor.outbox() == []
    stage.hear(a_doc(phase="running", report_n=1))
    stage.script.says = going(0)
    stage.turn(2)
    job, view = stage.script.asked[-1]
    assert job.memory == Memory(0), "the report of the new memory was never acknowledged"
    assert view.in_flight == frozenset(), "nor did its step leave"


def test_calls_that_an_earlier_session_sent_stay_under_way() -> None:
    stage = on_its_way()
    stage.conductor.begin_session()
    assert stage.withheld(EVICT_A) == "the operation is over", "until the new session has heard of it"
    stage.snapshot = a_snapshot(a_pod("a"))
    stage.hear(a_doc(phase="running", memory={"step": 1}, report_n=2))
    stage.turn(2)
    assert stage.script.asked[-1][1].leaving == uids("a")
    stage.ack()
    stage.answer(EVICT_A, Busy("conflict"))
    stage.turn(3)
    assert stage.script.asked[-1][1].leaving == frozenset()


# --- what is remembered of answers ------------------------------------------------------------------------------------


def test_answers_of_the_same_sort_are_counted_and_another_sort_begins_anew() -> None:
    stage = on_its_way()
    seen = []
    for answer in (Busy("one"), Busy("two"), Unknown("three")):
        stage.answer(EVICT_A, answer)
        stage.turn()
        seen.append(stage.script.asked[-1][1].answers[KEY_A])
    assert seen == [
        Answered(Busy("one"), at(1), 1),
        Answered(Busy("two"), at(1), 2),
        Answered(Unknown("three"), at(1), 1),
    ]


@pytest.mark.parametrize("answer", [Accepted(), Unknown("timed out")], ids=repr)
def test_an_eviction_that_may_land_counts_until_it_is_seen_even_after_its_operation(answer: Answer) -> None:
    stage = on_its_way()
    stage.snapshot = a_snapshot(a_pod("a"))
    stage.answer(EVICT_A, answer)
    stage.hear(a_doc(OTHER_OP))
    stage.turn(2)
    assert stage.script.asked[-1][1].leaving == uids("a")
    stage.ack()
    stage.snapshot = a_snapshot(terminating("a"))
    stage.turn(3)
    assert stage.script.asked[-1][1].leaving == frozenset()


def test_what_an_earlier_process_may_have_sent_counts_even_when_the_operation_ends_at_once() -> None:
    stage = Stage(Script(ending(), Claims(None, {}, {PodUid("a"): NOON})))
    stage.snapshot = a_snapshot(a_pod("a"))
    stage.now = at(1)
    stage.hear(a_doc(phase="running", cancel=True))
    stage.turn(1)
    stage.ack()
    stage.script.holds = Claims()
    stage.hear(a_doc(OTHER_OP))
    stage.script.says = going(0)
    stage.turn(HELD_MAX_S + LANDING_MAX_S - 1)
    assert stage.script.asked[-1][1].leaving == uids("a")
    stage.ack()
    stage.turn(HELD_MAX_S + LANDING_MAX_S)
    assert stage.script.asked[-1][1].leaving == frozenset()


def test_an_accepted_eviction_that_is_never_seen_counts_no_longer_than_it_may_land() -> None:
    stage = on_its_way()
    stage.snapshot = a_snapshot(a_pod("a"))
    stage.answer(EVICT_A, Accepted())
    stage.script.holds = Claims(None, {}, {PodUid("a"): NOON})
    stage.turn(1 + LANDING_MAX_S - 1)
    assert stage.script.asked[-1][1].leaving == uids("a")
    stage.turn(1 + LANDING_MAX_S)
    assert stage.script.asked[-1][1].leaving == frozenset()


# --- progress ---------------------------------------------------------------------------------------------------------


def test_progress_alone_is_reported_once_and_not_too_often() -> None:
    stage = begun()
    stage.script.says = going(0, message="further")
    turned = stage.turn(0.1)
    assert stage.conductor.outbox() == []
    assert turned.recheck_at == at(PROGRESS_INTERVAL_S)
    stage.turn(PROGRESS_INTERVAL_S)
    report = stage.report()
    assert (report.memory, report.progress and report.progress.message) == (None, "further")
    stage.ack()
    assert stage.turn(5).recheck_at == at(65)
    assert stage.conductor.outbox() == []


def test_it_looks_again_when_the_first_of_its_operations_wants_to() -> None:
    stage = Stage()
    stage.hear(a_doc(), a_doc(OTHER_OP))
    assert stage.turn().recheck_at == at(60)
    assert Stage().turn().recheck_at is None

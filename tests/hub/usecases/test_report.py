"""What operators report: claims, progress, ends, and what becomes of reports that come twice or too late."""

import pytest

from hangar.wire.operator import BlockerDoc, ReportDoc, ResultDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import Operator, World, a_progress, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    an_operator(made)
    return made


@pytest.fixture
def operator(world: World) -> Operator:
    made = Operator(world, "iad-1")
    made.open()
    return made


def test_the_first_report_claims_and_starts_the_deadline(world: World, operator: Operator) -> None:
    id_ = world.create(params={"deadline_s": 60})
    world.pass_s(5)
    assert operator.say(id_).outcome == "stored"
    operation = world.get(id_)
    assert (operation.phase, operation.result) == ("running", None)
    assert (operation.created_at, operation.started_at) == ("2026-11-18T11:06:40Z", "2026-11-18T11:06:45.000Z")
    assert operation.deadline_at == "2026-11-18T11:07:45.000Z"
    assert world.events("operation") == ["operation.created", "operation.started"]


def test_a_succeeded_operation_has_its_result_as_the_manual_has_it(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_)
    world.pass_s(42.9, sweeping=False)
    operator.say(id_, "succeeded", result=ResultDoc(code="done", message="evicted_replicas=3", details={"moves": []}))
    operation = world.get(id_)
    assert operation.result is not None
    assert (operation.phase, operation.finished_at) == ("succeeded", "2026-11-18T11:07:22.900Z")
    assert (operation.result.message, operation.result.attempts) == ("evicted_replicas=3", 1)
    assert (operation.result.duration, operation.result.details) == ("42s", {"moves": []})


def test_the_last_progress_stays_with_the_finished_operation(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_, progress=a_progress(2))
    operator.say(id_, "failed")
    progress = world.get(id_).progress
    assert progress is not None
    assert progress.done == 2


def test_progress_is_an_event_when_counts_or_blockers_change(world: World, operator: Operator) -> None:
    id_ = world.create()
    blocker = BlockerDoc(code="budget_spent", subject="default/api", message="needs 1, has 1")
    for progress in (
        a_progress(0),
        a_progress(1),
        a_progress(1),
        a_progress(1, blockers=[blocker]),
        a_progress(1, blockers=[BlockerDoc(code="budget_spent", subject="default/api", message="other words")]),
    ):
        operator.say(id_, progress=progress)
    assert world.events("operation.progressed") == ["operation.progressed"] * 2
    shown = world.get(id_).progress
    assert shown is not None
    assert shown.blockers[0].message == "other words"


def test_each_report_changes_the_version(world: World, operator: Operator) -> None:
    id_ = world.create()
    versions = [world.get(id_).version]
    for each in ("running", "running", "succeeded"):
        operator.say(id_, each)
        versions.append(world.get(id_).version)
    assert versions == sorted(set(versions))


def test_memory_stays_until_another_one_comes(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_, memory={"a": 1})
    operator.say(id_, progress=a_progress())
    assert operator.sync()[0].memory == {"a": 1}


def test_a_number_that_was_stored_is_a_duplicate(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_, n=5, progress=a_progress(1))
    for n in (4, 5):
        assert operator.say(id_, n=n, progress=a_progress(2)).outcome == "duplicate"
    progress = world.get(id_).progress
    assert progress is not None
    assert progress.done == 1


def test_a_new_session_may_number_anew(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_, n=9)
    operator.open()
    assert operator.say(id_, n=1, progress=a_progress(2)).outcome == "stored"


@pytest.mark.parametrize("phase", ["running", "succeeded", "failed", "cancelled"])
def test_a_finished_operation_never_changes(world: World, operator: Operator, phase: str) -> None:
    """C73: whatever comes late."""
    id_ = world.create()
    operator.say(id_)
    operator.say(id_, "failed")
    before, events = world.get(id_), world.events()
    assert operator.say(id_, phase).outcome == "ended"
    assert (world.get(id_), world.events()) == (before, events)


def test_operations_of_other_clusters_are_unknown(world: World, operator: Operator) -> None:
    world.add_cluster("ord-1")
    an_operator(world, "ord-1")
    id_ = world.create("node.drain", "ord-1-n01")
    assert operator.say(id_).outcome == "unknown"
    assert operator.say("op_nothing").outcome == "unknown"
    assert world.get(id_).phase == "pending"


def test_the_operator_may_refuse_what_it_never_started(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_, "failed", result=ResultDoc(code="not_allowed", message="not allowed here"))
    operation = world.get(id_)
    assert operation.result is not None
    assert (operation.phase, operation.started_at, operation.result.attempts) == ("failed", None, 0)
    assert operation.status_reason is not None
    assert operation.status_reason.code == "not_allowed"


def test_an_end_without_a_claim_counts_as_both(world: World, operator: Operator) -> None:
    id_ = world.create("node.cordon", "iad-1-n01")
    operator.say(id_, "succeeded")
    assert world.events("operation") == ["operation.created", "operation.started", "operation.succeeded"]


def test_reports_that_make_no_sense_are_all_named_and_none_is_stored(world: World, operator: Operator) -> None:
    id_ = world.create()
    with pytest.raises(Problem) as caught:
        operator.report(
            ReportDoc(id=id_, n=1, phase="running"),
            ReportDoc(id=id_, n=2, phase="pending"),
            ReportDoc(id=id_, n=3, phase="failed"),
        )
    assert caught.value.code is ProblemCode.INVALID_VALUE
    assert [each.path for each in caught.value.errors] == ["reports[1].phase", "reports[2].result"]
    assert world.get(id_).phase == "pending"


@pytest.mark.parametrize(("ends", "attempts"), [("release", 1), ("crash", 2), ("reopen", 1)])
def test_only_an_unclean_takeover_adds_an_attempt(world: World, operator: Operator, ends: str, attempts: int) -> None:
    id_ = world.create()
    operator.say(id_)
    following = Operator(world, "iad-1", incarnation="second")
    if ends == "release":
        operator.release()
    elif ends == "crash":
        world.pass_s(20)
    else:
        following.incarnation = operator.incarnation
    following.open()
    following.say(id_)
    following.say(id_, "succeeded")
    result = world.get(id_).result
    assert result is not None
    assert result.attempts == attempts
    assert world.events("operation.taken_over") == ["operation.taken_over"] * (attempts - 1)


def test_a_crash_between_two_clean_sessions_still_counts(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_)
    operator.release()
    second = Operator(world, "iad-1", incarnation="second")
    second.open()
    world.pass_s(20)
    third = Operator(world, "iad-1", incarnation="third")
    third.open()
    third.say(id_, "succeeded")
    result = world.get(id_).result
    assert result is not None
    assert result.attempts == 2

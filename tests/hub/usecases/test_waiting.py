"""Since when an operation waits: what moves starts the clock anew, what only rewords does not."""

from typing import Any

from hangar.hub.usecases.waiting import blocked_since_us, dated


def told(done: int, *subjects: str, code: str = "budget_spent") -> dict[str, Any]:
    blockers = [{"code": code, "subject": each, "message": "", "facts": {}} for each in subjects]
    return {"done": done, "total": 3, "unit": "replicas", "message": "", "blockers": blockers}


def test_a_blocker_that_stays_keeps_its_instant() -> None:
    first = dated(None, told(0, "a"), 100)
    assert blocked_since_us(dated(first, told(0, "a", "b"), 200)) == {"budget_spent": 100}


def test_a_blocker_that_left_and_came_back_begins_anew() -> None:
    first = dated(None, told(0, "a"), 100)
    without = dated(first, told(0), 200)
    assert blocked_since_us(without) == {}
    assert blocked_since_us(dated(without, told(0, "a"), 300)) == {"budget_spent": 300}


def test_an_operation_that_gets_on_is_not_blocked_however_long_it_waits_in_all() -> None:
    first = dated(None, told(0, "a", "b"), 100)
    assert blocked_since_us(dated(first, told(1, "b"), 900)) == {"budget_spent": 900}


def test_each_code_is_dated_by_itself() -> None:
    first = dated(None, told(0, "a"), 100)
    both = told(0, "a")
    both["blockers"] += told(0, "b", code="loading")["blockers"]
    assert blocked_since_us(dated(first, both, 200)) == {"budget_spent": 100, "loading": 200}


def test_a_progress_that_an_older_hub_stored_is_dated_from_now_on() -> None:
    assert blocked_since_us(dated(told(0, "a"), told(0, "a"), 500)) == {"budget_spent": 500}


def test_nothing_that_was_told_is_lost() -> None:
    stored = dated(None, told(1, "a"), 100)
    assert {name: value for name, value in stored.items() if name not in ("blockers", "moved_us")} == {
        "done": 1,
        "total": 3,
        "unit": "replicas",
        "message": "",
    }
    assert stored["blockers"] == [{"code": "budget_spent", "subject": "a", "message": "", "facts": {}, "since_us": 100}]

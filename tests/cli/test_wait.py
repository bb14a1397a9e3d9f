"""Waiting in virtual time: through silence, outages and time-outs, to an end that is always told."""

import io
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from hangar.cli import wait
from hangar.cli.exits import Exit
from hangar.cli.failures import Failure
from hangar.cli.http import Hub, Response
from hangar.cli.progress import Screen
from hangar.cli.wait import TimedOut, Waiting
from hangar.domain import limits
from tests.cli.samples import an_operation, ended, running

AWAY = Failure(Exit.UNREACHABLE, "cannot reach the hub: connection refused", is_passing=True)
FAILING = Failure(Exit.UNEXPECTED, "the hub failed")
FORBIDDEN = Failure(Exit.REFUSED, "the token is no longer valid")
Scripted = Mapping[str, Any] | Failure


class World:
    """A clock, and a hub whose answers take their time by it."""

    def __init__(self, *answers: Scripted, forever: Scripted | None = None, takes_s: float | None = None) -> None:
        self.now_s = 0.0
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.err = io.StringIO()
        self._answers = list(answers)
        self._forever = forever
        self._takes_s = takes_s

    def request(self, _method: str, path: str, *, query: Mapping[str, Any] | None = None, **_: object) -> Response:
        self.asked.append((path, dict(query or {})))
        answer = self._answers.pop(0) if self._answers else self._forever
        assert answer is not None, "more was asked than was scripted"
        if isinstance(answer, Failure):
            raise answer
        self.now_s += (query or {}).get("timeout", 0) if self._takes_s is None else self._takes_s
        return Response(200, {}, answer)

    def until_ended(self, record: dict[str, Any] | None, timeout_s: float | None = 1800) -> dict[str, Any]:
        def sleep(pause_s: float) -> None:
            self.now_s += pause_s

        clock: Callable[[], float] = lambda: self.now_s  # noqa: E731
        screen = Screen(self.err, clock=clock)
        waiting = Waiting(cast("Hub", self), screen, timeout_s, clock=clock, sleep=sleep)
        return waiting.until_ended(an_operation()["id"], record)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch, no_pauses: None) -> None:
    """Give the pauses their length again: time is virtual here."""
    monkeypatch.setattr(wait, "PAUSES_S", (0.5, 1.0, 2.0, 5.0))
    monkeypatch.setattr(wait, "POLL_SHORTEST_S", 0.5)


def test_a_poll_is_no_longer_than_the_hub_allows() -> None:
    assert wait.POLL_S <= limits.WAIT_MAX_S


def test_an_operation_that_is_over_is_not_waited_for() -> None:
    assert World().until_ended(ended(9)) == ended(9)


def test_each_poll_asks_for_what_is_newer_than_the_last_version() -> None:
    world = World(running(4), running(4), ended(9))
    assert world.until_ended(an_operation()) == ended(9)
    assert [query for _, query in world.asked] == [
        {"timeout": 20, "after_version": 1},
        {"timeout": 20, "after_version": 4},
        {"timeout": 20, "after_version": 4},
    ]


def test_without_a_record_it_is_read_first() -> None:
    world = World(running(2), ended(3))
    world.until_ended(None)
    assert [path.rpartition("/")[2] for path, _ in world.asked] == [an_operation()["id"], "wait"]


def test_the_last_poll_is_no_longer_than_the_time_left() -> None:
    world = World(forever=an_operation())
    with pytest.raises(TimedOut) as raised:
        world.until_ended(an_operation(), timeout_s=30)
    assert [query["timeout"] for _, query in world.asked] == [20, 10]
    assert raised.value.code is Exit.WAIT_TIMEOUT
    assert raised.value.message == "node.drain iad-1-n02 is still pending after 30s"


def test_a_time_out_says_what_it_waited_for() -> None:
    with pytest.raises(TimedOut, match="still running after 5s: evicting") as raised:
        World(forever=running(2, 1, "evicting", *"abcdefg")).until_ended(an_operation(), timeout_s=5)
    assert raised.value.details == ("a", "b", "c", "d", "e", "and 2 more")


def test_a_hub_that_answers_at_once_without_news_is_not_asked_in_a_rush() -> None:
    world = World(forever=an_operation(), takes_s=0.0)
    with pytest.raises(TimedOut):
        world.until_ended(an_operation(), timeout_s=10)
    assert len(world.asked) <= 20


def test_an_outage_is_waited_out_and_told_once() -> None:
    world = World(AWAY, AWAY, FAILING, AWAY, ended(9))
    assert world.until_ended(running(2)) == ended(9)
    assert world.err.getvalue().splitlines() == [
        "node.drain iad-1-n02 running: evicting",
        "still waiting: cannot reach the hub: connection refused",
        "still waiting: the hub failed",
        "still waiting: cannot reach the hub: connection refused",
        "the hub answers again",
    ]
    assert world.now_s == 0.5 + 1.0 + 2.0 + 5.0 + 20


def test_an_outage_to_the_very_end_exits_7() -> None:
    for failure in (AWAY, FAILING):
        world = World(running(2), forever=failure)
        with pytest.raises(Failure, match=failure.message) as raised:
            world.until_ended(an_operation(), timeout_s=60)
        assert raised.value.code is Exit.UNREACHABLE
        assert world.now_s == 60


def test_an_outage_before_the_first_answer_is_waited_out_too() -> None:
    world = World(AWAY, running(2), ended(3))
    assert world.until_ended(None) == ended(3)


def test_without_a_limit_it_waits_on() -> None:
    world = World(*[an_operation()] * 1000, AWAY, ended(9))
    assert world.until_ended(an_operation(), timeout_s=None) == ended(9)


def test_a_refusal_ends_the_wait_at_once() -> None:
    with pytest.raises(Failure, match="no longer valid"):
        World(AWAY, FORBIDDEN).until_ended(running(2))

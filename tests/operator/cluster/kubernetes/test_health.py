"""Whether a kind can be read, since when not, and what the log says of it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from structlog.testing import capture_logs

from hangar.operator.cluster.kubernetes.health import BROKEN_AFTER_S, Health
from hangar.operator.cluster.port import Watch
from tests.virtual_loop import pass_time, run_virtual


def virtually(main: Callable[[Health], Coroutine[Any, Any, None]]) -> int:
    """Run with a health, and return how often it told of a change."""
    told: list[None] = []

    async def run() -> None:
        await main(Health("pods", lambda: told.append(None)))

    run_virtual(run())
    return len(told)


def test_what_was_never_read_is_unreadable_until_it_is() -> None:
    async def main(health: Health) -> None:
        assert (health.unreadable(), health.is_settled) == ("pods: not read yet", False)
        health.recovered()
        assert (health.unreadable(), health.is_settled, health.is_complete) == (None, True, True)

    assert virtually(main) == 1


def test_a_short_break_is_told_to_nobody() -> None:
    async def main(health: Health) -> None:
        health.recovered()
        health.broke("reset", is_forbidden=False, is_stale=False)
        await pass_time(BROKEN_AFTER_S - 1)
        assert health.unreadable() is None
        health.recovered()

    with capture_logs() as logs:
        virtually(main)
    assert logs == []


def test_a_long_break_is_logged_once_a_change_with_its_length_and_so_is_its_end() -> None:
    async def main(health: Health) -> None:
        health.recovered()
        for why in ("reset", "reset", "refused", "refused"):
            health.broke(why, is_forbidden=False, is_stale=False)
            await pass_time(BROKEN_AFTER_S)
        assert health.unreadable() == "pods: refused"
        health.recovered()
        health.recovered()

    with capture_logs() as logs:
        virtually(main)
    assert [(each["event"], each.get("why")) for each in logs] == [
        ("cannot read", "reset"),
        ("cannot read", "refused"),
        ("can read again", None),
    ]
    assert [each.get("for_s", each.get("after_s")) for each in logs] == [5.0, 10.0, 20.0]


def test_a_refusal_and_what_has_to_be_read_anew_are_told_at_once() -> None:
    async def main(health: Health) -> None:
        health.recovered()
        health.broke("403: no", is_forbidden=True, is_stale=False)
        assert health.unreadable() == "pods: 403: no"
        health.recovered()
        health.broke("reset", is_forbidden=False, is_stale=False)
        assert health.unreadable() is None
        health.outdated()
        assert health.unreadable() == "pods: reset"
        assert asyncio.get_running_loop().time() == 1000.0

    virtually(main)


def test_a_refusal_at_the_start_is_as_good_as_an_answer() -> None:
    async def main(health: Health) -> None:
        health.broke("403: no", is_forbidden=True, is_stale=True)
        assert (health.is_settled, health.is_complete, health.is_troubled) == (True, False, True)

    virtually(main)


def test_how_long_ago_it_was_heard_of_is_counted_from_the_last_word() -> None:
    async def main(health: Health) -> None:
        assert health.watch() == Watch("pods", is_up=False, age_s=None)
        health.recovered()
        health.heard()
        await pass_time(70)
        assert health.watch() == Watch("pods", is_up=True, age_s=70.0)
        health.broke("reset", is_forbidden=False, is_stale=True)
        assert health.watch() == Watch("pods", is_up=False, age_s=70.0)
        health.heard()
        assert health.watch().age_s == 0

    virtually(main)

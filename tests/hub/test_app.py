"""The application as a whole: its sweep goes on whatever happens."""

import asyncio

import pytest
from structlog.testing import capture_logs

from tests.hub.api.client import Api


def test_the_sweep_runs_in_the_background_and_outlives_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api(sweep_interval_s=0.001)
    swept = asyncio.Event()
    outcomes = iter([RuntimeError("a fault in a sweep"), None])

    async def sweep() -> None:
        outcome = next(outcomes)
        if outcome is not None:
            raise outcome
        swept.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(api.hub, "sweep", sweep)

    async def talk() -> None:
        async with api.app.router.lifespan_context(api.app):
            await asyncio.wait_for(swept.wait(), 5)

    with capture_logs() as lines:
        asyncio.run(talk())
    assert [(each["event"], str(each["exc_info"])) for each in lines] == [("a sweep failed", "a fault in a sweep")]


def test_a_process_that_stood_still_says_so_and_listens_anew() -> None:
    api = Api()
    before = api.hub.rules().listening_since_us()
    api.world.now_us += 60_000_000
    with capture_logs() as lines:
        asyncio.run(api.hub.sweep())
    assert lines[0]["why"] == "this process stood still for 60.0 s"
    assert api.hub.rules().listening_since_us() == before + 60_000_000

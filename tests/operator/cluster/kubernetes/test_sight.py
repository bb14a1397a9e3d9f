"""The snapshot and what it waits for: what only the fit reads holds up nothing for long."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from structlog.testing import capture_logs

from hangar.domain.placing import Quota, Volume, VolumeClaim
from hangar.domain.snapshot import Snapshot
from hangar.operator.cluster.kubernetes.api import Api
from hangar.operator.cluster.kubernetes.server_clock import ServerClock
from hangar.operator.cluster.kubernetes.sight import OPTIONAL_WAIT_S, Sight
from tests.operator.cluster.kubernetes.documents import Document, a_bookmark, a_refusal, an_event
from tests.operator.cluster.kubernetes.fake_server import FakeServer, Says, Scripted, Stalls, Streams, a_config, middle
from tests.virtual_loop import LoopClock, pass_time, run_virtual

NEEDED = 8
EMPTY = Streams((a_bookmark(10, is_end=True),))


class Bench:
    def __init__(self) -> None:
        self.server = FakeServer()
        self.changed = asyncio.Event()
        self.sight = Sight(Api(a_config(), ServerClock(LoopClock()), self.server), middle)

    @property
    def snapshot(self) -> Snapshot:
        snapshot = self.sight.snapshot()
        assert snapshot is not None
        return snapshot


def virtually(*optional: Scripted, then: Callable[[Bench], Coroutine[Any, Any, None]]) -> None:
    """Run with all that is needed read, and these replies for claims, volumes and quotas."""

    async def main() -> None:
        bench = Bench()
        bench.server.script = [*[EMPTY] * NEEDED, *optional, EMPTY]  # and no autoscalers
        task = asyncio.create_task(bench.sight.run(bench.changed))
        await pass_time(0.01)
        try:
            await then(bench)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    run_virtual(main())


def an_object(version: int = 1, **parts: Any) -> Document:
    return {"metadata": {"namespace": "default", "name": "x", "uid": "u", "resourceVersion": str(version)}, **parts}


def begins_with(*documents: Document, then: tuple[bytes | float, ...] = ()) -> Streams:
    return Streams((*(an_event("ADDED", each) for each in documents), a_bookmark(10, is_end=True), *then))


def test_claims_volumes_and_quotas_are_shown_and_forgotten_again() -> None:
    claim, volume = an_object(spec={"volumeName": "pv"}), an_object(spec={})
    quota = an_object(spec={"hard": {"pods": "2"}}, status={"used": {"pods": "1"}})
    gone = (1.0, an_event("DELETED", an_object(11, spec={})))

    async def then(bench: Bench) -> None:
        assert bench.snapshot.claims == {("default", "x"): VolumeClaim("default", "x", "pv", once=False)}
        assert bench.snapshot.volumes == {"x": Volume("x")}
        assert bench.snapshot.quotas == {("default", "x"): Quota("default", "x", {"pods": 2}, {"pods": 1})}
        await pass_time(2.0)
        assert (bench.snapshot.claims, bench.snapshot.volumes, bench.snapshot.quotas) == ({}, {}, {})

    virtually(*(begins_with(each, then=gone) for each in (claim, volume, quota)), then=then)


def test_a_quota_with_scopes_is_not_shown() -> None:
    scoped = an_object(spec={"hard": {"pods": "2"}, "scopes": ["NotTerminating"]})

    async def then(bench: Bench) -> None:
        assert bench.snapshot.quotas == {}
        await pass_time(2.0)
        assert bench.snapshot.quotas == {}

    virtually(EMPTY, EMPTY, begins_with(scoped, then=(1.0, an_event("DELETED", scoped))), then=then)


def test_without_the_right_to_read_them_the_snapshot_is_there_and_readable_and_the_log_says_so_once() -> None:
    forbidden = Says(403, a_refusal(403, "persistentvolumeclaims is forbidden"))

    async def then(bench: Bench) -> None:
        assert bench.snapshot.unreadable == ()
        bench.server.script = [forbidden] * 20
        await pass_time(60.0)
        assert bench.snapshot.unreadable == ()

    with capture_logs() as logs:
        virtually(forbidden, EMPTY, EMPTY, then=then)
    assert [(each["event"], each["kind"]) for each in logs] == [("cannot read", "persistentvolumeclaims")]


def test_they_are_waited_for_a_moment_at_the_start_and_no_longer() -> None:
    async def then(bench: Bench) -> None:
        assert bench.sight.snapshot() is None
        await pass_time(OPTIONAL_WAIT_S - 0.1)
        assert bench.sight.snapshot() is None
        bench.changed.clear()
        await pass_time(0.2)
        assert bench.changed.is_set()
        assert bench.snapshot.unreadable == ()

    virtually(EMPTY, EMPTY, Stalls(), then=then)

"""Which version of graphs is served, and what becomes of them when that changes; all else goes on beside it."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import httpx2
import pytest
from structlog.testing import capture_logs

from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import GraphRef
from hangar.operator.cluster.kubernetes.api import Api
from hangar.operator.cluster.kubernetes.served import LOOK_AGAIN_S
from hangar.operator.cluster.kubernetes.server_clock import ServerClock
from hangar.operator.cluster.kubernetes.sight import OPTIONAL_WAIT_S, Sight
from tests.operator.cluster.kubernetes.documents import Document, a_bookmark, a_graph, a_pod, a_refusal, an_event
from tests.operator.cluster.kubernetes.fake_server import (
    NO_GRAPHS,
    Breaks,
    FakeServer,
    Says,
    Scripted,
    Stalls,
    Streams,
    a_config,
    middle,
)
from tests.virtual_loop import LoopClock, pass_time, run_virtual

OTHERS = 12
EMPTY = Streams((a_bookmark(10, is_end=True),))
CHAT = GraphRef("serving", "chat")

SERVED = Says(200, {"resources": [{"name": "dynamographdeployments"}, {"name": "dynamographdeployments/status"}]})
OF_OTHERS = Says(200, {"resources": [{"name": "nvidiadrivers"}]})
"""The GPU operator has a v1alpha1 of its own in the same group."""

BETA = a_graph("v1beta1", components=[{"name": "decode", "type": "decode", "replicas": 2}])
ALPHA = a_graph("v1alpha1", components={"decode": {"componentType": "worker", "replicas": 2}})


def begins_with(*documents: Document, then: tuple[bytes | float, ...] = ()) -> Streams:
    return Streams((*(an_event("ADDED", each) for each in documents), a_bookmark(10, is_end=True), *then))


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

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.server.asked if "nvidia.com" in each.path]


def virtually(
    kinds: dict[str, Scripted],
    *graphs: Scripted,
    then: Callable[[Bench], Coroutine[Any, Any, None]],
    pods: Scripted = EMPTY,
) -> None:
    """Run with all other kinds read, these kinds served, and these replies to whoever reads graphs."""

    async def main() -> None:
        bench = Bench()
        bench.server.kinds |= kinds
        bench.server.script = [EMPTY, pods, *[EMPTY] * (OTHERS - 2), *graphs]
        task = asyncio.create_task(bench.sight.run(bench.changed))
        await pass_time(0.01)
        try:
            await then(bench)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    run_virtual(main())


def api_version(snapshot: Snapshot) -> str:
    return snapshot.graphs[CHAT].api_version


def test_the_newer_version_is_read_where_both_are_served() -> None:
    async def then(bench: Bench) -> None:
        assert api_version(bench.snapshot) == "nvidia.com/v1beta1"
        assert bench.paths == ["/apis/nvidia.com/v1beta1/dynamographdeployments"]
        assert bench.snapshot.graphs_unreadable is None

    virtually({"v1beta1": SERVED, "v1alpha1": SERVED}, begins_with(BETA), then=then)


@pytest.mark.parametrize("newer", [NO_GRAPHS, OF_OTHERS])
def test_the_older_version_is_read_where_it_alone_is_served(newer: Scripted) -> None:
    async def then(bench: Bench) -> None:
        assert api_version(bench.snapshot) == "nvidia.com/v1alpha1"
        assert bench.paths == ["/apis/nvidia.com/v1alpha1/dynamographdeployments"]

    virtually({"v1beta1": newer, "v1alpha1": SERVED}, begins_with(ALPHA), then=then)


@pytest.mark.parametrize("kinds", [{}, {"v1alpha1": OF_OTHERS}])
def test_where_neither_is_served_there_are_no_graphs_and_nothing_is_wrong(kinds: dict[str, Scripted]) -> None:
    async def then(bench: Bench) -> None:
        assert (bench.snapshot.graphs, bench.snapshot.graphs_unreadable, bench.snapshot.unreadable) == ({}, None, ())
        await pass_time(LOOK_AGAIN_S * 3)
        assert (bench.paths, bench.snapshot.graphs_unreadable) == ([], None)
        (watch,) = (each for each in bench.sight.watches() if each.resource == "dynamographdeployments")
        assert watch.is_up
        assert watch.age_s is not None
        assert watch.age_s <= LOOK_AGAIN_S

    with capture_logs() as logs:
        virtually(kinds, then=then)
    assert logs == []


def test_what_is_installed_later_is_found_and_what_is_removed_is_forgotten() -> None:
    async def then(bench: Bench) -> None:
        assert bench.snapshot.graphs == {}
        bench.server.kinds["v1alpha1"] = SERVED
        bench.server.script = [begins_with(ALPHA)]
        await pass_time(LOOK_AGAIN_S)
        assert api_version(bench.snapshot) == "nvidia.com/v1alpha1"
        bench.server.kinds["v1beta1"] = SERVED
        bench.server.script = [begins_with(BETA)]
        await pass_time(LOOK_AGAIN_S)
        assert api_version(bench.snapshot) == "nvidia.com/v1beta1"
        bench.server.kinds |= {"v1beta1": NO_GRAPHS, "v1alpha1": NO_GRAPHS}
        bench.changed.clear()
        await pass_time(LOOK_AGAIN_S)
        assert (bench.snapshot.graphs, bench.snapshot.graphs_unreadable) == ({}, None)
        assert bench.changed.is_set()

    virtually({}, then=then)


def test_graphs_that_may_not_be_read_are_told_and_make_nothing_else_unreadable() -> None:
    forbidden = Says(403, a_refusal(403, "dynamographdeployments.nvidia.com is forbidden"))

    async def then(bench: Bench) -> None:
        assert bench.snapshot.unreadable == ()
        why = "dynamographdeployments: 403: dynamographdeployments.nvidia.com is forbidden"
        assert bench.snapshot.graphs_unreadable == why

    virtually({"v1beta1": SERVED}, forbidden, then=then)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Breaks(httpx2.ConnectError("refused")), "ConnectError: refused"),
        (Says(503, a_refusal(503, "not now")), "503: not now"),
        (Says(200, "<html>hello</html>"), "no API server replies: JSON is malformed: invalid character (byte 0)"),
    ],
)
def test_a_server_that_does_not_say_what_it_serves_is_asked_again_soon(reply: Scripted, why: str) -> None:
    async def then(bench: Bench) -> None:
        await pass_time(OPTIONAL_WAIT_S)
        assert bench.snapshot.unreadable == ()
        assert bench.snapshot.graphs_unreadable == f"dynamographdeployments: {why}"
        bench.server.kinds["v1beta1"] = SERVED
        bench.server.script = [begins_with(BETA)]
        await pass_time(LOOK_AGAIN_S / 2)
        assert set(bench.snapshot.graphs) == {CHAT}
        assert bench.snapshot.graphs_unreadable is None

    virtually({"v1beta1": reply}, then=then)


def test_while_graphs_are_read_a_look_that_fails_changes_nothing() -> None:
    async def then(bench: Bench) -> None:
        bench.server.kinds["v1beta1"] = Says(503, a_refusal(503, "not now"))
        await pass_time(LOOK_AGAIN_S * 2)
        assert set(bench.snapshot.graphs) == {CHAT}
        assert bench.snapshot.graphs_unreadable is None

    with capture_logs() as logs:
        virtually({"v1beta1": SERVED}, begins_with(BETA), then=then)
    assert not any(each["kind"] == "dynamographdeployments" for each in logs)


@pytest.mark.parametrize(("lasts_s", "is_told"), [(1.0, False), (60.0, True)])
def test_where_none_is_served_a_look_that_fails_is_told_if_that_lasts(lasts_s: float, *, is_told: bool) -> None:
    async def then(bench: Bench) -> None:
        bench.server.kinds["v1alpha1"] = Says(503, a_refusal(503, "not now"))
        await pass_time(LOOK_AGAIN_S - 10.0 + lasts_s)
        why = "dynamographdeployments: 503: not now" if is_told else None
        assert bench.snapshot.graphs_unreadable == why
        bench.server.kinds["v1alpha1"] = NO_GRAPHS
        await pass_time(LOOK_AGAIN_S)
        assert bench.snapshot.graphs_unreadable is None

    with capture_logs() as logs:
        virtually({}, then=then)
    assert bool(logs) == is_told


def test_graphs_are_waited_for_a_moment_at_the_start_and_no_longer() -> None:
    async def then(bench: Bench) -> None:
        assert bench.sight.snapshot() is None
        await pass_time(OPTIONAL_WAIT_S)
        assert bench.snapshot.graphs_unreadable == "dynamographdeployments: not read yet"

    virtually({"v1beta1": SERVED}, Stalls(), then=then)


def test_the_pods_of_a_component_are_counted_as_they_come_and_go() -> None:
    pod = a_pod("p1")
    pod["metadata"]["namespace"] = "serving"
    pod["metadata"]["labels"] = {
        "nvidia.com/dynamo-graph-deployment-name": "chat",
        "nvidia.com/dynamo-component": "decode",
    }
    gone = {**pod, "metadata": {**pod["metadata"], "resourceVersion": "12"}}

    async def then(bench: Bench) -> None:
        assert [each.pods for each in bench.snapshot.graphs[CHAT].components] == [1]
        await pass_time(1.0)
        assert [each.pods for each in bench.snapshot.graphs[CHAT].components] == [0]

    pods = begins_with(pod, then=(1.0, an_event("DELETED", gone)))
    virtually({"v1beta1": SERVED}, begins_with(BETA), then=then, pods=pods)

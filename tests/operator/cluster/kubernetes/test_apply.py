"""Writing what is desired of a graph, on a scripted API server: one patch, at the version that was decided on."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from hangar.domain.decision import (
    Accepted,
    Answer,
    Apply,
    Busy,
    Denied,
    Gone,
    Namesake,
    Trouble,
    Unknown,
    Withheld,
)
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.operator.cluster.kubernetes.adapter import KubernetesCluster
from tests.operator.cluster.kubernetes.documents import Document, a_bookmark, a_graph, a_refusal, an_event
from tests.operator.cluster.kubernetes.fake_server import (
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

OTHERS = 11
CHAT = GraphRef("serving", "chat")
PATHS = {
    version: f"/apis/nvidia.com/{version}/namespaces/serving/dynamographdeployments/chat"
    for version in ("v1beta1", "v1alpha1")
}
SERVED = Says(200, {"resources": [{"name": "dynamographdeployments"}]})
STEP = Apply(CHAT, "uid-chat", "7", 42, {"decode": 4})


def beta(at: int = 7, replicas: int = 2, **parts: Any) -> Document:
    return a_graph("v1beta1", at=at, components=[{"name": "web"}, {"name": "decode", "replicas": replicas}], **parts)


def alpha(at: int = 7, replicas: int = 2, **parts: Any) -> Document:
    return a_graph("v1alpha1", at=at, components={"decode": {"replicas": replicas}}, **parts)


class Bench:
    def __init__(self) -> None:
        self.server = FakeServer()
        self.cluster = KubernetesCluster(a_config(), LoopClock(), transport=self.server, jitter=middle)

    @property
    def snapshot(self) -> Snapshot:
        snapshot = self.cluster.snapshot()
        assert snapshot is not None
        return snapshot

    @property
    def graph(self) -> Graph:
        return self.snapshot.graphs[CHAT]

    async def perform(self, step: Apply, *script: Scripted) -> Answer:
        self.server.script = list(script)
        return await self.cluster.perform(step, lambda: None)


def virtually(
    then: Callable[[Bench], Coroutine[Any, Any, None]], *seen: Document, version: str | None = "v1beta1"
) -> None:
    """Run with these graphs seen, of the one version that is served; None serves none."""

    async def main() -> None:
        bench = Bench()
        if version is not None:
            bench.server.kinds[version] = SERVED
        empty = Streams((a_bookmark(10, is_end=True),))
        graphs = Streams((*(an_event("ADDED", each) for each in seen), a_bookmark(10, is_end=True)))
        bench.server.script = [*[empty] * OTHERS, graphs]
        task = asyncio.create_task(bench.cluster.run(asyncio.Event()))
        await pass_time(0.01)
        bench.server.asked.clear()
        try:
            await then(bench)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await bench.cluster.close()

    run_virtual(main())


@pytest.mark.parametrize(
    ("version", "document", "kind", "place"),
    [("v1beta1", beta, "json-patch", 1), ("v1alpha1", alpha, "merge-patch", 0)],
)
def test_counts_are_one_patch_and_what_it_returns_is_seen_at_once(
    version: str, document: Callable[..., Document], kind: str, place: int
) -> None:
    written = document(12, 4, metadata={"annotations": {"wingsmith.dev/applied-rev": "42"}})

    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, Says(200, written)) == Accepted()
        (asked,) = bench.server.asked
        assert (asked.method, asked.path) == ("PATCH", PATHS[version])
        assert asked.params == {"fieldManager": "hangar-operator"}
        assert asked.headers["content-type"] == f"application/{kind}+json"
        assert "7" in str(asked.body)
        assert (bench.graph.components[place].replicas, bench.graph.applied_rev, bench.graph.version) == (4, 42, "12")

    virtually(then, document(), version=version)


STALE = Says(409, a_refusal(409, "the object has been modified", kind="dynamographdeployments"))
UNTESTED = Says(422, a_refusal(422, "the server rejected our request due to an error in our request"))
MISSING = Says(404, a_refusal(404, "not found", kind="dynamographdeployments", name="chat"))


@pytest.mark.parametrize("refusal", [STALE, UNTESTED])
def test_a_graph_that_somebody_was_faster_to_change_is_a_conflict_and_nothing_is_tried_again(refusal: Says) -> None:
    async def then(bench: Bench) -> None:
        answer = await bench.perform(STEP, refusal, Says(200, beta(9)))
        assert isinstance(answer, Busy)
        assert answer.trouble is Trouble.CONFLICT
        assert [each.method for each in bench.server.asked] == ["PATCH", "GET"]

    virtually(then, beta())


def test_a_conflict_over_a_graph_that_is_gone_or_another_by_now_says_so() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, STALE, MISSING) == Gone()
        another = Says(200, beta(9, metadata={"uid": "another"}))
        assert await bench.perform(STEP, UNTESTED, another) == Namesake()
        unreadable = Breaks(httpx2.ConnectError("refused"))
        assert isinstance(await bench.perform(STEP, STALE, unreadable), Busy)

    virtually(then, beta())


def test_what_was_decided_on_an_older_graph_is_not_even_sent() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(replace(STEP, version="6")) == Busy(
            "graph serving/chat has changed since it was decided on", trouble=Trouble.CONFLICT
        )
        assert bench.server.asked == []

    virtually(then, beta())


def test_a_graph_that_was_not_seen_is_looked_at_first() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, MISSING) == Gone()
        assert await bench.perform(STEP, Says(200, beta(metadata={"uid": "another"}))) == Namesake()
        assert await bench.perform(STEP, Says(200, beta()), Says(200, beta(12, 4))) == Accepted()
        assert [each.method for each in bench.server.asked] == ["GET", "GET", "GET", "PATCH"]

    virtually(then)


def test_a_component_that_is_not_there_or_has_an_adapter_is_not_written() -> None:
    adapted = beta()
    adapted["spec"]["components"][1]["scalingAdapter"] = {}

    async def then(bench: Bench) -> None:
        unknown = replace(STEP, counts={"encode": 1})
        assert await bench.perform(unknown) == Denied("graph serving/chat has no component encode")
        answer = await bench.perform(STEP)
        assert isinstance(answer, Denied)
        assert "decode of graph serving/chat is its scaling adapter's" in answer.message
        assert bench.server.asked == []

    virtually(then, adapted)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            Says(403, a_refusal(403, "cannot patch", kind="dynamographdeployments")),
            Denied("403: cannot patch"),
        ),
        (
            Says(403, a_refusal(403, 'admission webhook "v.nvidia.com" denied the request: no')),
            Denied('403: admission webhook "v.nvidia.com" denied the request: no', by_webhook=True),
        ),
        (
            Says(422, a_refusal(422, "replicas: Invalid value: -1", causes=[{"reason": "FieldValueInvalid"}])),
            Denied("422: replicas: Invalid value: -1"),
        ),
        (
            Says(500, a_refusal(500, 'failed calling webhook "v.nvidia.com": connection refused')),
            Busy('500: failed calling webhook "v.nvidia.com": connection refused', trouble=Trouble.WEBHOOK),
        ),
        (
            Says(500, a_refusal(500, "conversion webhook for nvidia.com/v1beta1, Kind=X failed: refused")),
            Busy("500: conversion webhook for nvidia.com/v1beta1, Kind=X failed: refused", trouble=Trouble.WEBHOOK),
        ),
        (
            Says(503, a_refusal(503, "not now", reason="ServiceUnavailable")),
            Busy("503: not now", trouble=Trouble.UNAVAILABLE),
        ),
        (
            Says(500, a_refusal(500, "etcdserver: request timed out")),
            Busy("500: etcdserver: request timed out", trouble=Trouble.UNAVAILABLE),
        ),
        (Says(504, "no backend"), Busy("504: no backend", trouble=Trouble.UNAVAILABLE)),
        (Says(302, "log in first"), Unknown("302: log in first")),
        (Stalls(), Unknown("no reply within 8 s")),
        (Breaks(httpx2.ConnectError("refused")), Busy("not sent: ConnectError: refused")),
    ],
)
def test_what_a_reply_means(reply: Scripted, expected: Answer) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, reply) == expected

    virtually(then, beta())


def test_a_closed_gate_withholds_it() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.cluster.perform(STEP, lambda: "the lease is over") == Withheld("the lease is over")
        assert bench.server.asked == []

    virtually(then, beta())


def test_where_no_graphs_are_served_a_graph_is_gone_and_where_that_is_not_known_it_is_not() -> None:
    async def none_served(bench: Bench) -> None:
        assert await bench.perform(STEP) == Gone()

    async def not_known(bench: Bench) -> None:
        answer = await bench.perform(STEP)
        assert answer == Busy("not sent: dynamographdeployments: not read yet")

    virtually(none_served, version=None)

    async def main() -> None:
        bench = Bench()
        try:
            await not_known(bench)
        finally:
            await bench.cluster.close()

    run_virtual(main())

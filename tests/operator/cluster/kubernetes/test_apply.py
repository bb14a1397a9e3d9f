"""Writing what is desired of a graph, on a scripted API server: one patch, at the version that was decided on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from hangar.domain.decision import Accepted, Answer, Apply, Busy, Denied, Gone, Namesake, Trouble, Unknown, Withheld
from tests.operator.cluster.kubernetes.documents import Document, a_graph, a_refusal
from tests.operator.cluster.kubernetes.fake_server import Breaks, Says, Scripted, Stalls
from tests.operator.cluster.kubernetes.graph_bench import CHAT, MISSING, PATHS, STALE, Bench, virtually
from tests.virtual_loop import run_virtual

STEP = Apply(CHAT, "uid-chat", "7", 42, {"decode": 4})


def beta(at: int = 7, replicas: int = 2, **parts: Any) -> Document:
    return a_graph("v1beta1", at=at, components=[{"name": "web"}, {"name": "decode", "replicas": replicas}], **parts)


def alpha(at: int = 7, replicas: int = 2, **parts: Any) -> Document:
    return a_graph("v1alpha1", at=at, components={"decode": {"replicas": replicas}}, **parts)


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


@pytest.mark.parametrize(
    ("version", "document", "expected"),
    [
        (
            "v1beta1",
            beta,
            [
                {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
                {"op": "test", "path": "/spec/components/1/name", "value": "decode"},
                {"op": "add", "path": "/spec/components/1/replicas", "value": 4},
            ],
        ),
        (
            "v1alpha1",
            alpha,
            {"metadata": {"resourceVersion": "7"}, "spec": {"services": {"decode": {"replicas": 4}}}},
        ),
    ],
)
def test_without_a_revision_counts_alone_are_written(
    version: str, document: Callable[..., Document], expected: object
) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(replace(STEP, rev=None), Says(200, document(12, 4))) == Accepted()
        (asked,) = bench.server.asked
        assert asked.body == expected
        assert bench.graph.applied_rev is None

    virtually(then, document(), version=version)


@pytest.mark.parametrize(
    ("version", "document", "expected"),
    [
        (
            "v1beta1",
            beta,
            [
                {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
                {"op": "add", "path": "/metadata/annotations", "value": {}},
                {"op": "add", "path": "/metadata/annotations/wingsmith.dev~1applied-rev", "value": "42"},
            ],
        ),
        (
            "v1alpha1",
            alpha,
            {"metadata": {"resourceVersion": "7", "annotations": {"wingsmith.dev/applied-rev": "42"}}},
        ),
    ],
)
def test_without_counts_the_revision_alone_is_written(
    version: str, document: Callable[..., Document], expected: object
) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(replace(STEP, counts={}), Says(200, document(12))) == Accepted()
        (asked,) = bench.server.asked
        assert asked.body == expected

    virtually(then, document(), version=version)


UNTESTED = Says(422, a_refusal(422, "the server rejected our request due to an error in our request"))


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

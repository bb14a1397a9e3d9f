"""The reflector against every trouble a watch can have, in virtual time."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from itertools import pairwise
from typing import Any

import httpx2
import pytest

from hangar.domain.snapshot import Node
from hangar.operator.cluster.kubernetes.api import Api
from hangar.operator.cluster.kubernetes.mirror import Mirror
from hangar.operator.cluster.kubernetes.reflector import Reflector, lines
from hangar.operator.cluster.kubernetes.server_clock import ServerClock
from hangar.operator.cluster.kubernetes.watched import NODES
from tests.operator.cluster.kubernetes.documents import a_bookmark, a_node, a_page, a_refusal, an_event
from tests.operator.cluster.kubernetes.fake_server import (
    Breaks,
    FakeServer,
    Says,
    Scripted,
    Streams,
    a_config,
    middle,
)
from tests.virtual_loop import LoopClock, run_virtual

REFUSED = httpx2.ConnectError("refused")
RESET = httpx2.ReadError("reset")
BAD_REQUEST = Says(422, a_refusal(422, "sendInitialEvents is forbidden"))
EXPIRED = Says(410, a_refusal(410, "too old resource version", reason="Expired"))


class Bench:
    """One reflector of nodes, its fake server, and what it has mirrored."""

    def __init__(self, *script: Scripted) -> None:
        self.server = FakeServer(*script)
        self.nodes: dict[str, Node] = {}
        self.told = 0
        mirror: Mirror[Node] = Mirror(self._put, self._drop, lambda: None)
        api = Api(a_config(), ServerClock(LoopClock()), self.server)
        self.reflector = Reflector(NODES, api, mirror, self._tell, middle)

    @property
    def shown(self) -> set[str]:
        return {f"{node.uid}{'!' if node.unschedulable else ''}" for node in self.nodes.values()}

    def _put(self, node: Node) -> None:
        self.nodes[node.name] = node

    def _drop(self, node: Node) -> None:
        del self.nodes[node.name]

    def _tell(self) -> None:
        self.told += 1

    async def run_for(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.reflector.run()

    def params(self, name: str) -> list[str | None]:
        return [asked.params.get(name) for asked in self.server.asked]

    def pauses(self) -> list[float]:
        times = [asked.at_s for asked in self.server.asked]
        return [round(after - before, 3) for before, after in pairwise(times)]


def virtually(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


def start(*nodes: dict[str, Any], at: int = 10) -> tuple[bytes, ...]:
    return (*(an_event("ADDED", node) for node in nodes), a_bookmark(at, is_end=True))


# --- a start ----------------------------------------------------------------------------------------------------------


def test_a_watch_brings_all_objects_first_and_they_count_from_its_end_mark() -> None:
    async def main() -> None:
        node = an_event("ADDED", a_node("n1", version=4))
        bench = Bench(Streams((node, a_bookmark(7), 3.0, a_bookmark(10, is_end=True))))
        await bench.run_for(2.0)
        assert (bench.shown, bench.reflector.health.is_settled) == (set(), False)
        assert bench.reflector.health.unreadable() == "nodes: not read yet"

    virtually(main())

    async def later() -> None:
        node = an_event("ADDED", a_node("n1", version=4))
        bench = Bench(Streams((node, 3.0, a_bookmark(10, is_end=True))))
        await bench.run_for(4.0)
        assert (bench.shown, bench.reflector.health.is_complete, bench.told) == ({"uid-n1"}, True, 1)
        assert bench.reflector.health.unreadable() is None
        (asked,) = bench.server.asked
        assert asked.path == "/api/v1/nodes"
        assert asked.params == {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "sendInitialEvents": "true",
            "resourceVersionMatch": "NotOlderThan",
            "timeoutSeconds": "450",
        }

    virtually(later())


def test_objects_that_come_and_go_during_the_start_are_counted_as_they_are_at_its_end() -> None:
    async def main() -> None:
        pieces = (
            an_event("ADDED", a_node("n1", version=4)),
            an_event("ADDED", a_node("n2", version=5)),
            an_event("DELETED", a_node("n1", version=6)),
            an_event("MODIFIED", a_node("n2", version=7, unschedulable=True)),
            a_bookmark(7, is_end=True),
        )
        bench = Bench(Streams(pieces))
        await bench.run_for(1.0)
        assert bench.shown == {"uid-n2!"}

    virtually(main())


def test_a_server_that_cannot_begin_a_watch_with_objects_is_listed_page_by_page() -> None:
    async def main() -> None:
        bench = Bench(
            BAD_REQUEST,
            Says(200, a_page(20, a_node("n1"), then="next")),
            Says(200, a_page(20, a_node("n2"))),
            Streams((an_event("ADDED", a_node("n3", version=21)),)),
        )
        await bench.run_for(1.0)
        assert bench.shown == {"uid-n1", "uid-n2", "uid-n3"}
        assert bench.params("limit") == [None, "500", "500", None]
        assert bench.params("continue") == [None, None, "next", None]
        # Never "0", which would be a list out of somebody's cache.
        assert bench.params("resourceVersion") == [None, None, None, "20"]

    virtually(main())


def test_a_watch_without_an_end_mark_is_given_up_after_ten_seconds() -> None:
    async def main() -> None:
        bench = Bench(
            Streams((an_event("ADDED", a_node("n1")),)), Says(200, a_page(20, a_node("n1"))), Streams((RESET,)), EXPIRED
        )
        await bench.run_for(30.0)
        assert bench.shown == {"uid-n1"}
        assert bench.pauses()[:2] == [10.0, 0.0]
        assert "limit" in bench.server.asked[4].params  # it stays with lists

    virtually(main())


def test_a_list_too_slow_for_its_pages_is_taken_at_once() -> None:
    async def main() -> None:
        bench = Bench(
            BAD_REQUEST,
            Says(200, a_page(20, a_node("n1"), then="next")),
            EXPIRED,
            Says(200, a_page(25, a_node("n2"))),
        )
        await bench.run_for(1.0)
        assert bench.shown == {"uid-n2"}
        assert bench.params("limit")[3] is None
        assert bench.params("continue")[3] is None

    virtually(main())


# --- following --------------------------------------------------------------------------------------------------------


def test_every_word_of_the_server_counts_as_heard_a_bookmark_as_well() -> None:
    async def main() -> None:
        bench = Bench(Streams((*start(a_node("n1", version=4)), 30.0, a_bookmark(11), 300.0)))
        await bench.run_for(31.0)
        assert bench.reflector.health.watch().age_s == 1.0
        assert bench.reflector.health.watch().is_up

    virtually(main())


def test_changes_are_followed_on_the_same_watch() -> None:
    async def main() -> None:
        pieces = (
            an_event("ADDED", a_node("n2", version=11)),
            an_event("MODIFIED", a_node("n1", version=12, unschedulable=True)),
            an_event("DELETED", a_node("n2", version=13)),
        )
        bench = Bench(Streams((*start(a_node("n1")), 60.0, *pieces)))
        await bench.run_for(61.0)
        assert bench.shown == {"uid-n1!"}
        assert len(bench.server.asked) == 1

    virtually(main())


def test_a_watch_that_ends_goes_on_from_the_last_version_without_a_pause() -> None:
    async def main() -> None:
        bench = Bench(
            Streams((*start(a_node("n1")), 60.0, a_bookmark(40), 30.0), ends=True),
            Streams((an_event("ADDED", a_node("n2", version=41)), 60.0), ends=True),
        )
        await bench.run_for(200.0)
        assert bench.shown == {"uid-n1", "uid-n2"}
        assert bench.params("resourceVersion") == [None, "40", "41"]
        assert bench.pauses() == [90.0, 60.0]

    virtually(main())


def test_a_watch_that_ends_at_once_again_and_again_is_not_hammered() -> None:
    async def main() -> None:
        bench = Bench(Streams(start(), ends=True), *[Streams((), ends=True)] * 9)
        await bench.run_for(60.0)
        assert bench.pauses()[:8] == [0.15, 0.3, 0.6, 1.2, 2.4, 4.8, 7.5, 7.5]

    virtually(main())


@pytest.mark.parametrize(
    "expiry",
    [
        EXPIRED,
        Streams((an_event("ERROR", a_refusal(410, "too old resource version", reason="Expired")),)),
        Says(504, a_refusal(504, "Too large", causes=[{"reason": "ResourceVersionTooLarge", "message": "x"}])),
    ],
)
def test_a_version_the_server_does_not_know_any_more_makes_us_read_all_anew(expiry: Scripted) -> None:
    async def main() -> None:
        bench = Bench(
            Streams((*start(a_node("n1"), a_node("n2")), 30.0), ends=True),
            expiry,
            Streams(start(a_node("n2", version=30), a_node("n3", version=31), at=40)),
        )
        await bench.run_for(40.0)
        assert bench.shown == {"uid-n2", "uid-n3"}
        assert bench.params("sendInitialEvents") == ["true", None, "true"]

    virtually(main())


def test_a_line_cut_anywhere_is_read_whole() -> None:
    async def main() -> None:
        whole = b"".join(start(a_node("n1"), a_node("n2")))
        for size in (1, 7, 100):
            bench = Bench(Streams(tuple(whole[i : i + size] for i in range(0, len(whole), size))))
            await bench.run_for(1.0)
            assert bench.shown == {"uid-n1", "uid-n2"}

    virtually(main())


def test_a_line_of_megabytes_is_one_line() -> None:
    async def main() -> None:
        line = b"x" * 2**21

        async def chunks() -> Any:
            for i in range(0, len(line), 65536):
                yield line[i : i + 65536]
            yield b"\nshort\n\n"

        assert [each async for each in lines(chunks())] == [line, b"short"]

    virtually(main())


# --- trouble ----------------------------------------------------------------------------------------------------------


def test_a_connection_that_died_in_silence_is_replaced() -> None:
    """C89: a server that stops sending and keeps the connection open is noticed."""

    async def main() -> None:
        bench = Bench(Streams((*start(a_node("n1")), 50.0, a_bookmark(20))), Streams((a_bookmark(21),)))
        await bench.run_for(140.0)
        assert bench.params("resourceVersion") == [None, "20"]
        assert bench.pauses() == [pytest.approx(50.0 + 82.5 + 0.15)]
        assert bench.reflector.health.unreadable() is None

    virtually(main())


def test_a_short_break_is_nobodys_business_and_a_long_one_is_told() -> None:
    async def main() -> None:
        bench = Bench(Streams((*start(a_node("n1")), 30.0, RESET)), *[Breaks(REFUSED)] * 100)
        await bench.run_for(32.0)
        assert bench.reflector.health.unreadable() is None
        told = bench.told
        task = asyncio.create_task(bench.run_for(10.0))
        await task
        assert bench.reflector.health.unreadable() == "nodes: ConnectError: refused"
        assert bench.shown == {"uid-n1"}  # unknown is not gone
        assert bench.told > told
        bench.server.script = [Streams((a_bookmark(50),))]
        await bench.run_for(11.0)
        assert bench.reflector.health.unreadable() is None

    virtually(main())


def test_a_list_that_fails_after_an_expiry_is_told_at_once() -> None:
    async def main() -> None:
        bench = Bench(Streams((*start(a_node("n1")), 30.0), ends=True), EXPIRED, Breaks(REFUSED))
        await bench.run_for(31.0)
        assert bench.reflector.health.unreadable() == "nodes: ConnectError: refused"

    virtually(main())


def test_what_we_may_not_list_is_said_and_does_not_hold_up_the_rest() -> None:
    async def main() -> None:
        forbidden = Says(403, a_refusal(403, "nodes is forbidden: User cannot list", kind="nodes"))
        bench = Bench(forbidden, forbidden)
        await bench.run_for(0.2)
        assert (bench.reflector.health.is_settled, bench.reflector.health.is_complete) == (True, False)
        assert bench.reflector.health.unreadable() == "nodes: 403: nodes is forbidden: User cannot list"
        bench.server.script = [Streams(start(a_node("n1")))]
        await bench.run_for(1.0)  # granted meanwhile
        assert (bench.reflector.health.is_complete, bench.reflector.health.unreadable(), bench.shown) == (
            True,
            None,
            {"uid-n1"},
        )

    virtually(main())


@pytest.mark.parametrize("code", [429, 503])
def test_a_server_that_says_when_to_come_back_is_believed(code: int) -> None:
    async def main() -> None:
        bench = Bench(Says(code, "slow down", {"Retry-After": "7"}), Streams(start()))
        await bench.run_for(20.0)
        assert bench.pauses() == [7.0]

    virtually(main())


def test_an_error_in_the_stream_that_is_no_expiry_goes_on_from_where_it_was() -> None:
    async def main() -> None:
        error = an_event("ERROR", a_refusal(500, "etcd is unwell"))
        bench = Bench(Streams((*start(a_node("n1")), 30.0, error)), Streams(()))
        await bench.run_for(31.0)
        assert bench.params("resourceVersion") == [None, "10"]
        assert bench.shown == {"uid-n1"}

    virtually(main())


def test_a_stream_that_breaks_at_its_first_event_each_time_is_no_recovery() -> None:
    async def main() -> None:
        error = an_event("ERROR", a_refusal(500, "etcd is unwell"))
        bench = Bench(Streams((*start(a_node("n1")), 30.0, error)), *[Streams((error,))] * 50)
        await bench.run_for(40.0)
        assert bench.reflector.health.unreadable() == "nodes: 500: etcd is unwell"

    virtually(main())


def test_an_object_that_we_cannot_understand_makes_the_kind_unreadable_and_says_where() -> None:
    async def main() -> None:
        odd = a_node("n1", version=11, unschedulable="perhaps")
        bench = Bench(Streams((*start(), 2.0, an_event("ADDED", odd))))
        bench.server.script += [Streams((an_event("ADDED", odd),))] * 50
        await bench.run_for(20.0)
        assert "Expected `bool`, got `str` - at `$.spec.unschedulable`" in (bench.reflector.health.unreadable() or "")
        bench.server.script = [Streams((an_event("ADDED", a_node("n1", version=12)),))]
        await bench.run_for(20.0)
        assert (bench.reflector.health.unreadable(), bench.shown) == (None, {"uid-n1"})

    virtually(main())


def test_pauses_double_up_to_a_limit_and_begin_anew_after_a_good_watch() -> None:
    async def main() -> None:
        bench = Bench(*[Breaks(REFUSED)] * 9, Streams((*start(), 60.0, RESET)), Streams(()))
        await bench.run_for(120.0)
        assert bench.pauses() == pytest.approx([0.15, 0.3, 0.6, 1.2, 2.4, 4.8, 7.5, 7.5, 7.5, 60.15])

    virtually(main())

"""Deleting a graph that is ours, on a scripted API server."""

import httpx2
import pytest

from hangar.domain.decision import Accepted, Answer, Busy, Denied, Gone, Namesake, Remove, Trouble, Unknown, Withheld
from tests.operator.cluster.kubernetes.documents import Document, a_graph, a_refusal
from tests.operator.cluster.kubernetes.fake_server import Breaks, Says, Scripted, Stalls
from tests.operator.cluster.kubernetes.graph_bench import CHAT, MISSING, PATHS, PLURALS, Bench, virtually

STEP = Remove(CHAT, "uid-chat")
DONE = Says(200, {"kind": "Status", "status": "Success"})


def ours(version: str = "v1beta1", at: int = 9, **metadata: object) -> Document:
    return a_graph(version, at=at, metadata={"annotations": {"wingsmith.dev/workload": "chat-eu"}, **metadata})


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"])
def test_it_is_read_and_deleted_as_it_was_read(version: str) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, Says(200, ours(version)), DONE) == Accepted()
        read, deleted = bench.server.asked
        assert (read.method, read.path) == ("GET", PATHS[version])
        assert (deleted.method, deleted.path) == ("DELETE", PATHS[version])
        assert deleted.body == {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": {"uid": "uid-chat", "resourceVersion": "9"},
            "propagationPolicy": "Background",
        }

    virtually(then, ours(version, at=7), version=version)


def test_one_that_is_not_ours_by_now_is_left_alone_whatever_was_seen() -> None:
    async def then(bench: Bench) -> None:
        answer = await bench.perform(STEP, Says(200, a_graph("v1beta1", at=9)))
        assert answer == Denied(
            "graph serving/chat was not created by Wingsmith, as it does not carry the annotation "
            "wingsmith.dev/workload: it is left alone"
        )
        assert [each.method for each in bench.server.asked] == ["GET"]

    virtually(then, ours(at=7))


def test_one_that_is_gone_another_one_and_one_that_goes_already_are_not_deleted() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, MISSING) == Gone()
        assert await bench.perform(STEP, Says(200, ours(uid="another"))) == Namesake()
        going = ours(deletionTimestamp="2026-10-27T12:00:00Z")
        assert await bench.perform(STEP, Says(200, going)) == Accepted()
        assert [each.method for each in bench.server.asked] == ["GET", "GET", "GET"]

    virtually(then, ours(at=7))


UID = "the UID in the precondition (1) does not match the UID in record (2)"
VERSION = "the ResourceVersion in the precondition (9) does not match the ResourceVersion in record (10)"
DENIAL = 'admission webhook "v.nvidia.com" denied the request: no'


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Says(409, a_refusal(409, UID)), Namesake()),
        (Says(409, a_refusal(409, VERSION)), Busy(f"409: {VERSION}", trouble=Trouble.CONFLICT)),
        (MISSING, Gone()),
        (Says(403, a_refusal(403, "cannot delete", kind=PLURALS[0])), Denied("403: cannot delete")),
        (Says(403, a_refusal(403, DENIAL)), Denied(f"403: {DENIAL}", by_webhook=True)),
        (Says(500, a_refusal(500, "etcdserver: timed out")), Busy("500: etcdserver: timed out")),
        (Stalls(), Unknown("no reply within 8 s")),
        (Breaks(httpx2.ConnectError("refused")), Busy("not sent: ConnectError: refused")),
    ],
)
def test_what_a_reply_means(reply: Scripted, expected: Answer) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, Says(200, ours()), reply) == expected

    virtually(then, ours(at=7))


def test_what_cannot_be_understood_is_not_deleted() -> None:
    async def then(bench: Bench) -> None:
        answer = await bench.perform(STEP, Says(200, {"metadata": {"name": "chat"}}))
        assert isinstance(answer, Busy)
        assert len(bench.server.asked) == 1

    virtually(then, ours(at=7))


def test_a_closed_gate_withholds_it() -> None:
    async def then(bench: Bench) -> None:
        bench.server.script = [Says(200, ours())]
        assert await bench.cluster.perform(STEP, lambda: "the lease is over") == Withheld("the lease is over")
        assert [each.method for each in bench.server.asked] == ["GET"]

    virtually(then, ours(at=7))


def test_where_no_graphs_are_served_it_is_gone() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP) == Gone()

    virtually(then, version=None)

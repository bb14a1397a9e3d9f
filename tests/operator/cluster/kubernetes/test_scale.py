"""Writing a component's number to its scaling adapter, on a scripted API server."""

from dataclasses import replace

import httpx2
import pytest

from hangar.domain.decision import Accepted, Answer, Busy, Denied, Gone, Namesake, Scale, Trouble, Unknown, Withheld
from hangar.domain.workloads.graph import Adapter
from tests.operator.cluster.kubernetes.documents import Document, a_graph, a_refusal, an_adapter
from tests.operator.cluster.kubernetes.fake_server import Breaks, Says, Scripted, Stalls
from tests.operator.cluster.kubernetes.graph_bench import CHAT, PLURALS, Bench, virtually

STEP = Scale(CHAT, "decode", "chat-decode", "uid-chat-decode", "7", 5)
BETA = a_graph("v1beta1", components=[{"name": "decode", "replicas": 2, "scalingAdapter": {}}])
ALPHA = a_graph("v1alpha1", components={"decode": {"replicas": 2, "scalingAdapter": {"enabled": True}}})

STALE = Says(409, a_refusal(409, "the object has been modified", kind=PLURALS[1]))
MISSING = Says(404, a_refusal(404, "not found", kind=PLURALS[1], name="chat-decode"))


def a_scale(at: int = 12, replicas: int = 5, uid: str = "uid-chat-decode") -> Says:
    metadata = {"namespace": "serving", "name": "chat-decode", "uid": uid, "resourceVersion": str(at)}
    return Says(200, {"kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas}, "status": {"replicas": 2}})


def adapter_of(bench: Bench) -> Adapter | None:
    (component,) = bench.graph.components
    return component.adapter


@pytest.mark.parametrize(("version", "graph"), [("v1beta1", BETA), ("v1alpha1", ALPHA)])
def test_a_number_goes_to_the_scale_and_is_seen_at_once_while_the_graph_follows_later(
    version: str, graph: Document
) -> None:
    async def then(bench: Bench) -> None:
        assert adapter_of(bench) == Adapter("chat-decode", "uid-chat-decode", "7", 2)
        assert await bench.perform(STEP, a_scale()) == Accepted()
        (asked,) = bench.server.asked
        name = f"/apis/nvidia.com/{version}/namespaces/serving/dynamographdeploymentscalingadapters/chat-decode/scale"
        assert (asked.method, asked.path, asked.params) == ("PATCH", name, {"fieldManager": "hangar-operator"})
        assert asked.headers["content-type"] == "application/merge-patch+json"
        assert asked.body == {"metadata": {"resourceVersion": "7"}, "spec": {"replicas": 5}}
        assert adapter_of(bench) == Adapter("chat-decode", "uid-chat-decode", "12", 5, "hangar-operator")
        assert bench.graph.components[0].replicas == 2

    virtually(then, graph, adapters=(an_adapter(version, at=7),), version=version)


def test_a_number_that_it_had_already_keeps_its_owner() -> None:
    adapter = an_adapter("v1beta1", at=7)
    adapter["metadata"]["managedFields"] = [{"manager": "kim", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]

    async def then(bench: Bench) -> None:
        assert await bench.perform(replace(STEP, replicas=2), a_scale(12, 2)) == Accepted()
        assert adapter_of(bench) == Adapter("chat-decode", "uid-chat-decode", "12", 2, "kim")

    virtually(then, BETA, adapters=(adapter,))


def test_what_was_decided_on_an_older_adapter_is_not_even_sent() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(replace(STEP, version="6")) == Busy(
            "adapter chat-decode has changed since it was decided on", trouble=Trouble.CONFLICT
        )
        assert bench.server.asked == []

    virtually(then, BETA, adapters=(an_adapter("v1beta1", at=7),))


def test_a_conflict_is_looked_into_and_not_tried_again() -> None:
    async def then(bench: Bench) -> None:
        answer = await bench.perform(STEP, STALE, a_scale(9, 3))
        assert isinstance(answer, Busy)
        assert answer.trouble is Trouble.CONFLICT
        assert [each.method for each in bench.server.asked] == ["PATCH", "GET"]
        assert await bench.perform(STEP, STALE, a_scale(9, 3, uid="another")) == Namesake()
        assert await bench.perform(STEP, STALE, MISSING) == Gone()
        assert isinstance(await bench.perform(STEP, STALE, Breaks(httpx2.ConnectError("refused"))), Busy)

    virtually(then, BETA, adapters=(an_adapter("v1beta1", at=7),))


def test_an_adapter_that_was_not_seen_is_written_under_the_same_condition() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, MISSING) == Gone()
        assert adapter_of(bench) is None
        assert await bench.perform(STEP, a_scale()) == Accepted()
        assert adapter_of(bench) == Adapter("chat-decode", "uid-chat-decode", "12", 5, "hangar-operator")

    virtually(then, BETA)


DENIAL = 'admission webhook "v.nvidia.com" denied the request: no'
SILENCE = 'failed calling webhook "v.nvidia.com": connection refused'


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Says(403, a_refusal(403, "cannot patch", kind=PLURALS[1])), Denied("403: cannot patch")),
        (Says(403, a_refusal(403, DENIAL)), Denied(f"403: {DENIAL}", by_webhook=True)),
        (Says(422, a_refusal(422, "replicas: -1", causes=[{"reason": "Invalid"}])), Denied("422: replicas: -1")),
        (Says(500, a_refusal(500, SILENCE)), Busy(f"500: {SILENCE}", trouble=Trouble.WEBHOOK)),
        (Says(500, a_refusal(500, "etcdserver: timed out")), Busy("500: etcdserver: timed out")),
        (Stalls(), Unknown("no reply within 8 s")),
        (Breaks(httpx2.ConnectError("refused")), Busy("not sent: ConnectError: refused")),
        (Says(200, "<html>hello</html>"), Accepted()),
    ],
)
def test_what_a_reply_means(reply: Scripted, expected: Answer) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP, reply) == expected

    virtually(then, BETA, adapters=(an_adapter("v1beta1", at=7),))


def test_a_closed_gate_withholds_it() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.cluster.perform(STEP, lambda: "the lease is over") == Withheld("the lease is over")
        assert bench.server.asked == []

    virtually(then, BETA, adapters=(an_adapter("v1beta1", at=7),))


def test_where_no_adapters_are_served_an_adapter_is_gone() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(STEP) == Gone()

    virtually(then, version=None)

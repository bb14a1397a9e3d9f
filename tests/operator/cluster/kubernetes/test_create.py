"""Creating a graph from a template, on a scripted API server."""

from dataclasses import replace
from typing import Any

import httpx2
import pytest

from hangar.domain.decision import Accepted, Answer, Busy, Create, Denied, Trouble, Unknown, Withheld
from hangar.domain.ids import WorkloadName
from hangar.domain.workloads.graph import GraphRef
from tests.operator.cluster.kubernetes.documents import Document, a_graph, a_refusal
from tests.operator.cluster.kubernetes.fake_server import Breaks, Says, Scripted, Stalls
from tests.operator.cluster.kubernetes.graph_bench import CHAT, PLURALS, SERVED, Bench, virtually

OURS = {"wingsmith.dev/applied-rev": "42", "wingsmith.dev/workload": "chat-eu"}
BETA = {
    "apiVersion": "nvidia.com/v1beta1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "template", "labels": {"team": "chat"}},
    "spec": {
        "backendFramework": "vllm",
        "components": [
            {"name": "Frontend", "type": "frontend", "replicas": 1},
            {"name": "decode", "type": "decode", "podTemplate": {"spec": {}}},
        ],
    },
}
ALPHA = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "DynamoGraphDeployment",
    "spec": {"services": {"Frontend": {"replicas": 1}, "decode": {"componentType": "worker"}}},
}


def a_step(template: Document = BETA, **counts: int) -> Create:
    return Create(CHAT, 42, counts or {"decode": 4}, WorkloadName("chat-eu"), template)


def created(version: str = "v1beta1", at: int = 12) -> Says:
    components: Any = {"decode": {"replicas": 4}}
    if version == "v1beta1":
        components = [{"name": "decode", "replicas": 4}]
    return Says(201, a_graph(version, at=at, components=components, metadata={"annotations": OURS}))


def test_the_template_is_sent_with_its_name_counts_and_our_marks_and_is_seen_at_once() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(a_step(), created()) == Accepted()
        (asked,) = bench.server.asked
        assert (asked.method, asked.path) == (
            "POST",
            "/apis/nvidia.com/v1beta1/namespaces/serving/dynamographdeployments",
        )
        assert asked.params == {"fieldManager": "hangar-operator"}
        assert asked.body == {
            "apiVersion": "nvidia.com/v1beta1",
            "kind": "DynamoGraphDeployment",
            "metadata": {
                "name": "chat",
                "namespace": "serving",
                "labels": {"team": "chat"},
                "annotations": OURS,
            },
            "spec": {
                "backendFramework": "vllm",
                "components": [
                    {"name": "Frontend", "type": "frontend", "replicas": 1},
                    {"name": "decode", "type": "decode", "podTemplate": {"spec": {}}, "replicas": 4},
                ],
            },
        }
        assert (bench.graph.is_ours, bench.graph.applied_rev, bench.graph.version) == (True, 42, "12")

    virtually(then)


def test_an_older_template_goes_out_in_its_own_version_where_both_are_served_and_is_written_in_it() -> None:
    async def then(bench: Bench) -> None:
        bench.server.kinds["v1alpha1"] = SERVED
        await bench.look_again()
        assert await bench.perform(a_step(ALPHA, decode=4, Frontend=2), created("v1alpha1")) == Accepted()
        (asked,) = bench.server.asked
        assert asked.path == "/apis/nvidia.com/v1alpha1/namespaces/serving/dynamographdeployments"
        assert asked.body["spec"] == {
            "services": {"Frontend": {"replicas": 2}, "decode": {"componentType": "worker", "replicas": 4}}
        }
        assert bench.graph.api_version == "nvidia.com/v1alpha1"

    virtually(then)


def test_what_only_the_object_has_that_the_template_was_made_of_is_left_out() -> None:
    template = a_graph("v1beta1", components=[{"name": "decode"}], status={"state": "successful"})
    template["metadata"] |= {
        "ownerReferences": [{"kind": "X", "name": "x", "uid": "1"}],
        "managedFields": [],
        "creationTimestamp": "2026-10-27T12:00:00Z",
        "annotations": {"team": "chat", "wingsmith.dev/workload": "another"},
    }

    async def then(bench: Bench) -> None:
        assert await bench.perform(a_step(template), created()) == Accepted()
        (asked,) = bench.server.asked
        assert asked.body["metadata"] == {
            "name": "chat",
            "namespace": "serving",
            "annotations": {"team": "chat", **OURS},
        }
        assert "status" not in asked.body

    virtually(then)


OF = "the template of graph serving/chat"


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (
            ALPHA,
            f"{OF} is a DynamoGraphDeployment of nvidia.com/v1alpha1, and this cluster serves DynamoGraphDeployment as "
            "nvidia.com/v1beta1",
        ),
        (
            {"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoModel"},
            f"{OF} is a DynamoModel of nvidia.com/v1beta1, and this cluster serves DynamoGraphDeployment as "
            "nvidia.com/v1beta1",
        ),
        (BETA | {"spec": {"components": []}}, f"{OF} cannot be used: spec.components lacks decode"),
        (BETA | {"spec": {}}, f"{OF} cannot be used: spec.components: Expected `array`, got `null`"),
        (BETA | {"spec": None}, f"{OF} cannot be used: spec: Expected `object`, got `null`"),
        (BETA | {"metadata": "chat"}, f"{OF} cannot be used: metadata: Expected `object`, got `str`"),
        (
            BETA | {"spec": {"components": ["decode"]}},
            f"{OF} cannot be used: spec.components: Expected `object`, got `str` - at `$[0]`",
        ),
    ],
)
def test_a_template_that_cannot_be_used_here_is_refused_and_says_why(template: Document, why: str) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(a_step(template)) == Denied(why)
        assert bench.server.asked == []

    virtually(then)


def test_an_older_template_lacks_a_component_likewise() -> None:
    async def then(bench: Bench) -> None:
        answer = await bench.perform(a_step(ALPHA, decode=1, prefill=1, encode=1))
        assert answer == Denied(f"{OF} cannot be used: spec.services lacks encode, prefill")

    virtually(then, version="v1alpha1")


def test_where_dynamo_is_not_installed_it_is_refused_and_while_that_is_not_known_it_waits() -> None:
    async def not_installed(bench: Bench) -> None:
        answer = await bench.perform(a_step())
        assert isinstance(answer, Denied)
        assert answer.message.endswith("this cluster serves no DynamoGraphDeployment: Dynamo is not installed in it")

    async def not_known(bench: Bench) -> None:
        assert await bench.perform(a_step()) == Busy("not sent: dynamographdeployments: 503: not now")

    virtually(not_installed, version=None)
    virtually(not_known, kinds=Says(503, a_refusal(503, "not now")))


TAKEN = a_refusal(409, 'dynamographdeployments.nvidia.com "chat" already exists', reason="AlreadyExists")
NOWHERE = a_refusal(404, 'namespaces "serving" not found', kind="namespaces", name="serving")
DENIAL = 'admission webhook "v.nvidia.com" denied the request: no image'
SILENCE = 'failed calling webhook "v.nvidia.com": connection refused'
ENDING = a_refusal(403, "is being terminated", causes=[{"reason": "NamespaceTerminating"}])


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Says(409, TAKEN), Busy(f"409: {TAKEN['message']}", trouble=Trouble.CONFLICT)),
        (Says(404, NOWHERE), Denied('404: namespaces "serving" not found')),
        (Says(404, "404 page not found"), Busy("404: 404 page not found")),
        (Says(403, ENDING), Busy("403: is being terminated", trouble=Trouble.NAMESPACE_TERMINATING)),
        (Says(403, a_refusal(403, "cannot create", kind=PLURALS[0])), Denied("403: cannot create")),
        (Says(422, a_refusal(422, "spec: required")), Denied("422: spec: required")),
        (Says(400, a_refusal(400, DENIAL)), Denied(f"400: {DENIAL}", by_webhook=True)),
        (Says(500, a_refusal(500, SILENCE)), Busy(f"500: {SILENCE}", trouble=Trouble.WEBHOOK)),
        (Says(500, a_refusal(500, "etcdserver: timed out")), Busy("500: etcdserver: timed out")),
        (Stalls(), Unknown("no reply within 8 s")),
        (Breaks(httpx2.ConnectError("refused")), Busy("not sent: ConnectError: refused")),
        (Says(201, "<html>hello</html>"), Accepted()),
    ],
)
def test_what_a_reply_means(reply: Scripted, expected: Answer) -> None:
    async def then(bench: Bench) -> None:
        assert await bench.perform(a_step(), reply) == expected

    virtually(then)


def test_a_closed_gate_withholds_it() -> None:
    async def then(bench: Bench) -> None:
        assert await bench.cluster.perform(a_step(), lambda: "the lease is over") == Withheld("the lease is over")
        assert bench.server.asked == []

    virtually(then)


def test_the_name_and_the_place_are_the_steps_own() -> None:
    async def then(bench: Bench) -> None:
        step = replace(a_step(), graph=GraphRef("elsewhere", "talk"))
        await bench.perform(step, Says(409, TAKEN))
        (asked,) = bench.server.asked
        assert asked.path == "/apis/nvidia.com/v1beta1/namespaces/elsewhere/dynamographdeployments"
        assert (asked.body["metadata"]["namespace"], asked.body["metadata"]["name"]) == ("elsewhere", "talk")

    virtually(then)

"""The hub's /metrics: who may read it, what it counts, and that no name of a target is in it."""

import asyncio

import httpx2
import pytest
from structlog.testing import capture_logs

from hangar.hub.store.writer import StoreUnavailableError
from hangar.telemetry.metrics import HUB
from hangar.wire.operator import BlockerDoc
from tests.hub.api.client import Api
from tests.hub.world import a_progress
from tests.telemetry.figures import figures_in


@pytest.fixture
def api() -> Api:
    return Api()


def figures(api: Api) -> dict[str, float]:
    api.world.now_us += 1_000_000  # past what is remembered from the last time
    answer = api.get("/metrics", role=None)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return figures_in(answer.text)


def test_every_metric_that_is_defined_is_served(api: Api) -> None:
    text = api.get("/metrics", role=None).text
    assert [each.name for each in HUB if f"# TYPE {each.name} {each.sort}\n" not in text] == []


def test_an_operation_is_counted_through_its_phases_and_its_time_taken(api: Api) -> None:
    id_ = api.create()["id"]
    told = figures(api)
    assert told['hangar_operations_open{phase="pending",type="node.drain"}'] == 1
    assert told['hangar_operation_open_seconds{phase="pending",type="node.drain"}'] == 1.0
    api.operator.say(id_, progress=a_progress(0, blockers=[BlockerDoc(code="loading", subject="a", message="")]))
    told = figures(api)
    assert told['hangar_operation_blocked_seconds{code="loading",type="node.drain"}'] == 1.0
    api.operator.say(id_, "failed")
    told = figures(api)
    for phase in ("pending", "running", "failed"):
        assert told[f'hangar_operations_total{{phase="{phase}",type="node.drain"}}'] == 1
    assert told['hangar_operation_duration_seconds_sum{phase="failed",type="node.drain"}'] == 2.0
    assert [name for name in told if name.startswith(("hangar_operations_open", "hangar_operation_blocked"))] == []


def test_requests_are_counted_by_the_templates_of_their_routes(api: Api) -> None:
    api.get("/v1/operations/op_1")
    api.get("/v1/operations/op_2")
    api.get("/made/up")
    api.request("BREW", "/v1/nodes")
    api.post("/v1/operator/sync", {})
    told = figures(api)
    counted = {name: value for name, value in told.items() if name.startswith("hangar_http_requests_total")}
    assert counted == {
        'hangar_http_requests_total{code="404",method="GET",route="/v1/operations/{id}"}': 2,
        'hangar_http_requests_total{code="404",method="GET",route="other"}': 1,
        'hangar_http_requests_total{code="405",method="other",route="/v1/nodes"}': 1,
        'hangar_http_requests_total{code="403",method="POST",route="/v1/operator/sync"}': 1,
    }


def test_commits_refusals_and_events_are_counted(api: Api) -> None:
    before = figures(api)
    api.create()
    api.post("/v1/operations", {"type": "node.drain", "target": "iad-1-n01"})
    told = figures(api)
    grown = {name: told[name] - before.get(name, 0) for name in told if told[name] != before.get(name, 0)}
    assert grown['hangar_store_writes_total{outcome="committed"}'] == 1
    assert grown['hangar_store_writes_total{outcome="refused"}'] == 1
    assert grown["hangar_store_write_seconds_count"] == 2
    assert grown['hangar_events_total{type="operation.created"}'] == 1


def test_those_who_wait_are_counted_while_they_do(api: Api) -> None:
    id_ = api.world.create()

    async def talk(client: httpx2.AsyncClient) -> str:
        waiting = asyncio.create_task(client.get(f"/v1/operations/{id_}/wait"))
        await api.parked()
        seen = (await client.get("/metrics")).text
        api.world.cancel(id_)
        await waiting
        return seen

    assert figures_in(api.run(talk))["hangar_waiters"] == 1
    assert figures(api)["hangar_waiters"] == 0


def test_a_store_in_trouble_leaves_the_figures_of_the_fleet_out(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.create()
    assert figures(api)["hangar_store_up"] == 1

    async def refuse(_: object) -> None:
        raise StoreUnavailableError("the disk failed")

    with monkeypatch.context() as patched:
        patched.setattr(api.world.store, "read_async", refuse)
        told = figures(api)
    assert told["hangar_store_up"] == 0
    assert [name for name in told if name.startswith(("hangar_operations_open", "hangar_clusters"))] == []
    assert told['hangar_operations_total{phase="pending",type="node.drain"}'] == 1
    assert figures(api)['hangar_clusters{state="online"}'] == 1


def test_asking_often_reads_the_store_once_a_second(api: Api) -> None:
    figures(api)
    id_ = api.world.create()
    assert "hangar_operations_open{" not in api.get("/metrics", role=None).text
    assert figures(api)['hangar_operations_open{phase="pending",type="node.drain"}'] == 1
    assert id_


def test_no_name_of_a_target_a_person_or_a_reason_is_told(api: Api) -> None:
    id_ = api.create(reason="because")["id"]
    blocker = BlockerDoc(code="loading", subject="deployment serving/llama", message="")
    api.operator.say(id_, progress=a_progress(0, blockers=[blocker]))
    api.world.pass_s(1)
    text = api.get("/metrics", role=None).text
    assert 'cluster="iad-1"' in text
    assert [word for word in ("iad-1-n0", "admin", "because", "llama", id_) if word in text] == []


def test_lines_of_what_a_request_brought_about_carry_its_id_and_its_operation(api: Api) -> None:
    with capture_logs() as lines:
        answer = api.post(
            "/v1/operations", {"type": "node.drain", "target": "iad-1-n01"}, headers={"X-Request-Id": "r7"}
        )
    (created,) = [each for each in lines if each["event"] == "operation.created"]
    assert (created["request"], created["operation"]) == ("r7", answer.json()["id"])


def test_the_line_of_an_end_says_why(api: Api) -> None:
    id_ = api.create()["id"]
    with capture_logs() as lines:
        api.operator.say(id_, "failed")
    (ended,) = [each for each in lines if each["event"] == "operation.failed"]
    assert (ended["operation"], ended["code"], ended["why"]) == (id_, "done", "it failed")

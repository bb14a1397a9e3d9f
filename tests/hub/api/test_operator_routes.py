"""The operators' routes, as bytes: the same use cases, parked syncs, tolerant reading."""

import asyncio
from typing import Any

import httpx2
import msgspec
import pytest
from structlog.testing import capture_logs

from hangar.hub.principals import Role
from hangar.hub.store.writer import StoreUnavailableError
from hangar.wire.operator import ReportAnswer, SessionGrant, SyncAnswer, SyncRequest
from tests.hub.api.client import Api, problem_of
from tests.hub.sites import Fleet
from tests.hub.world import VERSIONS, World, a_node

SESSION = {
    "protocol": 1,
    "cluster_uid": "uid-iad-1",
    "incarnation": "second",
    "kinds": VERSIONS,
    "allowed": ["cordon", "drain"],
    "from_a_later_version": {"is": "let through"},
}


@pytest.fixture
def api() -> Api:
    return Api()


def sync_request(api: Api, seen: int = 0, wait_s: float = 0.0) -> SyncRequest:
    grant = api.operator.grant
    return SyncRequest(session=grant.session, epoch=grant.epoch, seen=seen, wait_s=wait_s)


def call(api: Api, name: str, body: object) -> httpx2.Response:
    return api.post(f"/v1/operator/{name}", body, role=Role.OPERATOR)


def test_an_operator_goes_from_session_to_release(api: Api) -> None:
    api.operator.release()
    grant = msgspec.json.decode(call(api, "session", SESSION).content, type=SessionGrant)
    held = {"session": grant.session, "epoch": grant.epoch}
    nodes = [msgspec.to_builtins(a_node("n07"))]
    assert call(api, "inventory", held | {"n": 1, "complete": True, "nodes": nodes}).json() == {"resync": False}
    id_ = api.create("n07")["id"]
    answer = msgspec.json.decode(call(api, "sync", held).content, type=SyncAnswer)
    assert [each.id for each in answer.jobs] == [id_]
    reports = [{"id": id_, "n": 1, "phase": "running"}]
    acks = msgspec.json.decode(call(api, "report", held | {"reports": reports}).content, type=ReportAnswer).acks
    assert [each.outcome for each in acks] == ["stored"]
    assert call(api, "session:release", held).status_code == 204
    problem_of(call(api, "sync", held), "fenced", 409)


def test_a_standby_is_told_when_to_ask_again_and_its_event_stays(api: Api) -> None:
    answer = call(api, "session", SESSION)
    problem = problem_of(answer, "standby", 409)
    assert (answer.headers["retry-after"], problem["retry_after_s"], problem["free_in_s"]) == ("2", 2, 30)
    assert problem["holder"]["incarnation"] == "first"
    assert api.world.events("cluster.standby") == ["cluster.standby"]


def test_a_standby_that_asks_again_and_again_does_not_fill_the_log(api: Api) -> None:
    with capture_logs() as lines:
        call(api, "session", SESSION)
        call(api, "session", SESSION)
    told = [(each["event"], each["log_level"]) for each in lines]
    assert told == [("cluster.standby", "info"), ("request", "debug"), ("request", "debug")]


@pytest.mark.parametrize(
    ("body", "code", "status"),
    [({"session": "x"}, "invalid_value", 422), ({"session": 7, "epoch": "a"}, "invalid_value", 422)],
)
def test_what_cannot_be_read_is_a_problem(api: Api, body: object, code: str, status: int) -> None:
    problem_of(call(api, "sync", body), code, status)


def test_what_is_no_json_is_a_problem(api: Api) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.request("POST", "/v1/operator/sync", role=Role.OPERATOR, content=b"{", headers=headers)
    problem_of(answer, "invalid_request", 400)


def test_a_sync_with_news_answers_at_once(api: Api) -> None:
    document = api.create()
    answer = msgspec.json.decode(call(api, "sync", sync_request(api, wait_s=3)).content, type=SyncAnswer)
    assert answer.seen == document["version"]


def test_a_parked_sync_is_woken_by_what_its_operator_has_to_hear(api: Api) -> None:
    id_ = api.create()["id"]
    api.operator.say(id_)
    seen = msgspec.json.decode(call(api, "sync", sync_request(api)).content, type=SyncAnswer).seen

    async def talk(client: httpx2.AsyncClient) -> httpx2.Response:
        body = msgspec.json.encode(sync_request(api, seen, wait_s=3))
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {api.secrets[Role.OPERATOR]}"}
        parked = asyncio.create_task(client.post("/v1/operator/sync", content=body, headers=headers))
        await api.parked()
        api.world.cancel(id_)
        return await parked

    answer = msgspec.json.decode(api.run(talk).content, type=SyncAnswer)
    assert answer.jobs[0].cancel
    assert answer.seen > seen


def test_a_parked_sync_is_woken_by_what_its_graphs_are_to_have(api: Api) -> None:
    fleet = Fleet("fra-1", world=api.world)
    fleet.bind(replicas=1)
    api.operator = fleet["fra-1"].operator
    api.secrets[Role.OPERATOR] = fleet["fra-1"].secret
    heard = msgspec.json.decode(call(api, "sync", sync_request(api)).content, type=SyncAnswer)
    assert [each.counts for each in heard.desired] == [{"decode": 1}]

    async def talk(client: httpx2.AsyncClient) -> httpx2.Response:
        body = msgspec.json.encode(sync_request(api, heard.seen, wait_s=3))
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {api.secrets[Role.OPERATOR]}"}
        parked = asyncio.create_task(client.post("/v1/operator/sync", content=body, headers=headers))
        await api.parked()
        fleet.scale(2)
        return await parked

    answer = msgspec.json.decode(api.run(talk).content, type=SyncAnswer)
    assert [each.counts for each in answer.desired] == [{"decode": 2}]
    assert answer.seen > heard.seen
    assert answer.jobs == []


def test_news_is_not_held_up_by_renewals_that_are_gathered(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.leases.RENEWALS_INTERVAL_S", 3600.0)

    async def talk(client: httpx2.AsyncClient) -> httpx2.Response:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {api.secrets[Role.OPERATOR]}"}
        first = await client.post("/v1/operator/sync", content=msgspec.json.encode(sync_request(api)), headers=headers)
        await api.parked()
        seen = msgspec.json.decode(first.content, type=SyncAnswer).seen
        body = msgspec.json.encode(sync_request(api, seen, wait_s=3))
        waiting = asyncio.create_task(client.post("/v1/operator/sync", content=body, headers=headers))
        await api.parked()  # it has been entered, and waits for an hour until the next renewals are written
        api.world.create()
        return await waiting

    async def in_time(client: httpx2.AsyncClient) -> httpx2.Response:
        async with asyncio.timeout(10):
            return await talk(client)

    assert len(msgspec.json.decode(api.run(in_time).content, type=SyncAnswer).jobs) == 1


def test_a_sync_without_news_ends_in_time_and_renews_the_lease(api: Api) -> None:
    short = Api(sync_wait_s=0.01)
    seen = msgspec.json.decode(call(short, "sync", sync_request(short)).content, type=SyncAnswer).seen
    for _ in range(4):
        short.world.pass_s(10, sweeping=False)
        answer = call(short, "sync", sync_request(short, seen, wait_s=60))
        assert msgspec.json.decode(answer.content, type=SyncAnswer).seen == seen
        asyncio.run(short.hub.sweep())
    assert short.world.events("cluster.offline") == []


def test_a_sync_is_written_before_it_is_answered(api: Api) -> None:
    api.world.pass_s(12)
    assert call(api, "sync", sync_request(api)).status_code == 200
    api.world.pass_s(18, sweeping=False)
    problem = problem_of(call(api, "session", SESSION), "standby", 409)
    assert problem["free_in_s"] == 2
    api.world.pass_s(2, sweeping=False)
    assert call(api, "session", SESSION).status_code == 200


def test_a_lease_that_has_run_out_is_renewed_with_an_event(api: Api) -> None:
    api.world.pass_s(15)
    assert call(api, "sync", sync_request(api)).status_code == 200
    assert api.world.events("cluster")[-2:] == ["cluster.offline", "cluster.online"]


def test_a_sync_that_could_not_be_written_is_not_acknowledged(api: Api) -> None:
    async def refused(_run: object) -> None:
        raise StoreUnavailableError("the disk is full")

    api.hub.store.write_async = refused  # type: ignore[method-assign, assignment]
    problem_of(call(api, "sync", sync_request(api)), "busy", 503)


def test_a_session_that_ends_while_its_renewal_is_under_way_is_fenced(api: Api) -> None:
    written = api.hub.store.write_async

    async def after_its_release(run: Any) -> Any:
        if api.operator.grant.session:
            api.operator.release()
            api.operator.grant = msgspec.structs.replace(api.operator.grant, session="")
        return await written(run)

    asked = sync_request(api)
    api.hub.store.write_async = after_its_release  # type: ignore[method-assign]
    problem_of(call(api, "sync", asked), "fenced", 409)


def test_an_operators_report_may_be_larger_than_a_users_request(api: Api) -> None:
    id_ = api.create()["id"]
    held = {"session": api.operator.grant.session, "epoch": api.operator.grant.epoch}
    memory = {"pods": "x" * 2_000_000}
    answer = call(api, "report", held | {"reports": [{"id": id_, "n": 1, "phase": "running", "memory": memory}]})
    assert answer.status_code == 200
    assert api.operator.sync()[0].memory == memory


def test_the_cluster_comes_from_the_token_alone(api: Api) -> None:
    other = World(api.world.store)
    other.add_cluster("ord-1")
    held = {"session": "ses_ord-1_1", "epoch": 1}
    problem_of(call(api, "sync", held), "fenced", 409)

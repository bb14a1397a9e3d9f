"""The operations' routes: create, get, list, wait, cancel."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from hangar.hub.principals import Role
from tests.hub.api.client import Api, problem_of
from tests.hub.world import a_progress


@pytest.fixture
def api() -> Api:
    return Api()


def test_create_is_accepted_with_a_place_to_look_and_a_version(api: Api) -> None:
    answer = api.post("/v1/operations", {"type": "node.drain", "target": "iad-1-n01", "reason": "fan"})
    document = answer.json()
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/v1/operations/{document['id']}"
    assert answer.headers["etag"] == f'"{document["version"]}"'
    assert answer.headers["content-type"] == "application/json"
    assert api.get(answer.headers["location"]).json() == document
    assert list(document)[:5] == ["id", "type", "target", "cluster", "phase"]
    assert (document["created_by"], document["result"], document["reason"]) == ("admin", None, "fan")


def test_one_key_sent_twice_is_one_operation_and_says_so(api: Api) -> None:
    body, headers = {"type": "node.drain", "target": "iad-1-n01"}, {"Idempotency-Key": "k-1"}
    first = api.post("/v1/operations", body, headers=headers)
    second = api.post("/v1/operations", body | {"reason": "other words"}, headers=headers)
    assert (first.status_code, second.status_code) == (202, 200)
    assert second.headers["idempotent-replayed"] == "true"
    assert second.headers["location"] == first.headers["location"]
    assert second.json() == first.json()
    third = api.post("/v1/operations", body | {"target": "iad-1-n02"}, headers=headers)
    assert problem_of(third, "key_reused", 422)["operation"]["id"] == first.json()["id"]


def test_fifty_creates_at_once_with_one_key_are_one_operation(api: Api) -> None:
    """C87: however often it is sent."""

    async def talk(client: httpx2.AsyncClient) -> list[httpx2.Response]:
        return await asyncio.gather(
            *(
                client.post(
                    "/v1/operations",
                    json={"type": "node.drain", "target": "iad-1-n01"},
                    headers={"Idempotency-Key": "one"},
                )
                for _ in range(50)
            )
        )

    answers = api.run(talk)
    assert sorted(each.status_code for each in answers) == [200] * 49 + [202]
    assert len({each.json()["id"] for each in answers}) == 1


def test_everything_that_is_wrong_is_told_at_once(api: Api) -> None:
    body = {
        "type": "node.drain",
        "target": "",
        "colour": "red",
        "reason": "x" * 1001,
        "cluster": 7,
        "params": {"deadline_s": 0, "speed": 9},
    }
    problem = problem_of(api.post("/v1/operations", body, headers={"Idempotency-Key": "a b"}), "invalid_value", 422)
    assert {each["path"] for each in problem["errors"]} == {
        "target",
        "colour",
        "reason",
        "cluster",
        "params.deadline_s",
        "params.speed",
        "header.Idempotency-Key",
    }
    assert api.get("/v1/operations").json()["items"] == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"type": "node.reboot", "target": "iad-1-n01"}, "type"),
        ({"type": 7, "target": "iad-1-n01"}, "type"),
        ({"target": "iad-1-n01"}, "type"),
        ({"type": "node.drain", "target": "iad-1-n01", "params": []}, "params"),
        ({"type": "node.drain", "target": "iad-1-n01", "params": None}, "params"),
        ({"type": "node.drain", "target": "iad-1-n01", "params": {"deadline_s": True}}, "params.deadline_s"),
        ({"type": "node.drain", "target": "iad-1-n01", "reason": "bell \x07"}, "reason"),
        ({"type": "node.drain", "target": "iad-1-n01", "params": {"deadline_s": 10**30}}, "params.deadline_s"),
        ({"type": "node.drain", "target": "IAD-1-n01"}, "target"),
        ({"type": "node.drain", "target": "iad_1"}, "target"),
        ({"type": "node.drain", "target": "-n01"}, "target"),
        ({"type": "node.drain", "target": "a..b"}, "target"),
        ({"type": "node.drain", "target": "n01\n"}, "target"),
        ({"type": "node.drain", "target": "iad-1/"}, "target"),
        ({"type": "node.drain", "target": "/n01"}, "target"),
        ({"type": "node.drain", "target": "a/b/c"}, "target"),
        ({"type": "node.drain", "target": "n" * 600}, "target"),
        ({"type": "node.drain", "target": "n01", "cluster": "iad 1"}, "cluster"),
        ({"type": "node.drain", "target": "n01", "cluster": "a/b"}, "cluster"),
        ([], ""),
        ("drain", ""),
    ],
)
def test_a_wrong_value_is_named(api: Api, body: object, path: str) -> None:
    problem = problem_of(api.post("/v1/operations", body), "invalid_value", 422)
    assert path in [each["path"] for each in problem["errors"]]


@pytest.mark.parametrize(
    ("wrong", "path", "said"),
    [
        ({"reason": "x" * 1001}, "reason", "may have at most 1000 characters"),
        ({"target": ""}, "target", "may not be empty"),
        ({"target": "a_b"}, "target", "'a_b' is no name: lower-case letters, digits, and - . between them"),
        ({"target": "a/"}, "target", "'a/' is no target: a name, or cluster/name"),
        ({"speed": 9}, "speed", "is no field here: there are type, target, cluster, params, reason"),
        (
            {"type": "node.boot"},
            "type",
            "'node.boot' is no type: there are node.cordon, node.drain, node.uncordon, workload.drain, workload.pause, "
            "workload.resume, workload.scale, workload.undrain",
        ),
    ],
)
def test_what_is_wrong_is_told_in_words_that_say_what_to_do(
    api: Api, wrong: dict[str, object], path: str, said: str
) -> None:
    answer = api.post("/v1/operations", {"type": "node.drain", "target": "iad-1-n01"} | wrong)
    problem = problem_of(answer, "invalid_value", 422)
    assert problem["errors"] == [{"path": path, "message": said}]
    assert problem["detail"] == f"{path}: {said}"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"nope", b'{"type": }', b"\xff", b'{"params": NaN}', b'{"reason": "\\ud800"}', b"[" * 100_000],
)
def test_what_is_no_json_is_a_bad_request(api: Api, content: bytes) -> None:
    answer = api.post("/v1/operations", content=content, headers={"Content-Type": "application/json"})
    problem_of(answer, "invalid_request", 400)


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", None])
def test_another_media_type_is_refused(api: Api, media_type: str | None) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    problem_of(api.post("/v1/operations", content=b"{}", headers=headers), "unsupported_media_type", 415)


@pytest.mark.parametrize("is_declared", [True, False])
def test_a_body_beyond_the_bound_is_refused(api: Api, is_declared: bool) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b" " * 65536

    content = b" " * (1_048_576 + 1) if is_declared else chunks()
    answer = api.post("/v1/operations", content=content, headers={"Content-Type": "application/json"})
    problem_of(answer, "too_large", 413)


def test_a_conflict_is_told_with_the_operation_that_holds_the_node(api: Api) -> None:
    """C80: with its id, kind, actor, age and progress."""
    first = api.create(reason="fan")
    problem = problem_of(api.post("/v1/operations", {"type": "node.cordon", "target": "iad-1-n01"}), "conflict", 409)
    assert problem["conflicting_operation"] == {
        "id": first["id"],
        "type": "node.drain",
        "target": "iad-1-n01",
        "cluster": "iad-1",
        "phase": "pending",
        "created_by": "admin",
        "reason": "fan",
        "age_s": 0,
        "progress": None,
    }


def test_a_version_that_is_known_need_not_be_sent_again(api: Api) -> None:
    document = api.create()
    path = f"/v1/operations/{document['id']}"
    etag = api.get(path).headers["etag"]
    for known in (etag, f"W/{etag}", f'"0", {etag}', "*"):
        answer = api.get(path, headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag)
    api.operator.say(document["id"])
    answer = api.get(path, headers={"If-None-Match": etag})
    assert (answer.status_code, answer.json()["phase"]) == (200, "running")


def test_a_listing_takes_filters_and_pages(api: Api) -> None:
    first = api.create("iad-1-n01")
    second = api.create("iad-1-n02")
    page = api.get("/v1/operations?type=node.drain&page_size=1&since=2020-01-01T00:00:00Z").json()
    assert [each["id"] for each in page["items"]] == [second["id"]]
    token = page["next_page_token"]
    query = f"type=node.drain&page_size=1&since=2020-01-01T00:00:00Z&page_token={token}"
    page = api.get(f"/v1/operations?{query}").json()
    assert [each["id"] for each in page["items"]] == [first["id"]]
    assert (page["next_page_token"], page["as_of"]) == (None, second["version"])
    problem_of(api.get(f"/v1/operations?phase=pending&page_token={token}"), "invalid_page_token", 400)


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("phase=done", ["query.phase"]),
        ("type=node.reboot&phase=done", ["query.type", "query.phase"]),
        ("colour=red&dry_run=true", ["query.colour", "query.dry_run"]),
        ("phase=pending&phase=running", ["query.phase"]),
        ("page_size=0&since=yesterday", ["query.page_size", "query.since"]),
        ("page_size=1001", ["query.page_size"]),
        ("since=2026-01-01T00:00:00", ["query.since"]),
        ("target=a%00b", ["query.target"]),
    ],
)
def test_a_wrong_filter_is_named(api: Api, query: str, paths: list[str]) -> None:
    problem = problem_of(api.get(f"/v1/operations?{query}"), "invalid_filter", 400)
    assert sorted(each["path"] for each in problem["errors"]) == sorted(paths)


@pytest.mark.parametrize(
    "query",
    [
        "since=0001-01-01T00:00:00Z",
        "since=0001-01-01T00:00:00%2B23:59",
        "until=9999-12-31T23:59:59-23:59",
        "since=-5",
        "target=%ff%fe",
        "target=/",
        "cluster=%27%3B--",
        "created_by=" + "x" * 5000,
    ],
)
def test_an_odd_filter_is_still_a_filter(api: Api, query: str) -> None:
    api.create()
    assert api.get(f"/v1/operations?{query}").status_code == 200


def test_cancel_ends_what_waits_and_tells_what_runs(api: Api) -> None:
    waiting, running = api.create("iad-1-n01"), api.create("iad-1-n02")
    api.operator.say(running["id"])
    answer = api.post(f"/v1/operations/{waiting['id']}:cancel")
    assert (answer.status_code, answer.json()["phase"]) == (200, "cancelled")
    assert api.post(f"/v1/operations/{waiting['id']}:cancel").status_code == 200
    answer = api.post(f"/v1/operations/{running['id']}:cancel", {})
    assert (answer.status_code, answer.json()["phase"]) == (202, "running")
    assert answer.headers["etag"] == f'"{answer.json()["version"]}"'
    api.operator.say(running["id"], "failed")
    answer = api.post(f"/v1/operations/{running['id']}:cancel")
    assert problem_of(answer, "already_finished", 409)["operation"]["phase"] == "failed"


def test_the_events_of_an_operation_are_its_timeline(api: Api) -> None:
    document = api.create()
    api.operator.say(document["id"], progress=a_progress())
    page = api.get(f"/v1/operations/{document['id']}/events").json()
    types = [each["type"] for each in page["items"]]
    assert types == ["operation.created", "operation.started", "operation.progressed"]


@pytest.mark.parametrize("path", ["op_nothing", "op_nothing/wait", "op_nothing/events"])
def test_what_is_not_there_is_not_found(api: Api, path: str) -> None:
    problem_of(api.get(f"/v1/operations/{path}"), "not_found", 404)


# --- waiting ----------------------------------------------------------------------------------------------------------


def test_a_wait_ends_with_the_operation_and_all_waiters_see_the_same(api: Api) -> None:
    """C66: an end is seen as it happens."""
    id_ = api.create()["id"]

    async def talk(client: httpx2.AsyncClient) -> list[httpx2.Response]:
        waits = [asyncio.create_task(client.get(f"/v1/operations/{id_}/wait")) for _ in range(20)]
        await api.parked(20)
        api.operator.say(id_)
        api.operator.say(id_, "succeeded")
        return await asyncio.gather(*waits)

    answers = api.run(talk)
    assert {each.json()["phase"] for each in answers} == {"succeeded"}
    assert len({each.content for each in answers}) == 1


def test_a_wait_after_a_version_ends_with_the_next_one(api: Api) -> None:
    document = api.create()
    path = f"/v1/operations/{document['id']}/wait?after_version={document['version']}"

    async def talk(client: httpx2.AsyncClient) -> httpx2.Response:
        waiting = asyncio.create_task(client.get(path))
        await api.parked()
        api.operator.say(document["id"])
        return await waiting

    answer = api.run(talk)
    assert answer.json()["phase"] == "running"
    assert answer.headers["etag"] == f'"{answer.json()["version"]}"'
    assert api.get(f"/v1/operations/{document['id']}/wait?after_version=0").json() == answer.json()


def test_a_wait_that_is_over_answers_with_what_there_is(api: Api) -> None:
    document = api.create()
    for timeout in ("0", "0.01"):
        assert api.get(f"/v1/operations/{document['id']}/wait?timeout={timeout}").json() == document
    problem_of(api.get(f"/v1/operations/{document['id']}/wait?timeout=56"), "invalid_filter", 400)


def test_a_finished_operation_is_not_waited_for(api: Api) -> None:
    document = api.create()
    api.world.cancel(document["id"])
    assert api.get(f"/v1/operations/{document['id']}/wait").json()["phase"] == "cancelled"


def test_a_hub_that_stops_answers_those_who_wait(api: Api) -> None:
    document = api.create()

    async def talk(client: httpx2.AsyncClient) -> httpx2.Response:
        waiting = asyncio.create_task(client.get(f"/v1/operations/{document['id']}/wait"))
        await api.parked()
        api.hub.tail.close()
        return await waiting

    assert api.run(talk).json() == document


def test_nobody_waits_for_a_client_that_has_gone(api: Api) -> None:
    document = api.create()
    scope = {
        "type": "http",
        "method": "GET",
        "path": f"/v1/operations/{document['id']}/wait",
        "raw_path": b"",
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {api.secrets[Role.ADMIN]}".encode())],
    }
    sent: list[object] = []

    async def talk(_client: httpx2.AsyncClient) -> None:
        messages: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        messages.put_nowait({"type": "http.request", "body": b"", "more_body": False})

        async def send(message: object) -> None:
            sent.append(message)

        parked = asyncio.create_task(api.app(scope, messages.get, send))
        await api.parked()
        messages.put_nowait({"type": "http.disconnect"})
        await parked

    api.run(talk)
    assert api.hub.tail.waiting_count == 0
    assert len(sent) == 2

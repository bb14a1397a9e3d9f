"""The feed as it grows, in both forms: from any place without a gap, filtered, refused where it cannot be followed."""

import httpx2
import pytest

from hangar.hub.principals import Role
from hangar.hub.store.records import Position
from tests.hub.api.client import SECRETS, Api, problem_of
from tests.hub.api.streaming import note, objects, opened, reading, run
from tests.hub.world import a_node


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture(params=["sse", "ws"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- what is told -----------------------------------------------------------------------------------------------------


def test_each_event_comes_as_the_list_has_it(api: Api, form: str) -> None:
    async def talk() -> None:
        async with opened(api, form) as reader:
            first = await reader.next()
            assert (first.type, first.data, first.rev) == ("heartbeat", None, api.world.store.position().rev)
            id_ = api.world.create(reason="fan")
            (told,) = await reader.events(1)
            assert (told.type, told.data["operation"]) == ("operation.created", id_)
            assert told.id == f"{api.world.store.position().incarnation}.{told.data['rev']}"
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=api.app), base_url="http://hub") as client:
                client.headers["Authorization"] = f"Bearer {SECRETS[Role.VIEWER]}"
                listed = (await client.get("/v1/events?page_size=1")).json()
            assert listed["items"] == [told.data]
            assert listed["as_of"] == told.rev

    run(api, talk)


def test_a_server_sent_event_looks_as_browsers_want_it(api: Api) -> None:
    async def talk() -> None:
        async with opened(api, "sse") as reader:
            await reader.next()
            assert reader.status == 200
            assert reader.headers["content-type"].startswith("text/event-stream")
            assert reader.headers["cache-control"] == "no-store"
            assert "content-length" not in reader.headers
            assert "x-request-id" in reader.headers

    run(api, talk)


@pytest.mark.parametrize("with_incarnation", [True, False])
def test_it_goes_on_after_any_place_without_a_gap_or_a_double(api: Api, form: str, with_incarnation: bool) -> None:
    position = api.world.store.position()
    for number in range(3):
        note(api, f"before-{number}")
    after = f"{position.incarnation}.{position.rev}" if with_incarnation else str(position.rev)

    async def talk() -> None:
        async with opened(api, form, f"after={after}") as reader:
            told = await reader.events(3)
            note(api, "after")
            told += await reader.events(1)
            assert objects(told) == ["before-0", "before-1", "before-2", "after"]
            assert [each.rev for each in told] == list(range(position.rev + 1, position.rev + 5))

    run(api, talk)


def test_the_header_of_a_browser_that_comes_back_goes_before_the_query(api: Api) -> None:
    first = note(api, "first")
    second = note(api, "second")
    incarnation = api.world.store.position().incarnation

    async def talk() -> None:
        async with opened(api, "sse", f"after={first - 1}", Last_Event_ID=f"{incarnation}.{first}") as reader:
            (told,) = await reader.events(1)
            assert told.rev == second

    run(api, talk)


def test_a_long_way_back_is_read_in_parts(api: Api, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.api.following.FEED_ROWS_MAX", 10)
    monkeypatch.setattr("hangar.hub.usecases.news.FEED_ROWS_MAX", 10)
    start = api.world.store.position().rev
    for number in range(57):
        note(api, f"c{number}" if number % 2 else "other")

    async def talk() -> None:
        async with opened(api, form, f"after={start}") as reader:
            assert [each.rev for each in await reader.events(57)] == list(range(start + 1, start + 58))
        async with opened(api, form, f"after={start}&object=other") as reader:
            assert objects(await reader.events(29)) == ["other"] * 29

    run(api, talk)


@pytest.mark.parametrize(
    ("query", "types"),
    [
        ("", ["operation.created", "cluster.added", "node.cordoned", "node.uncordoned", "operation.cancelled"]),
        ("cluster=iad-1", ["operation.created", "node.cordoned", "node.uncordoned", "operation.cancelled"]),
        ("cluster=ord-1", ["cluster.added"]),
        ("object=iad-1-n02", ["node.cordoned", "node.uncordoned"]),
        ("object=iad-1/iad-1-n02&type=node.uncordoned", ["node.uncordoned"]),
        ("type=operation.cancelled", ["operation.cancelled"]),
    ],
)
def test_a_reader_is_told_what_it_asked_for_of_the_past_as_of_what_comes(
    api: Api, form: str, query: str, types: list[str]
) -> None:
    def happen() -> None:
        id_ = api.world.create("node.drain", "iad-1-n01")
        note(api, "ord-1")
        api.operator.tell(a_node("iad-1-n02", cordoned=True), complete=False)
        api.operator.tell(a_node("iad-1-n02"), complete=False)
        api.world.cancel(id_)

    async def talk() -> None:
        start = api.world.store.position().rev
        happen()
        async with opened(api, form, f"after={start}&{query}") as reader:
            told = await reader.events(len(types))
            happen()
            told += await reader.events(len(types))
            assert [each.type for each in told] == types * 2

    run(api, talk)


def test_a_reader_may_follow_one_operation(api: Api, form: str) -> None:
    start = api.world.store.position().rev
    first, second = api.world.create("node.drain", "iad-1-n01"), api.world.create("node.drain", "iad-1-n02")

    async def talk() -> None:
        async with opened(api, form, f"after={start}&operation={second}") as reader:
            api.world.cancel(first)
            api.world.cancel(second)
            assert [each.type for each in await reader.events(2)] == ["operation.created", "operation.cancelled"]

    run(api, talk)


def test_while_nothing_happens_it_says_so_and_moves_the_cursor_on(
    api: Api, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hangar.hub.streams.STREAM_HEARTBEAT_S", 0.001)

    async def talk() -> None:
        async with opened(api, form, "object=nothing") as reader:
            before = await reader.next()
            now = note(api, "something")
            while (told := await reader.next()).rev < now:
                assert (told.type, told.rev) == ("heartbeat", before.rev)
            assert (told.type, told.data) == ("heartbeat", None)

    run(api, talk)


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("after=x", "query.after"),
        ("after=.3", "query.after"),
        ("after=-1", "query.after"),
        ("after=" + "9" * 19, "query.after"),
        ("type=node.exploded", "query.type"),
        ("colour=red", "query.colour"),
        ("cluster=a&cluster=b", "query.cluster"),
    ],
)
def test_what_cannot_be_followed_is_refused(api: Api, form: str, query: str, field: str) -> None:
    async def talk() -> None:
        async with opened(api, form, query) as reader:
            assert await reader.rest() == []
            assert (reader.status, reader.headers["content-type"]) == (400, "application/problem+json")
            assert f'"path":"{field}"' in reader.body.decode()

    run(api, talk)


def test_without_a_token_nothing_is_told(api: Api, form: str) -> None:
    async def talk() -> None:
        async with reading(api.app, form) as reader:
            assert await reader.rest() == []
            assert reader.status == 401
        async with opened(api, form, role=Role.OPERATOR) as reader:
            assert await reader.rest() == []
            assert reader.status == 403

    run(api, talk)


def test_a_browser_brings_its_token_as_a_subprotocol(api: Api) -> None:
    async def talk() -> None:
        secret = SECRETS[Role.VIEWER]
        async with reading(api.app, "ws", protocols=f"bearer.{secret}") as reader:
            await reader.next()
            assert reader.headers["sec-websocket-protocol"] == f"bearer.{secret}"
        async with reading(api.app, "ws", protocols=f"bearer.{secret},wingsmith") as reader:
            await reader.next()
            assert reader.headers["sec-websocket-protocol"] == "wingsmith"
        async with reading(api.app, "ws", protocols="bearer.wrong") as reader:
            assert await reader.rest() == []
            assert reader.status == 401

    run(api, talk)


def test_so_many_streams_and_no_more(api: Api, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.streams.STREAMS_MAX", 2)

    async def talk() -> None:
        async with opened(api, form) as first, opened(api, form) as second:
            await first.next()
            await second.next()
            async with opened(api, form) as third:
                assert await third.rest() == []
                assert (third.status, third.headers["retry-after"]) == (503, "5")
        async with opened(api, form) as again:
            await again.next()

    run(api, talk)


def test_a_websocket_wants_to_be_one(api: Api) -> None:
    problem = problem_of(api.get("/v1/watch"), "invalid_request", 400)
    assert "GET /v1/stream" in problem["detail"]


def test_what_a_reader_says_is_heard_and_passed_over(api: Api) -> None:
    async def talk() -> None:
        async with opened(api, "ws") as reader:
            await reader.next()
            reader.say({"type": "websocket.receive", "text": "hello"})
            reader.say({"type": "websocket.receive", "bytes": b"\x00"})
            note(api, "later")
            assert objects(await reader.events(1)) == ["later"]

    run(api, talk)


def test_a_place_in_the_feed_is_what_the_lists_say_it_is(api: Api) -> None:
    assert api.get("/v1/nodes").json()["as_of"] == api.world.store.position().rev
    assert api.world.store.position() == Position(api.world.store.position().incarnation, api.world.revs()[-1])

"""How streams start anew, and how they end: told why, and in time."""

import pytest

from hangar.hub.principals import Role
from hangar.hub.usecases.recover import recover
from hangar.hub.usecases.tokens import TokenRequest, create_token, revoke_token
from tests.hub.api.client import Api
from tests.hub.api.streaming import note, objects, opened, reading, run
from tests.hub.world import ADMIN


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture(params=["sse", "ws"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- resets -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "reason"),
    [("{incarnation}.9999", "future"), ("9999", "future"), ("another.3", "restored"), ("another.9999", "restored")],
)
def test_a_place_that_is_not_in_this_feed_is_reset_and_goes_on_from_now(
    api: Api, form: str, after: str, reason: str
) -> None:
    position = api.world.store.position()

    async def talk() -> None:
        async with opened(api, form, f"after={after.format(incarnation=position.incarnation)}") as reader:
            (reset,) = await reader.events(1)
            assert (reset.type, reset.data) == ("reset", {"reason": reason, "as_of": position.rev})
            assert reset.id == f"{position.incarnation}.{position.rev}"
            note(api, "later")
            assert objects(await reader.events(1)) == ["later"]

    run(api, talk)


def test_a_place_too_far_back_is_reset(api: Api, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.api.following.STREAM_BACK_REVS_MAX", 3)
    for number in range(4):
        note(api, f"c{number}")
    rev = api.world.store.position().rev

    async def talk() -> None:
        async with opened(api, form, f"after={rev - 4}") as reader:
            assert (await reader.next()).data == {"reason": "too_old", "as_of": rev}
        async with opened(api, form, f"after={rev - 3}") as reader:
            assert objects(await reader.events(3)) == ["c1", "c2", "c3"]

    run(api, talk)


def test_when_the_record_was_restored_everybody_starts_anew(api: Api, form: str) -> None:
    before = api.world.store.position()

    async def talk() -> None:
        async with opened(api, form) as reader:
            await reader.next()
            api.world.store.write(lambda tx: recover(tx, api.world.now_us))
            now = api.world.store.position()
            (reset,) = await reader.events(1)
            assert (reset.type, reset.data) == ("reset", {"reason": "restored", "as_of": now.rev})
            note(api, "later")
            assert objects(await reader.events(1)) == ["later"]
        for after in (str(before.rev), f"{before.incarnation}.{before.rev}"):
            async with opened(api, form, f"after={after}") as reader:
                assert (await reader.next()).data["reason"] == "restored"
        async with opened(api, form, f"after={now.rev}") as reader:
            assert objects(await reader.events(1)) == ["later"]

    run(api, talk)


def test_a_reader_that_is_too_slow_is_ended_with_a_reset(api: Api, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.streams.STREAM_QUEUE_ROWS_MAX", 5)

    async def talk() -> None:
        async with opened(api, form) as reader, opened(api, form) as quick:
            await reader.next()
            await quick.next()
            reader.stop_reading()
            for number in range(8):
                note(api, f"c{number}")
                assert objects(await quick.events(1)) == [f"c{number}"]
            reader.read_on()
            *told, reset = await reader.rest()
            assert (reset.type, reset.data["reason"]) == ("reset", "slow")
            assert objects(told) == [f"c{n}" for n in range(len(told))]
            assert reader.close_code in (None, 1008)
            assert api.hub.streams.open_count == 1

    run(api, talk)


# --- ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["revoked", "expired"])
def test_a_stream_ends_with_its_token(api: Api, form: str, ends: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.app.STREAM_TOKEN_CHECK_S", 0.001)
    request = TokenRequest(name="eve", role=Role.VIEWER, expires_in_s=60 if ends == "expired" else None)
    made = api.world.store.write(lambda tx: create_token(tx, None, request, api.world.now_us))

    async def talk() -> None:
        headers = {"Authorization": f"Bearer {made.secret}"}
        async with reading(api.app, form, **headers) as reader, opened(api, form) as other:
            await reader.next()
            await other.next()
            if ends == "expired":
                api.world.now_us += 60_000_000
            else:
                api.world.store.write(lambda tx: revoke_token(tx, ADMIN, made.token.id, api.world.now_us))
                await other.next()
            assert await reader.rest() == []
            assert reader.close_code == (1008 if form == "ws" else None)
            note(api, "later")
            assert objects(await other.events(1)) == ["later"]

    run(api, talk)


def test_a_stream_ends_when_the_hub_stops(api: Api, form: str) -> None:
    async def talk() -> None:
        async with opened(api, form) as reader:
            await reader.next()
            api.hub.streams.close()
            assert await reader.rest() == []
            assert reader.close_code == (1012 if form == "ws" else None)
        async with opened(api, form) as late:
            assert [each.type for each in await late.rest()] == ["heartbeat"]

    run(api, talk)


def test_nothing_is_left_of_a_reader_who_has_gone(api: Api, form: str) -> None:
    async def talk() -> None:
        async with opened(api, form) as reader:
            await reader.next()
            assert api.hub.streams.open_count == 1
        assert api.hub.streams.open_count == 0

    run(api, talk)


def test_a_reader_that_takes_nothing_at_all_is_let_go(api: Api, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hangar.hub.api.following.STREAM_SEND_MAX_S", 0.01)

    async def talk() -> None:
        async with opened(api, form) as reader:
            await reader.next()
            reader.stop_reading()
            note(api, "first")
            assert await reader.rest() == []
            assert api.hub.streams.open_count == 0

    run(api, talk)

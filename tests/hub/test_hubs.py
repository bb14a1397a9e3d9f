"""Several hubs on one PostgreSQL database: what one of them takes in, those who wait at another hear."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from hangar.clock import SystemClock
from hangar.hub.app import create_app, hub_in
from hangar.hub.present import milliseconds
from hangar.hub.principals import Role
from hangar.hub.settings import HubSettings
from hangar.hub.store.store import Store
from hangar.hub.usecases.tokens import TokenRequest, create_token
from tests.databases import Databases
from tests.hub.api.streaming import reading
from tests.hub.usecases.test_foresee import PLAN
from tests.hub.world import Operator, World, a_node

HOUR_US = 3_600_000_000


class ShiftedClock:
    """A machine's clock that is wrong by some hours."""

    def __init__(self, hours: int) -> None:
        self._clock = SystemClock()
        self._hours = hours

    def now_us(self) -> int:
        return self._clock.now_us() + self._hours * HOUR_US

    def monotonic_s(self) -> float:
        return self._clock.monotonic_s()


class Hubs:
    """Two hubs whose clocks differ by five hours, a token of an admin, and iad-1 with a node and its operator."""

    def __init__(self, databases: Databases) -> None:
        url = databases.empty()
        self.stores = [Store.open(url), Store.open(url)]
        self.world = World(self.stores[0])
        self.world.now_us = self.stores[0].now_us() or 0
        request = TokenRequest(name="admin", role=Role.ADMIN)
        made = self.world.store.write(lambda tx: create_token(tx, None, request, self.world.now_us))
        self.secret, self.token_id = made.secret, made.token.id
        self.operator_secret = self.world.add_cluster()
        self.operator = Operator(self.world, "iad-1")
        self.operator.open()
        self.operator.tell(*(a_node(f"n{number:02d}") for number in range(20)))
        clocks = (ShiftedClock(2), ShiftedClock(-3))
        settings = HubSettings(sync_wait_s=9.0)
        self.apps: list[FastAPI] = [
            create_app(store, clock, settings) for store, clock in zip(self.stores, clocks, strict=True)
        ]
        self.clients: list[httpx2.AsyncClient] = []

    @property
    def session(self) -> dict[str, Any]:
        """The operator's session, as its requests have it."""
        return {"session": self.operator.grant.session, "epoch": self.operator.grant.epoch}

    def run(self, talk: Callable[[], Awaitable[None]]) -> None:
        """Run a conversation with both hubs."""

        async def whole() -> None:
            async with AsyncExitStack() as stack:
                for app in self.apps:
                    await stack.enter_async_context(app.router.lifespan_context(app))
                    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
                    client = httpx2.AsyncClient(transport=transport, base_url="http://hub", timeout=20)
                    client.headers["Authorization"] = f"Bearer {self.secret}"
                    self.clients.append(await stack.enter_async_context(client))
                await asyncio.wait_for(talk(), 30)

        asyncio.run(whole())
        for store in self.stores:
            store.close()

    async def as_operator(self, hub: int, path: str, body: dict[str, Any]) -> httpx2.Response:
        """Send what an operator sends."""
        headers = {"Authorization": f"Bearer {self.operator_secret}"}
        return await self.clients[hub].post(f"/v1/operator/{path}", json=self.session | body, headers=headers)

    async def create(self, hub: int, target: str = "n00", **headers: str) -> httpx2.Response:
        """Ask for a drain."""
        body = {"type": "node.drain", "target": target}
        return await self.clients[hub].post("/v1/operations", json=body, headers=headers)

    async def parked(self, hub: int) -> None:
        """Return when somebody waits at a hub."""
        while not hub_in(self.apps[hub]).tail.waiting_count:  # noqa: ASYNC110 - it is a matter of turns
            await asyncio.sleep(0)


@pytest.fixture
def hubs(postgres: Databases) -> Hubs:
    return Hubs(postgres)


def test_who_waits_at_one_hub_hears_of_what_another_took_in(hubs: Hubs) -> None:
    async def talk() -> None:
        id_ = (await hubs.create(0)).json()["id"]
        waiting = asyncio.create_task(hubs.clients[1].get(f"/v1/operations/{id_}/wait"))
        await hubs.parked(1)
        assert (await hubs.clients[0].post(f"/v1/operations/{id_}:cancel")).status_code == 200
        answer = await waiting
        assert answer.json()["phase"] == "cancelled"

    hubs.run(talk)


def test_an_operator_parked_at_one_hub_hears_of_what_was_asked_of_another(hubs: Hubs) -> None:
    async def talk() -> None:
        parked = asyncio.create_task(hubs.as_operator(1, "sync", {"seen": 0, "wait_s": 9}))
        await hubs.parked(1)
        created = (await hubs.create(0)).json()
        answer = (await parked).json()
        assert [each["id"] for each in answer["jobs"]] == [created["id"]]
        assert answer["seen"] == created["version"]

    hubs.run(talk)


def test_a_plan_comes_from_an_operator_at_another_hub(hubs: Hubs) -> None:
    async def talk() -> None:
        parked = asyncio.create_task(hubs.as_operator(1, "sync", {"seen": 0, "wait_s": 9}))
        await hubs.parked(1)
        body = {"type": "node.drain", "target": "n01"}
        asking = asyncio.create_task(hubs.clients[0].post("/v1/operations?dry_run=true", json=body))
        (question,) = (await parked).json()["questions"]
        answer = {"id": question["id"], "plan": PLAN}
        assert (await hubs.as_operator(1, "report", {"reports": [], "answers": [answer]})).status_code == 200
        assert (await asking).json()["message"] == PLAN["message"]

    hubs.run(talk)


def test_a_stream_at_one_hub_has_what_both_take_in_in_one_order(hubs: Hubs) -> None:
    async def talk() -> None:
        start = hubs.stores[0].position()
        headers = {"Authorization": f"Bearer {hubs.secret}"}
        async with reading(hubs.apps[0], "sse", **headers) as first, reading(hubs.apps[1], "ws", **headers) as second:
            await first.next()
            await second.next()
            answers = await asyncio.gather(*(hubs.create(n % 2, f"n{n:02d}") for n in range(20)))
            assert {each.status_code for each in answers} == {202}
            for reader in (first, second):
                told = await reader.events(20)
                assert [each.rev for each in told] == list(range(start.rev + 1, start.rev + 21))
                assert {each.data["operation"] for each in told} == {each.json()["id"] for each in answers}

    hubs.run(talk)


def test_fifty_requests_with_one_key_at_two_hubs_are_one_operation(hubs: Hubs) -> None:
    async def talk() -> None:
        answers = await asyncio.gather(*(hubs.create(n % 2, **{"Idempotency-Key": "k"}) for n in range(50)))
        assert sorted(each.status_code for each in answers) == [200] * 49 + [202]
        assert len({each.json()["id"] for each in answers}) == 1
        listed = (await hubs.clients[1].get("/v1/operations")).json()["items"]
        assert [each["id"] for each in listed] == [answers[0].json()["id"]]
        other = await hubs.create(1, "n01", **{"Idempotency-Key": "k"})
        assert (other.status_code, other.json()["code"]) == (422, "key_reused")

    hubs.run(talk)


def test_of_many_who_want_a_node_at_two_hubs_one_gets_it(hubs: Hubs) -> None:
    async def talk() -> None:
        answers = await asyncio.gather(*(hubs.create(n % 2) for n in range(20)))
        assert sorted(each.status_code for each in answers) == [202] + [409] * 19
        holder = next(each.json()["id"] for each in answers if each.status_code == 202)
        refused = [each.json()["conflicting_operation"]["id"] for each in answers if each.status_code == 409]
        assert set(refused) == {holder}

    hubs.run(talk)


def test_a_lease_that_was_renewed_at_one_hub_is_known_at_the_other_whatever_their_clocks(hubs: Hubs) -> None:
    async def talk() -> None:
        before = hubs.stores[1].now_us() or 0
        assert (await hubs.as_operator(0, "sync", {})).status_code == 200
        cluster = (await hubs.clients[1].get("/v1/clusters/iad-1")).json()
        applicant = hubs.operator.session | {"incarnation": "second"}
        standby = (await hubs.as_operator(1, "session", applicant)).json()
        assert standby["code"] == "standby"
        assert cluster["last_seen_at"] == standby["holder"]["last_seen_at"]
        now = hubs.stores[1].now_us() or 0
        assert milliseconds(before) <= cluster["last_seen_at"] <= milliseconds(now)
        # By the database's time, since it started, no hub has listened for two leases yet.
        assert 25 <= standby["free_in_s"] <= 30

    hubs.run(talk)


def test_a_token_that_was_revoked_at_one_hub_lets_nobody_in_at_the_other(hubs: Hubs) -> None:
    async def talk() -> None:
        body = {"name": "eve", "role": "viewer"}
        made = (await hubs.clients[0].post("/v1/tokens", json=body)).json()
        headers = {"Authorization": f"Bearer {made['secret']}"}
        assert (await hubs.clients[1].get("/v1/nodes", headers=headers)).status_code == 200
        await hubs.clients[0].delete(f"/v1/tokens/{made['token']['id']}")
        await hub_in(hubs.apps[1]).follower.look()
        assert (await hubs.clients[1].get("/v1/nodes", headers=headers)).status_code == 401

    hubs.run(talk)


def test_when_a_fail_over_lost_commits_one_hub_takes_the_record_up_and_both_start_anew(hubs: Hubs) -> None:
    async def talk() -> None:
        await hubs.create(0)
        known = hubs.stores[0].position()
        await hub_in(hubs.apps[1]).follower.look()
        headers = {"Authorization": f"Bearer {hubs.secret}"}
        async with reading(hubs.apps[0], "sse", **headers) as first, reading(hubs.apps[1], "sse", **headers) as second:
            await first.next()
            await second.next()
            hubs.stores[0].write(lambda tx: tx.connection.exec_driver_sql("UPDATE feed SET rev = 5"))
            for reader in (first, second):
                (reset,) = await reader.events(1)
                assert reset.data["reason"] == "restored"
                assert not reset.id.startswith(known.incarnation)
        types = [each["type"] for each in (await hubs.clients[0].get("/v1/events?page_size=2")).json()["items"]]
        assert types.count("hub.restored") == 1
        assert (await hubs.as_operator(0, "sync", {})).json()["code"] == "fenced"

    hubs.run(talk)

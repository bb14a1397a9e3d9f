"""A list and the stream from its `as_of` are the whole, each change once, while others write all the time."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from hangar.clock import SystemClock
from hangar.hub.app import create_app
from hangar.hub.principals import Role
from hangar.hub.settings import HubSettings
from hangar.hub.store.store import Store
from hangar.hub.usecases.tokens import TokenRequest, create_token
from tests.databases import Databases
from tests.hub.api.streaming import Told, reading
from tests.hub.world import World, a_node, an_operator

NODES = 60
READERS = 6


class Busy:
    """A store, the hubs on it, and writers who drain every node and cancel every other drain."""

    def __init__(self, stores: list[Store]) -> None:
        self.stores = stores
        self.world = World(stores[0])
        request = TokenRequest(name="admin", role=Role.ADMIN)
        self.secret = stores[0].write(lambda tx: create_token(tx, None, request, self.world.now_us)).secret
        self.world.add_cluster()
        an_operator(self.world).tell(*(a_node(f"n{number:02d}") for number in range(NODES)))
        self.apps: list[FastAPI] = [create_app(each, SystemClock(), HubSettings()) for each in stores]

    def client(self, hub: int) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {self.secret}"}
        transport = httpx2.ASGITransport(app=self.apps[hub % len(self.apps)], raise_app_exceptions=False)
        return httpx2.AsyncClient(transport=transport, base_url="http://hub", headers=headers, timeout=30)

    async def write(self, client: httpx2.AsyncClient, number: int) -> None:
        body = {"type": "node.drain", "target": f"n{number:02d}"}
        created = await client.post("/v1/operations", json=body)
        assert created.status_code == 202, created.text
        if number % 2:
            assert (await client.post(f"/v1/operations/{created.json()['id']}:cancel")).status_code == 200


@pytest.fixture(params=["file", "postgresql", "postgresql, two hubs"])
def busy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Busy]:
    kind, _, several = request.param.partition(", ")
    databases: Databases | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    database = tmp_path / "hub.db" if databases is None else databases.empty()
    stores = [Store.open(database) for _ in range(2 if several else 1)]
    yield Busy(stores)
    for each in stores:
        each.close()


def test_no_change_is_missed_and_none_told_twice(busy: Busy) -> None:
    last = asyncio.Event()

    async def read(number: int, form: str, begun: asyncio.Event) -> None:
        """List at one hub, follow at another, and compare with what there was in the end."""
        await begun.wait()
        async with busy.client(number) as client:
            path = "/v1/events?after=0&page_size=1000" if number % 2 else "/v1/operations?page_size=1000"
            page = (await client.get(path)).json()
        as_of = page["as_of"]
        headers = {"Authorization": f"Bearer {busy.secret}"}
        async with reading(busy.apps[(number + 1) % len(busy.apps)], form, f"after={as_of}", **headers) as reader:
            await last.wait()
            end = busy.stores[0].position().rev
            told: list[Told] = []
            while not told or told[-1].rev < end:
                told.append(await reader.next())
        followed = [each.rev for each in told if each.type != "heartbeat"]
        assert followed == list(range(as_of + 1, end + 1))
        if number % 2:
            assert [each["rev"] for each in page["items"]] == list(range(1, as_of + 1))
        else:
            created = {each.data["operation"] for each in told if each.type == "operation.created"}
            listed = {each["id"] for each in page["items"]}
            assert not created & listed
            assert len(created | listed) == NODES
            assert all(each["version"] <= as_of for each in page["items"])

    async def whole() -> None:
        async with AsyncExitStack() as stack:
            for app in busy.apps:
                await stack.enter_async_context(app.router.lifespan_context(app))
            clients = [await stack.enter_async_context(busy.client(hub)) for hub in range(len(busy.apps))]
            begun = [asyncio.Event() for _ in range(READERS)]
            readers = [
                asyncio.create_task(read(number, "sse" if number % 3 else "ws", each))
                for number, each in enumerate(begun)
            ]
            writers: list[asyncio.Task[None]] = []
            for number in range(NODES):
                if number % (NODES // READERS) == 0:
                    begun[number // (NODES // READERS)].set()
                writers.append(asyncio.create_task(busy.write(clients[number % len(clients)], number)))
                if number % 8 == 7:
                    await writers[-4]
            await asyncio.gather(*writers)
            last.set()
            await asyncio.gather(*readers)

    asyncio.run(asyncio.wait_for(whole(), 60))

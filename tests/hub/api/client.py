"""The API in process: the real application over the test's world, without a network."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import httpx2
import msgspec

from hangar.hub.app import create_app, hub_in
from hangar.hub.principals import Role
from hangar.hub.settings import HubSettings
from hangar.hub.store.store import Store
from hangar.hub.usecases.tokens import TokenRequest, create_token
from tests.hub.world import World, a_node, an_operator

T = TypeVar("T")

SECRETS = {role: f"hgr_{role}" for role in Role}


class WorldClock:
    """The world's time as both clocks."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now_us(self) -> int:
        return self._world.now_us

    def monotonic_s(self) -> float:
        return self._world.now_us / 1_000_000


class Api:
    """One hub and its callers: a token of each role, and the operator of iad-1 with two nodes."""

    def __init__(self, store: Store | None = None, **settings: Any) -> None:
        self.world = World(store)
        self.secrets = dict(SECRETS)
        self.secrets[Role.OPERATOR] = self.world.add_cluster()
        for role, name in ((Role.VIEWER, "vera"), (Role.MAINTAINER, "max"), (Role.ADMIN, "admin")):
            self.world.store.write(
                lambda tx, r=role, n=name: create_token(  # type: ignore[misc]
                    tx, None, TokenRequest(name=n, role=r), self.world.now_us, secret=SECRETS[r]
                )
            )
        self.operator = an_operator(self.world)
        self.operator.tell(a_node("iad-1-n01"), a_node("iad-1-n02"))
        self.app = create_app(self.world.store, WorldClock(self.world), HubSettings(**settings))
        self.hub = hub_in(self.app)
        self._parked = asyncio.Semaphore(0)
        self._left = asyncio.Event()
        watch = self.hub.tail.watch

        @contextmanager
        def counted(key: str) -> Iterator[asyncio.Event]:
            with watch(key) as changed:
                self._parked.release()
                yield changed
            self._left.set()

        self.hub.tail.watch = counted  # type: ignore[method-assign]

    async def parked(self, count: int = 1) -> None:
        """Return when so many more requests have begun to wait for a change."""
        for _ in range(count):
            await self._parked.acquire()

    async def left(self) -> None:
        """Return when a request has stopped waiting."""
        await self._left.wait()

    def run(self, talk: Callable[[httpx2.AsyncClient], Coroutine[Any, Any, T]]) -> T:
        """Run a conversation with the hub."""

        async def conversation() -> T:
            async with self.client() as client:
                return await talk(client)

        return asyncio.run(conversation())

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx2.AsyncClient]:
        """Start the application and open a client, an admin's unless a request says otherwise."""
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {self.secrets[Role.ADMIN]}"}
        async with (
            self.app.router.lifespan_context(self.app),
            httpx2.AsyncClient(transport=transport, base_url="http://hub", headers=headers) as client,
        ):
            yield client

    def request(
        self, method: str, path: str, *, role: Role | None = Role.ADMIN, json: Any = None, **given: Any
    ) -> httpx2.Response:
        """Send one request, with the token of a role; None sends none."""
        headers = dict(given.pop("headers", {}))
        if role is not None:
            headers["Authorization"] = f"Bearer {self.secrets[role]}"
        if json is not None:
            given["content"] = msgspec.json.encode(json)
            headers.setdefault("Content-Type", "application/json")

        async def talk(client: httpx2.AsyncClient) -> httpx2.Response:
            if role is None:
                del client.headers["Authorization"]
            return await client.request(method, path, headers=headers, **given)

        return self.run(talk)

    def get(self, path: str, **given: Any) -> httpx2.Response:
        """Send a GET."""
        return self.request("GET", path, **given)

    def post(self, path: str, json: Any = None, **given: Any) -> httpx2.Response:
        """Send a POST with a JSON body."""
        return self.request("POST", path, json=json, **given)

    def create(self, target: str = "iad-1-n01", type_: str = "node.drain", **given: Any) -> Any:
        """Create an operation and return its document."""
        answer = self.post("/v1/operations", {"type": type_, "target": target} | given)
        assert answer.status_code == 202, answer.text
        return answer.json()


def problem_of(answer: httpx2.Response, code: str, status: int) -> Any:
    """Return the problem that an answer must be."""
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert (answer.status_code, document["status"], document["code"]) == (status, status, code), document
    assert document["type"] == f"urn:wingsmith:problem:{code}"
    return document

"""Fifty policies and numbers by chance: what the hub wants, and what the graphs then have, is what the oracle says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import httpx2

from hangar.domain.ids import ClusterName
from hangar.domain.workloads.placement import Bounds, Division, Policy, Site
from hangar.hub.app import create_app
from hangar.hub.principals import Role
from hangar.hub.settings import HubSettings
from hangar.hub.usecases.tokens import TokenRequest, create_token
from tests.domain.workloads.oracle import best_way
from tests.simulation.serving import ServingFleet, a_model, play
from tests.virtual_loop import LoopClock, pass_time

CLUSTERS = tuple(ClusterName(each) for each in ("ams-1", "fra-1", "iad-1", "sin-1"))
CASES = 50
REPLICAS_MAX = 12
SECRET = "hgr_admin"


def a_policy(dice: Random) -> Policy:
    """Return any policy; weights are static, since room is not the oracle's business."""
    bounds = {each: some_bounds(dice) for each in CLUSTERS if dice.random() < 0.3}
    weights = {each: dice.randint(0, 5) for each in CLUSTERS if dice.random() < 0.5}
    division = Division.DUPLICATED if dice.random() < 0.25 else Division.DIVIDED
    return Policy(division, weights=weights, bounds=bounds, default_bounds=some_bounds(dice))


def some_bounds(dice: Random) -> Bounds:
    """Return bounds, mostly wide ones."""
    return Bounds(dice.choice((0, 0, 1, 2)), dice.choice((None, None, 3, 6)))


def body_of(policy: Policy) -> dict[str, Any]:
    """Return a policy as a request has it."""
    return {
        "division": policy.division.value,
        "weights": dict(policy.weights),
        "min": policy.default_bounds.least,
        "max": policy.default_bounds.most,
        "bounds": {cluster: {"min": each.least, "max": each.most} for cluster, each in policy.bounds.items()},
    }


@asynccontextmanager
async def api_of(fleet: ServingFleet) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve the API on the fleet's own store."""
    request = TokenRequest(name="kim", role=Role.ADMIN)
    fleet.hub.store.write(lambda tx: create_token(tx, None, request, fleet.hub.now_us(), secret=SECRET))
    app = create_app(fleet.hub.store, LoopClock(), HubSettings())
    transport = httpx2.ASGITransport(app=app)
    headers = {"Authorization": f"Bearer {SECRET}"}
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://hub", headers=headers) as client,
    ):
        yield client


class Serving:
    """The workload llama on four clusters, changed through the API alone."""

    def __init__(self, fleet: ServingFleet, client: httpx2.AsyncClient) -> None:
        self._fleet = fleet
        self._client = client

    async def numbers(self) -> dict[str, int]:
        """Return what the hub wants of each cluster."""
        document = (await self._client.get("/v1/workloads/llama")).json()
        return {each["cluster"]: each["desired"] for each in document["deployments"]}

    async def put(self, policy: Policy, replicas: int) -> int:
        """Place the workload by a policy; return the answer's status."""
        deployments = [{"cluster": each, "namespace": "serving", "graph": "llama"} for each in CLUSTERS]
        body = {"project": "chat", "replicas": replicas, "policy": body_of(policy), "deployments": deployments}
        return (await self._client.put("/v1/workloads/llama", json=body)).status_code

    async def scale(self, replicas: int) -> int:
        """Scale it and wait for the end, which must be a success; return the answer's status."""
        body = {"type": "workload.scale", "target": "llama", "params": {"replicas": replicas}}
        answer = await self._client.post("/v1/operations", json=body)
        if answer.status_code == 202:
            done = (await self._client.get(f"/v1/operations/{answer.json()['id']}/wait")).json()
            assert done["phase"] == "succeeded", done
        return answer.status_code

    async def check(self, policy: Policy, replicas: int, before: dict[str, int]) -> bool:
        """Compare the hub and the graphs with the oracle; tell whether there was a way at all."""
        sites = [Site(each, before.get(each, 0)) for each in CLUSTERS]
        best = best_way(policy, replicas, sites)
        wanted = await self.numbers()
        assert wanted == (before if best is None else best), (policy, replicas, before)
        await self._fleet.until(lambda: all(each.is_written for each in self._fleet.workload().deployments), "written")
        assert {name: site.replicas() for name, site in self._fleet.sites.items()} == wanted, (policy, replicas)
        return best is not None


async def _compare() -> tuple[int, int]:
    """Play all cases; return how many numbers were placed, and how many had no place."""
    dice = Random(7)
    fleet = ServingFleet({each: [a_model(ready_after_s=0.5)] for each in CLUSTERS})
    try:
        await fleet.begin()
        async with api_of(fleet) as client:
            serving = Serving(fleet, client)
            assert await serving.put(Policy(), 0) == 201
            counts = {True: 0, False: 0}
            for _ in range(CASES):
                policy, first, then = a_policy(dice), dice.randint(0, REPLICAS_MAX), dice.randint(0, REPLICAS_MAX)
                before = await serving.numbers()
                if await serving.put(policy, first) == 422:
                    assert not await serving.check(policy, first, before)
                    counts[False] += 1
                    assert await serving.put(policy, 0) == 200
                else:
                    assert await serving.check(policy, first, before)
                    counts[True] += 1
                before = await serving.numbers()
                status = await serving.scale(then)
                is_placed = await serving.check(policy, then, before)
                assert status == (202 if is_placed else 422)
                counts[is_placed] += 1
            return counts[True], counts[False]
    finally:
        fleet.end()
        await pass_time(0.0)


def test_what_is_placed_through_the_api_is_what_the_oracle_says() -> None:
    placed, misfits = play(_compare)
    assert placed + misfits == 2 * CASES
    assert misfits > CASES // 10
    assert placed > CASES

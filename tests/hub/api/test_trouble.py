"""A store in trouble: refused is refused, acknowledged stays, and the hub says that it is not ready."""

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from hangar.hub.store.store import Store
from tests.hub.api.client import Api, problem_of
from tests.hub.world import a_node


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    made = Api(Store.open(tmp_path / "hub.db"))
    yield made
    made.world.store.close()


def limit_pages(api: Api, count: int) -> None:
    api.world.store.write(lambda tx: tx.connection.execute(text(f"PRAGMA max_page_count = {count}")))


def test_a_full_disk_is_503_and_loses_nothing_acknowledged(api: Api) -> None:
    api.operator.tell(*(a_node(f"n{number:02d}") for number in range(60)))
    assert api.get("/readyz", role=None).json() == {"status": "ready"}
    limit_pages(api, 1)
    created: list[httpx2.Response] = []
    refused: list[httpx2.Response] = []
    for number in range(60):
        answer = api.post("/v1/operations", {"type": "node.drain", "target": f"n{number:02d}", "reason": "x" * 900})
        (created if answer.status_code == 202 else refused).append(answer)
    for answer in refused:
        assert "the disk is full" in problem_of(answer, "busy", 503)["detail"]
        assert answer.headers["retry-after"] == "2"
    assert len(refused) > 10
    api.world.now_us += 1_000_000
    problem_of(api.get("/readyz", role=None), "busy", 503)
    assert api.get("/healthz", role=None).status_code == 200
    found = {each["id"] for each in api.get("/v1/operations?page_size=1000").json()["items"]}
    assert found == {answer.json()["id"] for answer in created}
    limit_pages(api, 1_000_000)
    assert api.get("/readyz", role=None).status_code == 200
    target = refused[0].request.content.decode().partition('"target":"')[2][:3]
    assert api.create(target)["phase"] == "pending"


def test_a_locked_database_is_503_and_loses_nothing_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C81: the store is away for a while, and comes back."""
    monkeypatch.setattr("hangar.hub.store.dialects.STORE_BUSY_TIMEOUT_S", 0.01)
    path = tmp_path / "other.db"
    api = Api(Store.open(path))
    acknowledged = api.create("iad-1-n01")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = api.post("/v1/operations", {"type": "node.drain", "target": "iad-1-n02"})
    detail = problem_of(answer, "busy", 503)["detail"]
    assert "locked" in detail
    assert detail.endswith("Nothing was changed; try again.")
    assert answer.headers["retry-after"] == "2"
    assert api.get("/v1/operations").json()["items"] == [acknowledged]
    other.execute("ROLLBACK")
    other.close()
    created = api.create("iad-1-n02")
    assert [each["id"] for each in api.get("/v1/operations").json()["items"]] == [created["id"], acknowledged["id"]]
    api.world.store.close()


def test_the_sweep_tells_of_a_store_in_trouble_once_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hangar.hub.store.dialects.STORE_BUSY_TIMEOUT_S", 0.01)
    path = tmp_path / "other.db"
    api = Api(Store.open(path))
    other = sqlite3.connect(path, isolation_level=None)

    async def sweeps() -> None:
        other.execute("BEGIN IMMEDIATE")
        await api.hub.sweep()
        await api.hub.sweep()
        other.execute("ROLLBACK")
        await api.hub.sweep()
        await api.hub.sweep()

    with capture_logs() as lines:
        asyncio.run(sweeps())
    assert [each["event"] for each in lines] == ["the store does not take writes", "the store takes writes again"]
    other.close()
    api.world.store.close()

"""The use cases on both stores: every test here runs once in memory and once on PostgreSQL."""

import pytest

from tests.databases import Databases
from tests.hub import world
from tests.hub.sites import Fleet


@pytest.fixture(autouse=True, params=["memory", "postgresql"])
def store_of_worlds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "postgresql":
        databases: Databases = request.getfixturevalue("postgres")
        monkeypatch.setattr(world, "new_store", databases.empty_store)


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()

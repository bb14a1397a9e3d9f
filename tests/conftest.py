"""What tests of any part may ask for: a PostgreSQL server, started when the first of them does."""

import os
from collections.abc import Iterator

import pytest

from tests.databases import Databases


@pytest.fixture(scope="session")
def postgres_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    base = tmp_path_factory.getbasetemp()
    made = Databases(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)
    yield made
    made.close()


@pytest.fixture
def postgres(postgres_of_the_run: Databases) -> Databases:
    postgres_of_the_run.begin_test()
    return postgres_of_the_run

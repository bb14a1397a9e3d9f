"""Databases for tests, on a PostgreSQL server of our own that all processes of a run share."""

import os
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from sqlalchemy import URL, Connection, create_engine, delete, make_url, text
from sqlalchemy.pool import NullPool

from hangar.hub.store.migrate import fill_feed
from hangar.hub.store.store import Store
from hangar.hub.store.tables import metadata
from testbed.postgres import server

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")


@dataclass(frozen=True, slots=True)
class Kept:
    """A database that is emptied instead of made anew, and a store without threads over it."""

    url: URL
    store: Store


class Databases:
    """The databases of one test process."""

    def __init__(self, folder: Path) -> None:
        self._server = server(folder / "postgres")
        self._admin = create_engine(
            make_url(self._server.url()).set(drivername="postgresql+psycopg"),
            isolation_level="AUTOCOMMIT",
            poolclass=NullPool,
        )
        self._numbers = count()
        self._kept: list[Kept] = []
        self._used = 0

    def create(self, options: str = "") -> URL:
        """Create a database without tables and return its URL."""
        name = f"{WORKER}_{next(self._numbers)}"
        with self._admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} {options}"))
        return make_url(self._server.url(name))

    def begin_test(self) -> None:
        """Let the next test use what is kept, from the first on."""
        self._used = 0

    def empty_store(self) -> Store:
        """Return a store without threads over today's tables with nothing in them; each call in a test another."""
        return self._next().store

    def empty(self) -> URL:
        """Return the URL of a database with today's tables and nothing in them; each call in a test another."""
        return self._next().url

    def _next(self) -> Kept:
        if self._used == len(self._kept):
            url = self.create()
            self._kept.append(Kept(url, Store.open(url, has_threads=False)))
        kept = self._kept[self._used]
        self._used += 1
        kept.store.write(lambda tx: _clear(tx.connection))
        return kept

    def close(self) -> None:
        """Close what is open."""
        for kept in self._kept:
            kept.store.close()
        self._admin.dispose()
        self._server.leave()


def _clear(connection: Connection) -> None:
    for table in metadata.sorted_tables:
        connection.execute(delete(table))
    fill_feed(connection)

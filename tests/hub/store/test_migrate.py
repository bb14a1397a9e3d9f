"""Migrations: from every release to the tables that the code has, on both stores; what is not known is left alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, select, text

from hangar.hub.store.dialects import Database, writing_engine
from hangar.hub.store.migrate import MIGRATIONS, WrongSchemaError, _config, create_fresh, migrate
from hangar.hub.store.store import Store
from hangar.hub.store.tables import idempotency, metadata, nodes, tokens
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.queries import OperationFilters, list_operations
from tests.databases import Databases
from tests.hub.world import World

RELEASED = Path(__file__).parent / "released"
"""By revision: the rows that a hub of that version left, as SQL that both stores read."""


@pytest.fixture(params=["file", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "file":
        return tmp_path / "hub.db"
    databases: Databases = request.getfixturevalue("postgres")
    return databases.create()


@contextmanager
def opened(database: Database) -> Iterator[Engine]:
    engine = writing_engine(database)
    yield engine
    engine.dispose()


def scripts() -> list[Script]:
    """All migrations, the first one first."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        found = list(ScriptDirectory.from_config(_config(connection)).walk_revisions())
    engine.dispose()
    return found[::-1]


def upgrade_to(engine: Engine, revision: str) -> None:
    with engine.begin() as connection:
        command.upgrade(_config(connection), revision)


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


def test_the_migrations_are_one_chain_and_ship_with_the_package() -> None:
    assert (MIGRATIONS / "env.py").is_file()
    files = sorted(path.stem for path in (MIGRATIONS / "versions").glob("*.py"))
    revisions = [each.revision for each in scripts()]
    assert revisions == [f"{number:04d}" for number in range(1, len(files) + 1)]
    assert [name.partition("_")[0] for name in files] == revisions
    assert [each.down_revision for each in scripts()] == [None, *revisions[:-1]]


def test_the_migrations_make_the_tables_that_the_code_has(database: Database) -> None:
    with opened(database) as engine:
        migrate(engine)
        with engine.connect() as connection:
            assert differences(connection) == []


def test_each_step_of_the_chain_can_be_taken_alone(database: Database) -> None:
    with opened(database) as engine:
        for each in scripts():
            upgrade_to(engine, each.revision)
            with engine.connect() as connection:
                assert MigrationContext.configure(connection).get_current_revision() == each.revision
        with engine.connect() as connection:
            assert differences(connection) == []


@pytest.mark.parametrize("released", sorted(path.stem for path in RELEASED.glob("*.sql")))
def test_what_a_release_left_is_there_after_the_upgrade(database: Database, released: str) -> None:
    with opened(database) as engine:
        upgrade_to(engine, released)
        with engine.begin() as connection:
            for statement in (RELEASED / f"{released}.sql").read_text().split(";\n"):
                connection.exec_driver_sql(statement)
    store = Store.open(database)
    world = World(store)
    page = store.read(lambda c: list_operations(c, OperationFilters(), PageRequest(), world.rules))
    assert [(each.phase, each.target, each.created_by) for each in page.items] == [
        ("running", "iad-1-n02", "max"),
        ("succeeded", "iad-1-n01", "admin"),
    ]
    assert page.items[0].progress is not None
    assert (page.items[0].progress.done, page.items[1].result is not None) == (1, True)
    assert page.as_of == 11
    assert store.read(lambda c: c.execute(select(nodes.c.name)).scalars().all()) == ["iad-1-n01", "iad-1-n02"]
    assert store.read(lambda c: c.execute(select(tokens.c.principal)).scalars().all()) == ["admin"]
    assert store.read(lambda c: c.execute(select(idempotency.c.key)).scalars().all()) == ["k"]
    assert world.revs() == list(range(1, 12))
    # And the record goes on from there.
    assert world.cancel(page.items[0].id).cancel is not None
    assert world.revs() == list(range(1, 13))
    store.close()


def test_the_first_release_is_kept_for_ever() -> None:
    assert (RELEASED / "0001.sql").is_file()


def test_fresh_tables_are_those_that_the_migrations_make(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'hub.db'}")
    migrate(engine)
    migrated = _definitions(engine)
    engine.dispose()
    fresh = create_engine("sqlite://")
    create_fresh(fresh)
    assert migrated == _definitions(fresh)
    fresh.dispose()


def _definitions(engine: Engine) -> dict[str, str]:
    """What each table and index is made of, without the differences in how it is written."""
    query = text("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'alembic%' AND sql IS NOT NULL")
    with engine.connect() as connection:
        rows = connection.execute(query).all()
    plain = str.maketrans("", "", " \n\t\"'")
    return {name: "".join(sorted(sql.translate(plain))) for name, sql in rows if not name.startswith("sqlite_")}


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    Store.open(path).close()
    before = path.read_bytes()
    Store.open(path).close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("open_", [Store.open, Store.open_beside])
def test_a_database_of_a_later_version_is_left_alone(database: Database, open_: Callable[[Database], Store]) -> None:
    store = Store.open(database)
    store.write(lambda tx: tx.connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    store.close()
    with pytest.raises(WrongSchemaError, match="9999"):
        open_(database)


def test_beside_a_hub_only_an_empty_database_is_given_tables(database: Database) -> None:
    Store.open_beside(database).close()
    with opened(database) as engine, engine.connect() as connection:
        assert differences(connection) == []

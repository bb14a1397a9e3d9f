"""Migrations: they lead to the tables that the code has, and refuse what they do not know."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, create_engine, text

from hangar.hub.store.migrate import MIGRATIONS, WrongSchemaError, check_is_current, create_fresh, migrate
from hangar.hub.store.store import Store
from hangar.hub.store.tables import metadata


def test_the_migrations_make_the_tables_that_the_code_has(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'hub.db'}")
    migrate(engine)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
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


def test_a_database_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    store = Store.open(path)
    store.write(lambda tx: tx.connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    store.close()
    with pytest.raises(WrongSchemaError, match="9999, which this version of hangar-server does not know"):
        Store.open(path)
    with pytest.raises(WrongSchemaError, match="9999"):
        Store.open_beside(path)
    engine = create_engine(f"sqlite:///{path}")
    with pytest.raises(WrongSchemaError):
        check_is_current(engine)
    engine.dispose()


def test_every_migration_ships_with_the_package() -> None:
    assert (MIGRATIONS / "env.py").is_file()
    assert sorted(each.name for each in (MIGRATIONS / "versions").glob("*.py")) == [
        "0001_baseline.py",
        "0002_questions.py",
    ]

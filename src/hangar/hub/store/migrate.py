"""Bringing a database's tables up to date: at the start of the hub, and before a token is made without one."""

import secrets
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, insert

from hangar.hub.store.dialects import begin_migrating
from hangar.hub.store.tables import feed, metadata

MIGRATIONS = Path(__file__).parent / "migrations"


class WrongSchemaError(Exception):
    """The database's tables are of another version than this program's; the message says which."""


def migrate(engine: Engine) -> None:
    """Run the migrations that a database lacks, all in one transaction. Raises WrongSchemaError when it is newer."""
    with engine.begin() as connection:
        begin_migrating(connection)
        config = _config(connection)
        script = ScriptDirectory.from_config(config)
        found = MigrationContext.configure(connection).get_current_revision()
        if found == script.get_current_head():
            return
        if found is not None and found not in {each.revision for each in script.walk_revisions()}:
            raise WrongSchemaError(
                f"the database has tables of version {found}, which this version of hangar-server does not know: "
                "start the newer version that made them, or restore a backup"
            )
        command.upgrade(config, "head")


def migrate_beside(engine: Engine) -> None:
    """Make the tables in an empty database, and leave others alone: a hub may be running on them.

    Raises WrongSchemaError unless they are those of this program.
    """
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
        wanted = ScriptDirectory.from_config(_config(connection)).get_current_head()
    if found is None:
        migrate(engine)
    elif found != wanted:
        raise WrongSchemaError(
            f"the running hub's tables are of version {found}, this program's of version {wanted}: "
            "use the program of the version that is running"
        )


def create_fresh(engine: Engine) -> None:
    """Create all tables as they are today in an empty database, which is quicker than the way through history."""
    with engine.begin() as connection:
        metadata.create_all(connection)
        fill_feed(connection)


def fill_feed(connection: Connection) -> None:
    """Give the feed its only row."""
    connection.execute(insert(feed).values(id=1, rev=0, incarnation=secrets.token_hex(8)))


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config

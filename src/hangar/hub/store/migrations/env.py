"""Where alembic runs the migrations: on the connection, and in the transaction, that `migrate` opened."""

from alembic import context

from hangar.hub.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()

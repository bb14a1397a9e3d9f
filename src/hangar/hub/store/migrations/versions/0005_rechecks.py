"""Rechecks: when an operation that the hub carries out is to be looked at again, whatever happens until then."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the time."""
    op.add_column("runs", sa.Column("recheck_us", sa.BigInteger()))

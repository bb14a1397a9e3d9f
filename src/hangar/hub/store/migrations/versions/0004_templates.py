"""Why what is desired of a deployment is not written, as its operator says."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add what operators say of what they cannot write."""
    op.add_column("deployments", sa.Column("unwritten", sa.Text()))

"""Graphs that Wingsmith creates and removes, why something is not written, and which clusters add nodes on demand."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add templates, removals, and what operators say of themselves and of what they cannot write."""
    op.add_column("deployments", sa.Column("unwritten", sa.Text()))
    op.add_column("deployments", sa.Column("templated", sa.Boolean(), nullable=False, server_default=sa.text("false")))
    op.add_column(
        "clusters", sa.Column("has_autoscaler", sa.Boolean(), nullable=False, server_default=sa.text("false"))
    )
    op.add_column("workloads", sa.Column("template", sa.Text()))
    op.create_table(
        "removals",
        sa.Column("cluster", KEY, nullable=False),
        sa.Column("namespace", KEY, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("uid", KEY),
        sa.Column("why", sa.Text()),
        sa.Column("workload", KEY, nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("cluster", "namespace", "name"),
    )
    op.create_index("ix_removals_cluster_rev", "removals", ["cluster", "rev"])

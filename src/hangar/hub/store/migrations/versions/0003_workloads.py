"""Workloads: projects and their quotas, workloads, their deployments, and the graphs that operators tell of."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables of workloads."""
    op.create_table(
        "projects",
        sa.Column("name", KEY, nullable=False),
        sa.Column("quotas", sa.Text(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "workloads",
        sa.Column("name", KEY, nullable=False),
        sa.Column("project", KEY, nullable=False),
        sa.Column("replicas", sa.BigInteger(), nullable=False),
        sa.Column("paused_us", sa.BigInteger()),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("shape", sa.Text()),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_workloads_project", "workloads", ["project"])
    op.create_table(
        "deployments",
        sa.Column("workload", KEY, nullable=False),
        sa.Column("cluster", KEY, nullable=False),
        sa.Column("namespace", KEY, nullable=False),
        sa.Column("graph", KEY, nullable=False),
        sa.Column("shape", sa.Text()),
        sa.Column("drained_by", KEY),
        sa.Column("held", sa.BigInteger()),
        sa.Column("desired", sa.BigInteger(), nullable=False),
        sa.Column("desired_rev", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("workload", "cluster"),
        sa.UniqueConstraint("cluster", "namespace", "graph", name="uq_deployments_cluster_namespace_graph"),
    )
    op.create_index("ix_deployments_cluster_rev", "deployments", ["cluster", "rev"])
    op.create_table(
        "graphs",
        sa.Column("cluster", KEY, nullable=False),
        sa.Column("namespace", KEY, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("updated_us", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("cluster", "namespace", "name"),
    )

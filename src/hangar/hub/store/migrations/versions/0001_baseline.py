"""The first tables."""

import sqlalchemy as sa
from alembic import op

from hangar.hub.store.migrate import fill_feed

revision = "0001"
down_revision = None

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
IS_OPEN = sa.text("phase IN ('pending', 'running')")


def upgrade() -> None:
    """Create every table and the feed's row."""
    _create_feed()
    _create_readiness()
    _create_idempotency()
    _create_tokens()
    _create_operations()
    _create_runs()
    _create_events()
    _create_clusters()
    _create_nodes()
    fill_feed(op.get_bind())


def _create_feed() -> None:
    op.create_table(
        "feed",
        sa.Column("id", sa.Integer(), sa.CheckConstraint("id = 1"), autoincrement=False, nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False),
        sa.Column("incarnation", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def _create_readiness() -> None:
    op.create_table(
        "readiness",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("filler", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )


def _create_idempotency() -> None:
    op.create_table(
        "idempotency",
        sa.Column("principal", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("op_id", KEY, nullable=False),
        sa.Column("expires_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("principal", "key"),
    )
    op.create_index("ix_idempotency_expires_us", "idempotency", ["expires_us"])


def _create_tokens() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("sha256", KEY, nullable=False),
        sa.Column("principal", KEY, nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("cluster", KEY),
        sa.Column("created_by", sa.Text()),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("expires_us", sa.BigInteger()),
        sa.Column("revoked_us", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("sha256", name="uq_tokens_sha256"),
    )


def _create_operations() -> None:
    op.create_table(
        "operations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("type", KEY, nullable=False),
        sa.Column("kind_version", sa.Integer(), nullable=False),
        sa.Column("phase", KEY, nullable=False),
        sa.Column("cluster", KEY),
        sa.Column("target", KEY, nullable=False),
        sa.Column("target_uid", KEY),
        sa.Column("hold", KEY, nullable=False),
        sa.Column("params", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("created_by", KEY, nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("started_us", sa.BigInteger()),
        sa.Column("finished_us", sa.BigInteger()),
        sa.Column("deadline_us", sa.BigInteger()),
        sa.Column("cancel_by", sa.Text()),
        sa.Column("cancel_us", sa.BigInteger()),
        sa.Column("final_progress", sa.Text()),
        sa.Column("result", sa.Text()),
        sa.Column("rev", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_operations_cluster_id", "operations", ["cluster", "id"])
    op.create_index(
        "ix_operations_cluster_open", "operations", ["cluster", "id"], sqlite_where=IS_OPEN, postgresql_where=IS_OPEN
    )
    op.create_index("ix_operations_cluster_rev", "operations", ["cluster", "rev"])
    op.create_index("ix_operations_created_by_id", "operations", ["created_by", "id"])
    op.create_index(
        "ix_operations_hold_open", "operations", ["hold"], unique=True, sqlite_where=IS_OPEN, postgresql_where=IS_OPEN
    )
    op.create_index("ix_operations_open", "operations", ["id"], sqlite_where=IS_OPEN, postgresql_where=IS_OPEN)
    op.create_index("ix_operations_phase_id", "operations", ["phase", "id"])
    op.create_index("ix_operations_rev", "operations", ["rev"])
    op.create_index("ix_operations_target_id", "operations", ["target", "id"])
    op.create_index("ix_operations_type_id", "operations", ["type", "id"])


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("op_id", KEY, nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("report_n", sa.BigInteger(), nullable=False),
        sa.Column("memory", sa.Text()),
        sa.Column("progress", sa.Text()),
        sa.Column("rev", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("op_id"),
    )
    op.create_index("ix_runs_rev", "runs", ["rev"])


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("rev", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at_us", sa.BigInteger(), nullable=False),
        sa.Column("type", KEY, nullable=False),
        sa.Column("object_kind", KEY, nullable=False),
        sa.Column("object_name", KEY, nullable=False),
        sa.Column("object_cluster", KEY),
        sa.Column("op_id", KEY),
        sa.Column("actor", sa.Text()),
        sa.Column("data", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("rev"),
    )
    op.create_index("ix_events_object_cluster_rev", "events", ["object_cluster", "rev"])
    op.create_index("ix_events_object_name_rev", "events", ["object_name", "rev"])
    op.create_index("ix_events_op_id_rev", "events", ["op_id", "rev"])
    op.create_index("ix_events_type_rev", "events", ["type", "rev"])


def _create_clusters() -> None:
    op.create_table(
        "clusters",
        sa.Column("name", KEY, nullable=False),
        sa.Column("uid", sa.Text()),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("session", sa.Text()),
        sa.Column("incarnation", sa.Text()),
        sa.Column("unclean_epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("standbys", sa.Text(), server_default="[]", nullable=False),
        sa.Column("online", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("seen_us", sa.BigInteger()),
        sa.Column("protocol", sa.Integer()),
        sa.Column("kinds", sa.Text(), server_default="{}", nullable=False),
        sa.Column("allowed", sa.Text(), server_default="[]", nullable=False),
        sa.Column("kubernetes_version", sa.Text()),
        sa.Column("operator_version", sa.Text()),
        sa.Column("inventory_n", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("rev", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )


def _create_nodes() -> None:
    op.create_table(
        "nodes",
        sa.Column("cluster", KEY, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("uid", KEY, nullable=False),
        sa.Column("ready", sa.Boolean(), nullable=False),
        sa.Column("cordoned", sa.Boolean(), nullable=False),
        sa.Column("doc", sa.Text(), nullable=False),
        sa.Column("updated_us", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("cluster", "name"),
    )
    op.create_index("ix_nodes_name", "nodes", ["name"])

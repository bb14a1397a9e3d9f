"""Questions to operators: what an operation would do."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of questions."""
    op.create_table(
        "questions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("cluster", KEY, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("expires_us", sa.BigInteger(), nullable=False),
        sa.Column("rev", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_questions_rev", "questions", ["rev"])
    op.create_index("ix_questions_cluster_id", "questions", ["cluster", "id"])

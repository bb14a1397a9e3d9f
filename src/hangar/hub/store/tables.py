"""The tables of the store: what there is to know, and under which keys it is found."""

from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    and_,
    text,
)

from hangar.domain.operation import OPEN

Key = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that sorts by its bytes on both stores, so that page tokens mean the same on either."""

Micros = BigInteger
"""An instant: microseconds since 1970, UTC."""

Rev = BigInteger
"""A position in the feed."""

IS_OPEN = text("phase IN ({})".format(", ".join(f"'{phase}'" for phase in sorted(OPEN))))
"""The condition of the partial indexes: an operation that is not over."""


class Json(TypeDecorator[Any]):
    """A JSON document, kept as text, which both stores hold alike."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002 - given by SQLAlchemy
        """Encode a document; None stays NULL."""
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002 - given by SQLAlchemy
        """Decode a document."""
        return None if value is None else msgspec.json.decode(value)


metadata = MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "uq": "uq_%(table_name)s_%(column_0_N_name)s"}
)

# One row, the last lock of each write: rev counts up without gaps. incarnation changes when a backup is restored.
feed = Table(
    "feed",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("rev", Rev, nullable=False),
    Column("incarnation", Text, nullable=False),
)

# Written and emptied again to find out whether the store takes writes.
readiness = Table(
    "readiness",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("filler", Text),
)

# A key is remembered with what was asked, so that the same request sent twice is one operation.
idempotency = Table(
    "idempotency",
    metadata,
    Column("principal", Key, primary_key=True),
    Column("key", Key, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("op_id", Key, nullable=False),
    Column("expires_us", Micros, nullable=False, index=True),
)

# Tokens are random, so a plain SHA-256 keeps them; `cluster` is set for operators' tokens alone.
tokens = Table(
    "tokens",
    metadata,
    Column("id", Key, primary_key=True),
    Column("sha256", Key, nullable=False),
    Column("principal", Key, nullable=False),
    Column("role", Text, nullable=False),
    Column("cluster", Key),
    Column("created_by", Text),
    Column("created_us", Micros, nullable=False),
    Column("expires_us", Micros),
    Column("revoked_us", Micros),
    UniqueConstraint("sha256"),
)

# `hold` names what an operation has for itself while it is open; the unique index is the only judge of conflicts.
operations = Table(
    "operations",
    metadata,
    Column("id", Key, primary_key=True),
    Column("type", Key, nullable=False),
    Column("kind_version", Integer, nullable=False),
    Column("phase", Key, nullable=False),
    Column("cluster", Key),
    Column("target", Key, nullable=False),
    Column("target_uid", Key),
    Column("hold", Key, nullable=False),
    Column("params", Json, nullable=False),
    Column("reason", Text),
    Column("created_by", Key, nullable=False),
    Column("created_us", Micros, nullable=False),
    Column("started_us", Micros),
    Column("finished_us", Micros),
    Column("deadline_us", Micros),
    Column("cancel_by", Text),
    Column("cancel_us", Micros),
    Column("final_progress", Json),
    Column("result", Json),
    Column("rev", Rev, nullable=False, server_default="0", index=True),
    Index("ix_operations_hold_open", "hold", unique=True, sqlite_where=IS_OPEN, postgresql_where=IS_OPEN),
    Index("ix_operations_cluster_open", "cluster", "id", sqlite_where=IS_OPEN, postgresql_where=IS_OPEN),
    Index("ix_operations_open", "id", sqlite_where=IS_OPEN, postgresql_where=IS_OPEN),
    Index(None, "type", "id"),
    Index(None, "phase", "id"),
    Index(None, "created_by", "id"),
    Index(None, "target", "id"),
    Index(None, "cluster", "id"),
    Index(None, "cluster", "rev"),
)

IS_OPERATED = operations.c.target_uid.is_not(None)
"""The condition of operations that a cluster's operator carries out; those on workloads are the hub's own."""

# What changes often while an operation is open; the row goes when the operation is over.
runs = Table(
    "runs",
    metadata,
    Column("op_id", Key, primary_key=True),
    Column("epoch", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("report_n", BigInteger, nullable=False),
    Column("memory", Json),
    Column("progress", Json),
    Column("recheck_us", Micros),
    Column("rev", Rev, nullable=False, server_default="0", index=True),
)

# What an operation would do, asked of its cluster's operator; a row lives for seconds.
questions = Table(
    "questions",
    metadata,
    Column("id", Key, primary_key=True),
    Column("cluster", Key, nullable=False),
    Column("body", Json, nullable=False),
    Column("answer", Json),
    Column("expires_us", Micros, nullable=False),
    Column("rev", Rev, nullable=False, server_default="0", index=True),
    Index(None, "cluster", "id"),
)

events = Table(
    "events",
    metadata,
    Column("rev", Rev, primary_key=True, autoincrement=False),
    Column("at_us", Micros, nullable=False),
    Column("type", Key, nullable=False),
    Column("object_kind", Key, nullable=False),
    Column("object_name", Key, nullable=False),
    Column("object_cluster", Key),
    Column("op_id", Key),
    Column("actor", Text),
    Column("data", Json, nullable=False),
    Index(None, "type", "rev"),
    Index(None, "object_name", "rev"),
    Index(None, "object_cluster", "rev"),
    Index(None, "op_id", "rev"),
)

# `session` is None after a clean release. `unclean_epoch` is the newest epoch that ended without one.
# `standbys` are the incarnations that were told to wait, so that each is an event only once.
clusters = Table(
    "clusters",
    metadata,
    Column("name", Key, primary_key=True),
    Column("uid", Text),
    Column("created_us", Micros, nullable=False),
    Column("epoch", BigInteger, nullable=False, server_default="0"),
    Column("session", Text),
    Column("incarnation", Text),
    Column("unclean_epoch", BigInteger, nullable=False, server_default="0"),
    Column("standbys", Json, nullable=False, server_default="[]"),
    Column("online", Boolean, nullable=False, server_default=text("false")),
    Column("seen_us", Micros),
    Column("protocol", Integer),
    Column("kinds", Json, nullable=False, server_default="{}"),
    Column("allowed", Json, nullable=False, server_default="[]"),
    Column("kubernetes_version", Text),
    Column("operator_version", Text),
    Column("has_autoscaler", Boolean, nullable=False, server_default=text("false")),
    Column("inventory_n", BigInteger, nullable=False, server_default="0"),
    Column("rev", Rev, nullable=False, server_default="0"),
)

nodes = Table(
    "nodes",
    metadata,
    Column("cluster", Key, primary_key=True),
    Column("name", Key, primary_key=True),
    Column("uid", Key, nullable=False),
    Column("ready", Boolean, nullable=False),
    Column("cordoned", Boolean, nullable=False),
    Column("doc", Json, nullable=False),
    Column("updated_us", Micros, nullable=False),
    Column("rev", Rev, nullable=False, server_default="0"),
    Index(None, "name"),
)

# `quotas` maps the name of a resource to its limit.
projects = Table(
    "projects",
    metadata,
    Column("name", Key, primary_key=True),
    Column("quotas", Json, nullable=False),
    Column("created_us", Micros, nullable=False),
    Column("rev", Rev, nullable=False, server_default="0"),
)

# `paused_us` is since when it is paused. `shape` is the one that was named; None lets each graph tell its own.
workloads = Table(
    "workloads",
    metadata,
    Column("name", Key, primary_key=True),
    Column("project", Key, nullable=False, index=True),
    Column("replicas", BigInteger, nullable=False),
    Column("paused_us", Micros),
    Column("policy", Json, nullable=False),
    Column("shape", Json),
    Column("template", Json),
    Column("created_us", Micros, nullable=False),
    Column("rev", Rev, nullable=False, server_default="0"),
)

# `desired` follows from the workload and the rows of its other deployments; `desired_rev` says when it last changed.
# `unwritten` is what the operator said last of why it has not written something. `templated`: its graph was not there
# when it was bound, and is made from the workload's template.
deployments = Table(
    "deployments",
    metadata,
    Column("workload", Key, primary_key=True),
    Column("cluster", Key, primary_key=True),
    Column("namespace", Key, nullable=False),
    Column("graph", Key, nullable=False),
    Column("shape", Json),
    Column("drained_by", Key),
    Column("held", BigInteger),
    Column("desired", BigInteger, nullable=False),
    Column("desired_rev", BigInteger, nullable=False),
    Column("unwritten", Json),
    Column("templated", Boolean, nullable=False, server_default=text("false")),
    Column("rev", Rev, nullable=False, server_default="0"),
    UniqueConstraint("cluster", "namespace", "graph"),
    Index(None, "cluster", "rev"),
)

# What operators tell of the graphs on their clusters, whether or not a workload is bound to them.
graphs = Table(
    "graphs",
    metadata,
    Column("cluster", Key, primary_key=True),
    Column("namespace", Key, primary_key=True),
    Column("name", Key, primary_key=True),
    Column("doc", Json, nullable=False),
    Column("updated_us", Micros, nullable=False),
    Column("rev", Rev, nullable=False, server_default="0"),
)

IS_GRAPH_OF_DEPLOYMENT = and_(
    graphs.c.cluster == deployments.c.cluster,
    graphs.c.namespace == deployments.c.namespace,
    graphs.c.name == deployments.c.graph,
)
"""The condition that joins a deployment and the graph that it is bound to; either may be without the other."""

# Graphs that Wingsmith had created and that are to go; a row lives until its operator says that the graph is gone.
# `uid` None: it may be about to be created, and was never told of. `why` it is not gone yet, in its operator's words.
removals = Table(
    "removals",
    metadata,
    Column("cluster", Key, primary_key=True),
    Column("namespace", Key, primary_key=True),
    Column("name", Key, primary_key=True),
    Column("uid", Key),
    Column("why", Text),
    Column("workload", Key, nullable=False),
    Column("created_us", Micros, nullable=False),
    Column("rev", Rev, nullable=False, server_default="0"),
    Index(None, "cluster", "rev"),
)

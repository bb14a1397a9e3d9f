"""The fence: a session's writes count only while the cluster's epoch is its own."""

from sqlalchemy import Connection

from hangar.hub.store.records import ClusterRecord, find_cluster
from hangar.wire.problems import Problem, ProblemCode


def held_cluster(connection: Connection, name: str, session: str, epoch: int) -> ClusterRecord:
    """Return the cluster that a session holds. Raises FENCED when it no longer does."""
    cluster = find_cluster(connection, name)
    if cluster is not None and cluster.session == session and cluster.epoch == epoch:
        return cluster
    now = "there is no such cluster" if cluster is None else f"the cluster is at epoch {cluster.epoch}"
    raise Problem(
        ProblemCode.FENCED,
        f"session {session} with epoch {epoch} does not hold {name}: {now}. Stop what it began and open a new session.",
    )

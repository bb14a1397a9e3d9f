"""Names as people write them: a bare node name where it is unambiguous in the fleet, else `cluster/node`."""

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import Connection, select

from hangar.hub.store.records import NodeRecord, Target, find_nodes, find_targets
from hangar.hub.store.tables import clusters
from hangar.wire.problems import FieldError, Problem, ProblemCode

T = TypeVar("T")


def resolve_node(connection: Connection, name: str, cluster: str | None, path: str) -> NodeRecord:
    """Return the node that a name means. `path` is where the name stood, for the error.

    Raises Problem: NOT_FOUND, AMBIGUOUS_TARGET with `candidates`, INVALID_VALUE where name and cluster contradict.
    """
    bare, wanted = _parts(name, cluster, path)
    found = find_nodes(connection, bare, wanted)
    return _only(connection, found, [each.cluster for each in found], bare, wanted, path)


def resolve_target(connection: Connection, name: str, cluster: str | None, path: str) -> Target:
    """Return which node a name means, and its cluster: what is needed to act on it. Raises as `resolve_node`."""
    bare, wanted = _parts(name, cluster, path)
    found = find_targets(connection, bare, wanted)
    return _only(connection, found, [each.cluster.name for each in found], bare, wanted, path)


def _parts(name: str, cluster: str | None, path: str) -> tuple[str, str | None]:
    """Return the bare name of a node, and the cluster that it must be of, None where it may be of any."""
    in_cluster, slash, bare = name.rpartition("/")
    if slash and cluster is not None and cluster != in_cluster:
        error = FieldError("cluster", f"is {cluster}, but {path} names the cluster {in_cluster}")
        raise Problem(ProblemCode.INVALID_VALUE, f"cluster: {error.message}", (error,))
    return bare, in_cluster if slash else cluster


def _only(
    connection: Connection, found: Sequence[T], of_clusters: Sequence[str], bare: str, wanted: str | None, path: str
) -> T:
    """Return what was found where it is one."""
    if len(found) == 1:
        return found[0]
    if found:
        candidates = [f"{each}/{bare}" for each in of_clusters]
        raise Problem(
            ProblemCode.AMBIGUOUS_TARGET,
            f"{len(found)} clusters have a node {bare}: name one of {', '.join(candidates)}, or give the cluster",
            (FieldError(path, f"{len(found)} clusters have a node {bare}"),),
            {"candidates": candidates},
        )
    if wanted is not None:
        check_cluster(connection, wanted, path)
    where = "the fleet" if wanted is None else f"cluster {wanted}"
    raise Problem(
        ProblemCode.NOT_FOUND,
        f"there is no node {bare} in {where}: `hgr node ls` lists those that the operators have told of",
        (FieldError(path, f"there is no node {bare}"),),
    )


def check_cluster(connection: Connection, name: str, path: str) -> None:
    """Raise NOT_FOUND unless there is such a cluster."""
    if connection.execute(select(clusters.c.name).where(clusters.c.name == name)).first() is None:
        raise Problem(
            ProblemCode.NOT_FOUND,
            f"there is no cluster {name}: `hgr cluster ls` lists those there are",
            (FieldError(path, f"there is no cluster {name}"),),
        )

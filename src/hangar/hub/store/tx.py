"""Tx: one write transaction, which gathers what happened and stamps it with the feed's next revisions at its end."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from sqlalchemy import Connection, Table, Update, bindparam, insert, update

from hangar.hub.store.tables import (
    clusters,
    deployments,
    events,
    feed,
    graphs,
    nodes,
    operations,
    projects,
    questions,
    removals,
    runs,
    workloads,
)
from hangar.wire.operator import JsonObject


class EventType(StrEnum):
    """What an event can be about; the set is closed, so that a filter can be checked."""

    OPERATION_CREATED = "operation.created"
    OPERATION_STARTED = "operation.started"
    OPERATION_TAKEN_OVER = "operation.taken_over"
    OPERATION_PROGRESSED = "operation.progressed"
    OPERATION_CANCEL_REQUESTED = "operation.cancel_requested"
    OPERATION_SUCCEEDED = "operation.succeeded"
    OPERATION_FAILED = "operation.failed"
    OPERATION_CANCELLED = "operation.cancelled"
    CLUSTER_ADDED = "cluster.added"
    CLUSTER_ONLINE = "cluster.online"
    CLUSTER_OFFLINE = "cluster.offline"
    CLUSTER_STANDBY = "cluster.standby"
    NODE_ADDED = "node.added"
    NODE_REMOVED = "node.removed"
    NODE_REPLACED = "node.replaced"
    NODE_CORDONED = "node.cordoned"
    NODE_UNCORDONED = "node.uncordoned"
    NODE_READY = "node.ready"
    NODE_NOT_READY = "node.not_ready"
    PROJECT_ADDED = "project.added"
    PROJECT_CHANGED = "project.changed"
    PROJECT_REMOVED = "project.removed"
    WORKLOAD_ADDED = "workload.added"
    WORKLOAD_CHANGED = "workload.changed"
    WORKLOAD_REMOVED = "workload.removed"
    WORKLOAD_SCALED = "workload.scaled"
    DEPLOYMENT_ADDED = "deployment.added"
    DEPLOYMENT_REMOVED = "deployment.removed"
    DEPLOYMENT_DESIRED = "deployment.desired"
    DEPLOYMENT_WRITTEN = "deployment.written"
    DEPLOYMENT_DRIFTED = "deployment.drifted"
    TOKEN_CREATED = "token.created"  # noqa: S105 - the name of an event
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 - the name of an event
    HUB_RESTORED = "hub.restored"


@dataclass(frozen=True, slots=True)
class Subject:
    """What an event is about: `kind` is operation, cluster, node, project, workload, deployment, token or hub."""

    kind: str
    name: str
    cluster: str | None = None


def operation_key(id_: str) -> str:
    """Return the key under which those who wait for an operation are woken."""
    return f"operation:{id_}"


def cluster_key(name: str) -> str:
    """Return the key under which a cluster's operator is woken for its jobs."""
    return f"cluster:{name}"


def question_key(id_: str) -> str:
    """Return the key under which those who wait for an answer are woken."""
    return f"question:{id_}"


_ADVANCE = update(feed).values(rev=feed.c.rev + bindparam("count")).returning(feed.c.rev)
_INSERT_EVENTS = insert(events)


@cache
def _set_rev(table: Table) -> Update:
    statement = update(table).values(rev=bindparam("new_rev"))
    for index, column in enumerate(table.primary_key):
        statement = statement.where(column == bindparam(f"key_{index}"))
    return statement


@dataclass(slots=True)
class Committed:
    """What a commit brought about: the keys of those to wake, the rows of its events, and the revisions it took.

    `first_rev` to `last_rev` are all of them, those without an event too; both are 0 where nothing was stamped.
    `requests` has the ids of the requests that caused them, by their revisions. `outcomes` counts the writes that
    were `committed`, `refused` or met an `unavailable` store; they took `took_s` together.
    """

    woken: set[str] = field(default_factory=set)
    events: list[JsonObject] = field(default_factory=list)
    first_rev: int = 0
    last_rev: int = 0
    requests: dict[int, str] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    took_s: float = 0.0

    def took_revs(self, first_rev: int, last_rev: int) -> None:
        """Note revisions, which follow on those noted before."""
        self.first_rev = self.first_rev or first_rev
        self.last_rev = last_rev or self.last_rev

    def add(self, later: "Committed", request: str | None) -> None:
        """Note what a later part of the same commit brought about, and which request asked for it."""
        self.woken |= later.woken
        self.events += later.events
        self.took_revs(later.first_rev, later.last_rev)
        if request is not None:
            self.requests |= dict.fromkeys((each["rev"] for each in later.events), request)


class Tx:
    """One write transaction. Use cases run their SQL over `connection` and tell here what they changed.

    The feed's row is the last lock a transaction takes: only then are the revisions known that its events and rows
    get, so they are in the order of the commits, without gaps. `stamp` does that; it runs at the end by itself, and
    earlier where a use case wants to return a record with its version.

    `now_us` is the database's time, None where it has no clock of its own.
    """

    def __init__(self, connection: Connection, now_us: int | None = None) -> None:
        self.connection = connection
        self.dialect = connection.dialect.name
        self.now_us = now_us
        self.committed = Committed()
        self._events: list[JsonObject] = []
        self._touched: dict[Table, dict[tuple[str, ...], None]] = {}

    def event(
        self,
        type_: EventType,
        subject: Subject,
        at_us: int,
        *,
        op_id: str | None = None,
        actor: str | None = None,
        data: Mapping[str, object] | None = None,
    ) -> None:
        """Append to the feed; `data` holds what its sentence needs."""
        self._events.append(
            {
                "at_us": at_us,
                "type": type_.value,
                "object_kind": subject.kind,
                "object_name": subject.name,
                "object_cluster": subject.cluster,
                "op_id": op_id,
                "actor": actor,
                "data": dict(data or {}),
            }
        )

    def touch_operation(self, id_: str, cluster: str | None) -> None:
        """Say that an operation changed: those who wait for it and its cluster's operator are woken."""
        self._touch(operations, id_)
        self.committed.woken.add(operation_key(id_))
        if cluster is not None:
            self.committed.woken.add(cluster_key(cluster))

    def touch_run(self, op_id: str) -> None:
        """Say that an operation's run changed: its operator wrote that itself and is not woken."""
        self._touch(runs, op_id)
        self.committed.woken.add(operation_key(op_id))

    def touch_question(self, id_: str, cluster: str) -> None:
        """Say that a question was asked or answered: its cluster's operator and whoever asked are woken."""
        self._touch(questions, id_)
        self.committed.woken |= {question_key(id_), cluster_key(cluster)}

    def touch_cluster(self, name: str) -> None:
        """Say that what users see of a cluster changed."""
        self._touch(clusters, name)

    def touch_node(self, cluster: str, name: str) -> None:
        """Say that a node changed."""
        self._touch(nodes, cluster, name)

    def touch_project(self, name: str) -> None:
        """Say that a project changed."""
        self._touch(projects, name)

    def touch_workload(self, name: str) -> None:
        """Say that a workload changed."""
        self._touch(workloads, name)

    def touch_deployment(self, workload: str, cluster: str) -> None:
        """Say that what is wanted of a deployment changed: its cluster's operator is woken."""
        self._touch(deployments, workload, cluster)
        self.wake_cluster(cluster)

    def touch_graph(self, cluster: str, namespace: str, name: str) -> None:
        """Say that a graph changed: its operator told of that itself and is not woken."""
        self._touch(graphs, cluster, namespace, name)

    def touch_removal(self, cluster: str, namespace: str, name: str) -> None:
        """Say that a graph is to be removed: its cluster's operator is woken."""
        self._touch(removals, cluster, namespace, name)
        self.wake_cluster(cluster)

    def wake_cluster(self, cluster: str) -> None:
        """Wake a cluster's operator where no row is left to tell it by."""
        self.committed.woken.add(cluster_key(cluster))

    def stamp(self) -> None:
        """Give every event a revision of its own, and every touched row the newest of them."""
        if not self._events and not self._touched:
            return
        count = max(1, len(self._events))
        rev = int(self.connection.execute(_ADVANCE, {"count": count}).scalar_one())
        self.committed.took_revs(rev - count + 1, rev)
        if self._events:
            first = rev - count + 1
            numbered = [{"rev": first + offset, **each} for offset, each in enumerate(self._events)]
            self.connection.execute(_INSERT_EVENTS, numbered)
            self.committed.events += numbered
        for table, keys in self._touched.items():
            parameters = [{"new_rev": rev, **{f"key_{i}": part for i, part in enumerate(key)}} for key in keys]
            self.connection.execute(_set_rev(table), parameters)
        self._events.clear()
        self._touched.clear()

    def _touch(self, table: Table, *key: str) -> None:
        self._touched.setdefault(table, {})[key] = None

"""Reading the fleet: nodes, devices and clusters, in the order of their names."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice

from sqlalchemy import Connection, func, select, tuple_

from hangar.hub import present
from hangar.hub.store.records import (
    SELECT_CLUSTER,
    SELECT_NODE,
    NodeRecord,
    cluster_of,
    feed_rev,
    find_cluster,
    node_of,
)
from hangar.hub.store.tables import clusters, nodes
from hangar.hub.usecases.naming import check_cluster, resolve_node
from hangar.hub.usecases.paging import PageRequest, next_token, position
from hangar.wire import shown

NODES_READ_AT_ONCE = 500
"""How many nodes are read at a time while a page of devices fills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFilters:
    """What a listing of nodes is cut down to; None takes all."""

    cluster: str | None = None
    cordoned: bool | None = None
    ready: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFilters:
    """What a listing of devices is cut down to. `allocatable` takes those that a new pod could get now."""

    cluster: str | None = None
    node: str | None = None
    resource: str | None = None
    allocatable: bool | None = None


def get_node(connection: Connection, name: str, cluster: str | None) -> shown.Node:
    """Return a node by its bare name or `cluster/node`. Raises NOT_FOUND, AMBIGUOUS_TARGET, INVALID_VALUE."""
    return present.node(resolve_node(connection, name, cluster, path="name"))


def list_nodes(connection: Connection, filters: NodeFilters, page: PageRequest) -> shown.Page[shown.Node]:
    """Return a page of nodes, by cluster and name. Raises INVALID_PAGE_TOKEN."""
    asked = asdict(filters)
    after = position("nodes", asked, page.token, key_parts=2)
    as_of = feed_rev(connection)
    found = list(islice(_nodes(connection, filters, after, page.size + 1), page.size + 1))
    items = [present.node(each) for each in found[: page.size]]
    token = next_token("nodes", asked, [items[-1].cluster, items[-1].name]) if len(found) > page.size else None
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def list_devices(connection: Connection, filters: DeviceFilters, page: PageRequest) -> shown.Page[shown.Device]:
    """Return a page of devices, by cluster, node and resource. Raises INVALID_PAGE_TOKEN."""
    asked = asdict(filters)
    after = position("devices", asked, page.token, key_parts=3)
    as_of = feed_rev(connection)
    found = list(islice(_devices(connection, filters, after), page.size + 1))
    items = found[: page.size]
    last = items[-1] if len(found) > page.size else None
    token = None if last is None else next_token("devices", asked, [last.cluster, last.node, last.resource])
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def get_cluster(connection: Connection, name: str) -> shown.Cluster:
    """Return a cluster by its name. Raises NOT_FOUND."""
    check_cluster(connection, name, path="name")
    record = find_cluster(connection, name)
    assert record is not None, "it was found a moment ago, and clusters are never deleted"
    count = connection.execute(select(func.count()).where(nodes.c.cluster == name)).scalar_one()
    return present.cluster(record, count)


def list_clusters(connection: Connection, page: PageRequest) -> shown.Page[shown.Cluster]:
    """Return a page of clusters, by name. Raises INVALID_PAGE_TOKEN."""
    after = position("clusters", {}, page.token, key_parts=1)
    as_of = feed_rev(connection)
    statement = SELECT_CLUSTER.order_by(clusters.c.name).limit(page.size + 1)
    if after is not None:
        statement = statement.where(clusters.c.name > after[0])
    found = [cluster_of(row) for row in connection.execute(statement)]
    per_cluster = select(nodes.c.cluster, func.count().label("nodes_count")).group_by(nodes.c.cluster)
    counts: dict[str, int] = {row.cluster: row.nodes_count for row in connection.execute(per_cluster)}
    items = [present.cluster(each, counts.get(each.name, 0)) for each in found[: page.size]]
    token = next_token("clusters", {}, [items[-1].name]) if len(found) > page.size else None
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def _nodes(
    connection: Connection, filters: NodeFilters, after: list[str] | None, limit: int, name: str | None = None
) -> Iterator[NodeRecord]:
    statement = SELECT_NODE.order_by(nodes.c.cluster, nodes.c.name).limit(limit)
    if filters.cluster is not None:
        statement = statement.where(nodes.c.cluster == filters.cluster)
    if filters.cordoned is not None:
        statement = statement.where(nodes.c.cordoned == filters.cordoned)
    if filters.ready is not None:
        statement = statement.where(nodes.c.ready == filters.ready)
    if name is not None:
        statement = statement.where(nodes.c.name == name)
    if after is not None:
        statement = statement.where(tuple_(nodes.c.cluster, nodes.c.name) > tuple_(*after))
    for row in connection.execute(statement):
        yield node_of(row)


def _devices(connection: Connection, filters: DeviceFilters, after: list[str] | None) -> Iterator[shown.Device]:
    cluster, slash, name = (filters.node or "").rpartition("/")
    narrowed = NodeFilters(
        cluster=cluster if slash else filters.cluster,
        cordoned=False if filters.allocatable else None,
        ready=True if filters.allocatable else None,
    )
    if slash and filters.cluster not in (None, cluster):
        return
    if after is not None:
        # The page before may have ended in the middle of this node.
        for record in _nodes(connection, NodeFilters(cluster=after[0]), None, 1, name=after[1]):
            rest = present.devices(record.cluster, record.doc)
            yield from (each for each in rest if each.resource > after[2] and _is_asked(each, filters))
    start = None if after is None else after[:2]
    while True:
        found = list(_nodes(connection, narrowed, start, NODES_READ_AT_ONCE, name=name or None))
        for record in found:
            for each in present.devices(record.cluster, record.doc):
                if _is_asked(each, filters):
                    yield each
        if len(found) < NODES_READ_AT_ONCE:
            return
        start = [found[-1].cluster, found[-1].doc.name]


def _is_asked(device: shown.Device, filters: DeviceFilters) -> bool:
    if filters.resource is not None and device.resource != filters.resource:
        return False
    if filters.allocatable is None:
        return True
    return bool(device.free) is filters.allocatable

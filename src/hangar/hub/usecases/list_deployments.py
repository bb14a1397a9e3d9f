"""list_deployments: deployments page by page, and after them the graphs that nobody has bound."""

from dataclasses import asdict, dataclass

import msgspec
from sqlalchemy import Connection, and_, select, tuple_

from hangar.domain.ids import ClusterName
from hangar.domain.workloads.rivals import rivals_of
from hangar.domain.workloads.shape import asked_replicas
from hangar.domain.workloads.workload import Deployment, DeploymentState
from hangar.hub.present import rival
from hangar.hub.store.records import StoredRow, feed_rev
from hangar.hub.store.tables import IS_GRAPH_OF_DEPLOYMENT, clusters, deployments, graphs, removals, workloads
from hangar.hub.store.workload_rows import SELECT_WORKLOAD, graph_of, read_workloads, shape_for
from hangar.hub.usecases.paging import PageRequest, check_choice, next_token, position, raise_filters
from hangar.hub.usecases.show_workloads import present_components, present_deployment
from hangar.wire import shown
from hangar.wire.operator import GraphDoc
from hangar.wire.problems import FieldError

DISCOVERED = "discovered"
"""The state of a graph that no workload is bound to: shown, and never touched."""

STATES = (*DeploymentState, DISCOVERED)

_BOUND, _UNBOUND = "0", "1"
"""How keys begin: deployments come first, by workload and cluster, then graphs by cluster, namespace and name."""

_GRAPH = (graphs.c.cluster, graphs.c.namespace, graphs.c.name)
_SELECT_UNBOUND = (
    select(graphs, clusters.c.online, removals.c.workload.label("former"), removals.c.why)
    .join(clusters, clusters.c.name == graphs.c.cluster)
    .outerjoin(deployments, IS_GRAPH_OF_DEPLOYMENT)
    .outerjoin(
        removals,
        and_(
            removals.c.cluster == graphs.c.cluster,
            removals.c.namespace == graphs.c.namespace,
            removals.c.name == graphs.c.name,
        ),
    )
    .where(deployments.c.workload.is_(None))
    .order_by(*_GRAPH)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentFilters:
    """What a listing of deployments is cut down to; None takes all, discovered graphs too."""

    workload: str | None = None
    cluster: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """One line of the list, and the key that it stands at."""

    key: list[str]
    item: shown.Deployment


def list_deployments(
    connection: Connection, filters: DeploymentFilters, page: PageRequest
) -> shown.Page[shown.Deployment]:
    """Return a page of deployments, by workload and cluster, and of what is discovered; it may come short.

    Raises INVALID_FILTER, INVALID_PAGE_TOKEN.
    """
    errors: list[FieldError] = []
    check_choice(errors, "state", filters.state, STATES)
    raise_filters(errors)
    asked = asdict(filters)
    after = position("deployments", asked, page.token, key_parts=4)
    as_of = feed_rev(connection)
    found: list[_Found] = []
    if filters.state != DISCOVERED and (after is None or after[0] == _BOUND):
        found += _bound(connection, filters, None if after is None else after[1:3], page.size + 1)
    if filters.state in (None, DISCOVERED) and filters.workload is None and len(found) <= page.size:
        since = after[1:] if after is not None and after[0] == _UNBOUND else None
        found += _unbound(connection, filters, since, page.size + 1 - len(found))
    token = next_token("deployments", asked, found[page.size - 1].key) if len(found) > page.size else None
    kept = [each.item for each in found[: page.size] if filters.state in (None, each.item.state)]
    return shown.Page(items=kept, next_page_token=token, as_of=as_of)


def _bound(connection: Connection, filters: DeploymentFilters, after: list[str] | None, limit: int) -> list[_Found]:
    key = (deployments.c.workload, deployments.c.cluster)
    query = deployments.select().with_only_columns(*key).order_by(*key).limit(limit)
    if filters.workload is not None:
        query = query.where(deployments.c.workload == filters.workload)
    if filters.cluster is not None:
        query = query.where(deployments.c.cluster == filters.cluster)
    if after is not None:
        query = query.where(tuple_(*key) > tuple_(*after))
    keys = [(row.workload, row.cluster) for row in connection.execute(query)]
    names = sorted({workload for workload, _ in keys})
    records = {
        str(each.workload.name): each
        for each in read_workloads(connection, SELECT_WORKLOAD.where(workloads.c.name.in_(names)))
    }
    return [
        _Found([_BOUND, workload, cluster, ""], present_deployment(records[workload], each))
        for workload, cluster in keys
        for each in records[workload].workload.deployments
        if each.cluster == cluster
    ]


def _unbound(connection: Connection, filters: DeploymentFilters, after: list[str] | None, limit: int) -> list[_Found]:
    query = _SELECT_UNBOUND.limit(limit)
    if filters.cluster is not None:
        query = query.where(graphs.c.cluster == filters.cluster)
    if after is not None:
        query = query.where(tuple_(*_GRAPH) > tuple_(*after))
    return [
        _Found([_UNBOUND, row.cluster, row.namespace, row.name], _discovered(row)) for row in connection.execute(query)
    ]


def _discovered(row: StoredRow) -> shown.Deployment:
    """Return a graph that nobody bound, as it would be if its own shape were taken."""
    graph = graph_of(msgspec.convert(row.doc, GraphDoc))
    shape = shape_for(graph, None)
    # Where nobody says which components make a replica, whoever writes any of them is shown.
    any_component = {each.name: 1 for each in graph.components}
    deployment = Deployment(ClusterName(row.cluster), graph.ref, graph=graph, shape=shape or any_component)
    return shown.Deployment(
        workload=None,
        cluster=row.cluster,
        namespace=graph.ref.namespace,
        graph=graph.ref.name,
        state=DISCOVERED,
        desired=None,
        observed=None if shape is None else asked_replicas(graph, shape),
        ready=0 if shape is None else deployment.ready,
        held=None,
        drained_by=None,
        changed_by=[],
        rivals=[rival(each) for each in rivals_of(deployment)],
        message=_removal(row),
        shape=shape,
        components=present_components(graph, {}),
        drains=list(graph.drains),
        online=bool(row.online),
        operation=None,
    )


def _removal(row: StoredRow) -> str:
    if row.former is None:
        return ""
    return f"is being removed, since it served workload {row.former}" + (f": {row.why}" if row.why else "")

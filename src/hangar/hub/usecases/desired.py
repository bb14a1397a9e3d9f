"""desired: what a cluster's operator is to write into the graphs of its deployments, or to create first."""

from sqlalchemy import Connection, bindparam, exists, func, select

from hangar.domain.workloads.shape import counts_of
from hangar.hub.store.tables import IS_GRAPH_OF_DEPLOYMENT, deployments, graphs, workloads
from hangar.wire.operator import DesiredDoc

_OF_CLUSTER = deployments.c.cluster == bindparam("wanted")
_ROWS = (
    select(deployments, workloads.c.template, graphs.c.name.label("known"))
    .join(workloads, workloads.c.name == deployments.c.workload)
    .outerjoin(graphs, IS_GRAPH_OF_DEPLOYMENT)
    .where(_OF_CLUSTER, deployments.c.shape.is_not(None))
    .order_by(deployments.c.workload)
)

HAS_DESIRED = exists().where(_OF_CLUSTER)
NEWEST_DESIRED_REV = select(func.max(deployments.c.rev)).where(_OF_CLUSTER)


def desired_of(connection: Connection, cluster: str) -> list[DesiredDoc]:
    """Return all that is desired on a cluster, of the deployments whose shape is known.

    The template goes along until the graph is known; one that would be created to run nothing can wait: some of those
    that make the pods of a graph refuse to begin with none.
    """
    return [
        DesiredDoc(
            workload=row.workload,
            namespace=row.namespace,
            graph=row.graph,
            rev=row.desired_rev,
            counts=counts_of(row.shape, row.desired),
            template=row.template if row.templated and row.known is None and row.desired else None,
        )
        for row in connection.execute(_ROWS, {"wanted": cluster})
    ]

"""Routes of the fleet: clusters, nodes, devices, and the events of all."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from hangar.hub.api.answers import json_response
from hangar.hub.api.authentication import Viewer
from hangar.hub.api.context import hub_of
from hangar.hub.api.queries import PageOf, known_parameters
from hangar.hub.usecases.feed import EventFilters, list_events
from hangar.hub.usecases.fleet import (
    DeviceFilters,
    NodeFilters,
    get_cluster,
    get_node,
    list_clusters,
    list_devices,
    list_nodes,
)
from hangar.wire import shown

router = APIRouter(prefix="/v1", tags=["fleet"], dependencies=[Depends(known_parameters)])

ClusterFilter = Annotated[str | None, Query(description="only in this cluster")]


@router.get("/clusters", summary="List clusters", responses={200: {"model": shown.Page[shown.Cluster]}})
async def clusters(request: Request, _who: Viewer, page: PageOf) -> Response:
    """Return a page of clusters, by name."""
    return json_response(await hub_of(request).store.read_async(lambda c: list_clusters(c, page)))


@router.get("/clusters/{name}", summary="Get a cluster", responses={200: {"model": shown.Cluster}})
async def cluster_(request: Request, _who: Viewer, name: str) -> Response:
    """Return a cluster."""
    return json_response(await hub_of(request).store.read_point(lambda c: get_cluster(c, name)))


@router.get("/nodes", summary="List nodes", responses={200: {"model": shown.Page[shown.Node]}})
async def nodes(
    request: Request,
    _who: Viewer,
    page: PageOf,
    cluster: ClusterFilter = None,
    cordoned: Annotated[bool | None, Query(description="only those that are, or are not")] = None,
    ready: Annotated[bool | None, Query(description="only those that are, or are not")] = None,
) -> Response:
    """Return a page of nodes, by cluster and name."""
    filters = NodeFilters(cluster=cluster, cordoned=cordoned, ready=ready)
    return json_response(await hub_of(request).store.read_async(lambda c: list_nodes(c, filters, page)))


@router.get("/nodes/{name:path}", summary="Get a node", responses={200: {"model": shown.Node}})
async def node(request: Request, _who: Viewer, name: str, cluster: ClusterFilter = None) -> Response:
    """Return a node by its bare name where that is unambiguous, or by `cluster/name`."""
    return json_response(await hub_of(request).store.read_point(lambda c: get_node(c, name, cluster)))


@router.get("/devices", summary="List devices", responses={200: {"model": shown.Page[shown.Device]}})
async def devices(
    request: Request,
    _who: Viewer,
    page: PageOf,
    cluster: ClusterFilter = None,
    node: Annotated[str | None, Query(description="only of this node: its name, or cluster/name")] = None,
    resource: Annotated[str | None, Query(description="only of this resource, such as nvidia.com/gpu")] = None,
    allocatable: Annotated[
        bool | None, Query(description="only those of which a new pod could get one now, or could not")
    ] = None,
) -> Response:
    """Return a page of devices: a row for each resource of each node."""
    filters = DeviceFilters(cluster=cluster, node=node, resource=resource, allocatable=allocatable)
    return json_response(await hub_of(request).store.read_async(lambda c: list_devices(c, filters, page)))


@router.get("/events", summary="List events", responses={200: {"model": shown.Page[shown.Event]}})
async def events(
    request: Request,
    _who: Viewer,
    page: PageOf,
    type: Annotated[str | None, Query(description="only of this type")] = None,  # noqa: A002 - the filter's name
    object: Annotated[  # noqa: A002 - the filter's name
        str | None, Query(description="only about this object: its name, or cluster/name")
    ] = None,
    cluster: ClusterFilter = None,
    operation: Annotated[str | None, Query(description="only of this operation, by its id")] = None,
    after: Annotated[
        int | None, Query(ge=0, lt=1 << 63, description="those after this revision, oldest first; else newest first")
    ] = None,
) -> Response:
    """Return a page of events."""
    filters = EventFilters(type=type, object=object, cluster=cluster, operation=operation, after=after)
    return json_response(await hub_of(request).store.read_async(lambda c: list_events(c, filters, page)))

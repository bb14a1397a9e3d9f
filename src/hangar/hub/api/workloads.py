"""Routes of workloads, their deployments, projects and quotas."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from hangar.hub.api.answers import json_response
from hangar.hub.api.authentication import Admin, Maintainer, Viewer
from hangar.hub.api.bodies import read_model
from hangar.hub.api.context import hub_of
from hangar.hub.api.openapi import json_body
from hangar.hub.api.queries import PageOf, known_parameters
from hangar.hub.api.workload_bodies import PatchWorkload, PutProject, PutWorkload, checked_name, request_of
from hangar.hub.usecases.list_deployments import DeploymentFilters, list_deployments
from hangar.hub.usecases.projects import (
    QuotaFilters,
    apply_project,
    delete_project,
    get_project,
    list_projects,
    list_quotas,
)
from hangar.hub.usecases.remove_workloads import delete_deployment, delete_workload
from hangar.hub.usecases.show_workloads import WorkloadFilters, list_workloads, show_workload
from hangar.hub.usecases.workloads import apply_workload, set_replicas
from hangar.wire import shown

Keep = Annotated[bool, Query(description="leave graphs that Wingsmith created as they are, too")]

router = APIRouter(prefix="/v1", tags=["workloads"], dependencies=[Depends(known_parameters)])


@router.get("/workloads", summary="List workloads", responses={200: {"model": shown.Page[shown.Workload]}})
async def workloads(
    request: Request,
    _who: Viewer,
    page: PageOf,
    project: Annotated[str | None, Query(description="only of this project")] = None,
    state: Annotated[str | None, Query(description="only those that are so")] = None,
) -> Response:
    """Return a page of workloads, by name."""
    filters = WorkloadFilters(project=project, state=state)
    return json_response(await hub_of(request).store.read_async(lambda c: list_workloads(c, filters, page)))


@router.get("/workloads/{name}", summary="Get a workload", responses={200: {"model": shown.Workload}})
async def workload(request: Request, _who: Viewer, name: str) -> Response:
    """Return a workload with its deployments."""
    return json_response(await hub_of(request).store.read_async(lambda c: show_workload(c, name)))


@router.put(
    "/workloads/{name}",
    summary="Add or change a workload",
    responses={200: {"model": shown.Workload}, 201: {"model": shown.Workload}},
    openapi_extra=json_body(PutWorkload, {}),
)
async def put(request: Request, who: Admin, name: str) -> Response:
    """Add a workload, or change what is given of it; graphs that it is bound to are adopted, or made of a template."""
    hub = hub_of(request)
    checked_name(name)
    asked = request_of(await read_model(request, PutWorkload))
    now_us = hub.time.now_us()
    applied = await hub.store.write_async(lambda tx: apply_workload(tx, who, name, asked, now_us))
    return json_response(applied.workload, 201 if applied.is_new else 200)


@router.patch(
    "/workloads/{name}",
    summary="Change a workload's replicas at once, without an operation",
    responses={200: {"model": shown.Workload}},
    openapi_extra=json_body(PatchWorkload, {}),
)
async def patch(request: Request, who: Maintainer, name: str) -> Response:
    """Change the global number of replicas; for changes that are to be audited there is workload.scale."""
    hub = hub_of(request)
    asked = await read_model(request, PatchWorkload)
    now_us = hub.time.now_us()
    changed = await hub.store.write_async(lambda tx: set_replicas(tx, who, name, asked.replicas, now_us))
    return json_response(changed)


@router.delete("/workloads/{name}", summary="Delete a workload", responses={200: {"model": shown.Removal}})
async def delete(request: Request, who: Admin, name: str, keep: Keep = False) -> Response:
    """Delete a workload and its deployments. Graphs that Wingsmith created are removed, adopted ones are left alone."""
    hub = hub_of(request)
    now_us = hub.time.now_us()
    return json_response(
        await hub.store.write_async(lambda tx: delete_workload(tx, who, name, now_us, keep=keep)),
    )


@router.delete(
    "/workloads/{name}/deployments/{cluster}",
    summary="Delete a workload's deployment on a cluster",
    responses={200: {"model": shown.Removal}},
)
async def undeploy(
    request: Request,
    who: Admin,
    name: str,
    cluster: str,
    keep: Keep = False,
    allow_outage: Annotated[bool, Query(description="delete it even if no other cluster serves the workload")] = False,
) -> Response:
    """Delete one deployment; the others take over its share. Its graph goes as with a whole workload."""
    hub = hub_of(request)
    now_us = hub.time.now_us()
    return json_response(
        await hub.store.write_async(
            lambda tx: delete_deployment(tx, who, name, cluster, now_us, keep=keep, allow_outage=allow_outage)
        )
    )


@router.get("/deployments", summary="List deployments", responses={200: {"model": shown.Page[shown.Deployment]}})
async def deployments(
    request: Request,
    _who: Viewer,
    page: PageOf,
    workload: Annotated[str | None, Query(description="only of this workload")] = None,
    cluster: Annotated[str | None, Query(description="only in this cluster")] = None,
    state: Annotated[str | None, Query(description="only those that are so")] = None,
) -> Response:
    """Return a page of deployments, by workload and cluster, and after them of the graphs that nobody has bound."""
    filters = DeploymentFilters(workload=workload, cluster=cluster, state=state)
    return json_response(await hub_of(request).store.read_async(lambda c: list_deployments(c, filters, page)))


@router.get("/quotas", summary="List quotas", responses={200: {"model": shown.Page[shown.Quota]}})
async def quotas(
    request: Request,
    _who: Viewer,
    page: PageOf,
    project: Annotated[str | None, Query(description="only of this project")] = None,
    resource: Annotated[str | None, Query(description="only of this resource, such as nvidia.com/gpu")] = None,
) -> Response:
    """Return a page of quotas, by project and resource."""
    filters = QuotaFilters(project=project, resource=resource)
    return json_response(await hub_of(request).store.read_async(lambda c: list_quotas(c, filters, page)))


@router.get("/projects", summary="List projects", responses={200: {"model": shown.Page[shown.Project]}})
async def projects(request: Request, _who: Viewer, page: PageOf) -> Response:
    """Return a page of projects, by name."""
    return json_response(await hub_of(request).store.read_async(lambda c: list_projects(c, page)))


@router.get("/projects/{name}", summary="Get a project", responses={200: {"model": shown.Project}})
async def project_(request: Request, _who: Viewer, name: str) -> Response:
    """Return a project."""
    return json_response(await hub_of(request).store.read_point(lambda c: get_project(c, name)))


@router.put(
    "/projects/{name}",
    summary="Add a project, or give it other quotas",
    responses={200: {"model": shown.Project}},
    openapi_extra=json_body(PutProject, {}),
)
async def put_project(request: Request, who: Admin, name: str) -> Response:
    """Add a project, or give it other quotas."""
    hub = hub_of(request)
    checked_name(name)
    asked = await read_model(request, PutProject)
    now_us = hub.time.now_us()
    return json_response(await hub.store.write_async(lambda tx: apply_project(tx, who, name, asked.quotas, now_us)))


@router.delete("/projects/{name}", status_code=204, summary="Remove a project that owns nothing")
async def remove_project(request: Request, who: Admin, name: str) -> Response:
    """Remove a project that owns no workloads."""
    hub = hub_of(request)
    now_us = hub.time.now_us()
    await hub.store.write_async(lambda tx: delete_project(tx, who, name, now_us))
    return Response(status_code=204)

"""show_workloads: workloads as users see them with their deployments, one or a page of many."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from sqlalchemy import Connection

from hangar.domain.blockers import sentence
from hangar.domain.workloads.graph import Graph
from hangar.domain.workloads.rivals import rivals_of
from hangar.domain.workloads.rollout import drifters, reach, waiting
from hangar.domain.workloads.shape import asked_replicas
from hangar.domain.workloads.workload import Deployment, DeploymentState, Workload, gpus_of
from hangar.hub.present import milliseconds, rival, whole_seconds
from hangar.hub.store.records import feed_rev
from hangar.hub.store.tables import workloads
from hangar.hub.store.workload_rows import SELECT_WORKLOAD, WorkloadRecord, policy_doc, read_workloads
from hangar.hub.usecases.paging import PageRequest, check_choice, next_token, position, raise_filters
from hangar.hub.usecases.target_workload import resolve_workload
from hangar.wire import shown
from hangar.wire.problems import FieldError

WORKLOAD_STATES = ("running", "paused", "reconciling", "drifted")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFilters:
    """What a listing of workloads is cut down to; None takes all."""

    project: str | None = None
    state: str | None = None


def show_workload(connection: Connection, name: str) -> shown.Workload:
    """Return a workload by its name. Raises NOT_FOUND."""
    return present_workload(resolve_workload(connection, name, path="name"))


def list_workloads(connection: Connection, filters: WorkloadFilters, page: PageRequest) -> shown.Page[shown.Workload]:
    """Return a page of workloads, by name; it may come short. Raises INVALID_FILTER, INVALID_PAGE_TOKEN."""
    errors: list[FieldError] = []
    check_choice(errors, "state", filters.state, WORKLOAD_STATES)
    raise_filters(errors)
    asked = asdict(filters)
    after = position("workloads", asked, page.token, key_parts=1)
    as_of = feed_rev(connection)
    query = SELECT_WORKLOAD.order_by(workloads.c.name).limit(page.size + 1)
    if filters.project is not None:
        query = query.where(workloads.c.project == filters.project)
    if after is not None:
        query = query.where(workloads.c.name > after[0])
    found = read_workloads(connection, query)
    items = [present_workload(each) for each in found[: page.size]]
    token = next_token("workloads", asked, [items[-1].name]) if len(found) > page.size else None
    kept = [each for each in items if filters.state in (None, each.state)]
    return shown.Page(items=kept, next_page_token=token, as_of=as_of)


def present_workload(record: WorkloadRecord) -> shown.Workload:
    """Return a workload as users see it."""
    workload = record.workload
    return shown.Workload(
        name=workload.name,
        project=workload.project,
        state=_state(workload),
        replicas=workload.replicas,
        placement="paused" if workload.is_paused else reach(workload),
        desired=sum(each.desired for each in workload.deployments),
        ready=sum(each.ready for each in workload.deployments),
        paused_at=None if record.paused_us is None else milliseconds(record.paused_us),
        policy=policy_doc(workload.policy),
        shape=record.shape,
        template=record.template,
        gpus_per_replica=gpus_of(workload.deployments),
        operation=record.operation,
        created_at=whole_seconds(record.created_us),
        deployments=[present_deployment(record, each) for each in workload.deployments],
    )


def present_deployment(record: WorkloadRecord, deployment: Deployment) -> shown.Deployment:
    """Return a deployment as users see it."""
    graph, wanted = deployment.graph, deployment.wanted
    wait = waiting(deployment, until_ready=True)
    observed = None if graph is None or deployment.shape is None else asked_replicas(graph, deployment.shape)
    return shown.Deployment(
        workload=record.workload.name,
        cluster=deployment.cluster,
        namespace=deployment.ref.namespace,
        graph=deployment.ref.name,
        state=deployment.state.value,
        desired=deployment.desired,
        observed=observed,
        ready=deployment.ready,
        held=deployment.held,
        drained_by=deployment.drained_by,
        changed_by=drifters(deployment) if deployment.state is DeploymentState.DRIFTED else [],
        rivals=[rival(each) for each in rivals_of(deployment)],
        message="" if wait is None else sentence(wait),
        shape=None if deployment.shape is None else dict(deployment.shape),
        components=present_components(graph, {} if wanted is None else wanted.counts),
        drains=[] if graph is None else list(graph.drains),
        online=deployment.is_online,
        operation=record.operation,
    )


def present_components(graph: Graph | None, desired: Mapping[str, int]) -> list[shown.DeployedComponent]:
    """Return the components of a graph as users see them, with what is desired of each."""
    return [
        shown.DeployedComponent(
            name=each.name,
            role=each.role.value,
            desired=desired.get(each.name),
            replicas=each.replicas,
            ready=None if each.counts is None else each.counts.ready,
            pods=each.pods,
        )
        for each in (graph.components if graph is not None else ())
    ]


def _state(workload: Workload) -> str:
    states = {each.state for each in workload.deployments}
    if DeploymentState.DRIFTED in states:
        return "drifted"
    if workload.is_paused:
        return "paused"
    if states & {DeploymentState.RECONCILING, DeploymentState.MISSING}:
        return "reconciling"
    return "running"

"""projects: who owns workloads, and how much of each resource they may use."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, func, select

from hangar.domain.devices import GPU
from hangar.hub.present import whole_seconds
from hangar.hub.principals import Principal, Role, require
from hangar.hub.store.dialects import insert_or_replace
from hangar.hub.store.records import feed_rev
from hangar.hub.store.tables import projects, workloads
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.store.workload_rows import SELECT_WORKLOAD, read_workloads
from hangar.hub.usecases.paging import PageRequest, next_token, position
from hangar.hub.usecases.quotas import usage_of
from hangar.wire import shown
from hangar.wire.problems import FieldError, Problem, ProblemCode


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaFilters:
    """What a listing of quotas is cut down to; None takes all."""

    project: str | None = None
    resource: str | None = None


def apply_project(tx: Tx, who: Principal, name: str, quotas: Mapping[str, int], now_us: int) -> shown.Project:
    """Add a project, or give it other quotas; what is used already stays. Raises FORBIDDEN."""
    require(who, Role.ADMIN)
    known = tx.connection.execute(select(projects).where(projects.c.name == name)).first()
    if known is None or known.quotas != dict(quotas):
        created_us = now_us if known is None else known.created_us
        values = {"name": name, "quotas": dict(quotas), "created_us": created_us}
        tx.connection.execute(insert_or_replace(tx.dialect, projects, tuple(values)), values)
        tx.touch_project(name)
        type_ = EventType.PROJECT_ADDED if known is None else EventType.PROJECT_CHANGED
        tx.event(type_, Subject("project", name), now_us, actor=who.name, data={"quotas": dict(quotas)})
    tx.stamp()
    return get_project(tx.connection, name)


def delete_project(tx: Tx, who: Principal, name: str, now_us: int) -> None:
    """Remove a project that owns nothing. Raises FORBIDDEN, NOT_FOUND, IN_USE."""
    require(who, Role.ADMIN)
    project = get_project(tx.connection, name)
    if project.workloads:
        text = f"project {name} owns {project.workloads} workload(s): move or delete them first"
        raise Problem(ProblemCode.IN_USE, text, context={"workloads": project.workloads})
    tx.connection.execute(delete(projects).where(projects.c.name == name))
    tx.event(EventType.PROJECT_REMOVED, Subject("project", name), now_us, actor=who.name)


def get_project(connection: Connection, name: str) -> shown.Project:
    """Return a project by its name. Raises NOT_FOUND."""
    row = connection.execute(select(projects).where(projects.c.name == name)).first()
    if row is None:
        text = f"there is no project {name}: `hgr project ls` lists those there are"
        raise Problem(ProblemCode.NOT_FOUND, text, (FieldError("name", f"there is no project {name}"),))
    count = connection.execute(select(func.count()).where(workloads.c.project == name)).scalar_one()
    return shown.Project(name=row.name, quotas=row.quotas, workloads=count, created_at=whole_seconds(row.created_us))


def list_projects(connection: Connection, page: PageRequest) -> shown.Page[shown.Project]:
    """Return a page of projects, by name. Raises INVALID_PAGE_TOKEN."""
    after = position("projects", {}, page.token, key_parts=1)
    as_of = feed_rev(connection)
    query = select(projects.c.name).order_by(projects.c.name).limit(page.size + 1)
    if after is not None:
        query = query.where(projects.c.name > after[0])
    names = connection.execute(query).scalars().all()
    items = [get_project(connection, name) for name in names[: page.size]]
    token = next_token("projects", {}, [items[-1].name]) if len(names) > page.size else None
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def list_quotas(connection: Connection, filters: QuotaFilters, page: PageRequest) -> shown.Page[shown.Quota]:
    """Return a page of quotas, by project and resource. Raises INVALID_PAGE_TOKEN."""
    asked = asdict(filters)
    after = position("quotas", asked, page.token, key_parts=2)
    as_of = feed_rev(connection)
    query = select(projects.c.name, projects.c.quotas).order_by(projects.c.name)
    if filters.project is not None:
        query = query.where(projects.c.name == filters.project)
    rows = [
        (row.name, resource, limit)
        for row in connection.execute(query)
        for resource, limit in sorted(row.quotas.items())
        if filters.resource in (None, resource) and (after is None or (row.name, resource) > tuple(after))
    ]
    items = [
        shown.Quota(project=name, resource=resource, limit=limit, used=_used(connection, name, resource))
        for name, resource, limit in rows[: page.size]
    ]
    more = len(rows) > page.size
    token = next_token("quotas", asked, [items[-1].project, items[-1].resource]) if more else None
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def _used(connection: Connection, project: str, resource: str) -> int | None:
    if resource != GPU:
        return None
    found = read_workloads(connection, SELECT_WORKLOAD.where(workloads.c.project == project))
    usage = usage_of(each.workload for each in found)
    return None if usage.unknown else usage.used

"""Quotas: how much of a resource a project's workloads use, and whether more of it may be asked for.

GPUs are what is counted; quotas of others are kept, and what is used of them is not known.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from hangar.domain.devices import GPU
from hangar.domain.workloads.placement import total
from hangar.domain.workloads.workload import Workload, gpus_of
from hangar.hub.store.tables import projects, workloads
from hangar.hub.store.workload_rows import SELECT_WORKLOAD, read_workloads
from hangar.wire.problems import Problem, ProblemCode


@dataclass(frozen=True, slots=True)
class Usage:
    """What is used of a quota; `unknown` names the workloads that cannot be counted."""

    used: int
    unknown: tuple[str, ...] = ()


def gpus_asked(workload: Workload) -> int | None:
    """Return how many GPUs a workload asks for, paused or not, so that a resume cannot fail on its quota."""
    each = gpus_of(workload.deployments)
    return None if each is None else each * total(workload.policy, workload.replicas, len(workload.open_deployments))


def usage_of(found: Iterable[Workload]) -> Usage:
    """Return what some workloads use together."""
    used, unknown = 0, []
    for each in found:
        gpus = gpus_asked(each)
        if gpus is None:
            unknown.append(str(each.name))
        else:
            used += gpus
    return Usage(used, tuple(unknown))


def check_quota(connection: Connection, before: Workload, after: Workload) -> None:
    """Raise QUOTA_EXCEEDED, with the numbers, where a workload would take its project beyond its quota.

    What asks its project for no more than before is always allowed.
    """
    quotas = connection.execute(select(projects.c.quotas).where(projects.c.name == after.project)).scalar_one_or_none()
    limit = (quotas or {}).get(GPU)
    asked, had = gpus_asked(after), gpus_asked(before) if before.project == after.project else None
    if limit is None or asked is None or (had is not None and asked <= had):
        return
    others = read_workloads(connection, SELECT_WORKLOAD.where(workloads.c.project == after.project))
    usage = usage_of(each.workload for each in others if each.workload.name != after.name)
    if usage.used + asked > limit:
        detail = (
            f"project {after.project} may use {limit} {GPU}; its other workloads use {usage.used}, and {after.name} "
            f"would use {asked} with {after.replicas} replicas: {usage.used + asked - limit} too many. Raise the quota "
            f"with `hgr project apply {after.project} --quota {GPU}=…`, or scale something down"
        )
        context = {"project": after.project, "resource": GPU, "limit": limit, "used": usage.used, "asked": asked}
        raise Problem(ProblemCode.QUOTA_EXCEEDED, detail, context=context)

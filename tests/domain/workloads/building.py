"""Workloads that tests of decisions begin from: a graph llama a cluster, each with one component decode."""

from dataclasses import replace
from typing import Any

from hangar.domain.ids import ClusterName, OperationId, WorkloadName
from hangar.domain.workloads.graph import Component, Counts, Graph, GraphRef, Rival, RivalKind, Role
from hangar.domain.workloads.kind import Change, M, P, WorkloadJob, changed
from hangar.domain.workloads.placement import Misfit, Policy
from hangar.domain.workloads.workload import Deployment, Workload, derived
from tests.domain.building import OP, at

REF = GraphRef("serving", "llama")
FRA, IAD, SIN = (ClusterName(each) for each in ("fra-1", "iad-1", "sin-1"))
CLUSTERS = (FRA, IAD, SIN)


def a_graph(
    replicas: int, *, rev: int | None, ready: int | None = None, pods: int | None = None, by: str | None = None
) -> Graph:
    """Return a graph that is asked for so many replicas, all there and ready unless a number is given."""
    counts = Counts(replicas, replicas, replicas if ready is None else ready)
    count = replicas if pods is None else pods
    decode = Component("decode", Role.DECODE, replicas, gpus_per_pod=4, counts=counts, pods=count, written_by=by)
    return Graph(REF, "u1", "1", "nvidia.com/v1beta1", (Component("Frontend", Role.FRONTEND, 1), decode), rev)


def a_deployment(
    cluster: str = FRA, desired: int = 2, *, ready: int | None = None, is_written: bool = True, **fields: Any
) -> Deployment:
    """Return a deployment whose number is written and ready, unless something else is said."""
    graph = a_graph(desired, rev=7 if is_written else 6, ready=ready)
    given: dict[str, Any] = {"shape": {"decode": 1}, "desired_rev": 7, "graph": graph}
    return Deployment(ClusterName(cluster), REF, desired=desired, **given | fields)


HPA = Rival(RivalKind.HPA, "llama", "decode")
GITOPS = Rival(RivalKind.GITOPS, "argocd", "decode")


def with_rivals(deployment: Deployment, *rivals: Rival) -> Deployment:
    """Return a deployment whose graph others write too."""
    assert deployment.graph is not None
    return replace(deployment, graph=replace(deployment.graph, rivals=rivals))


def a_workload(*deployments: Deployment, replicas: int = 6, policy: Policy | None = None, **fields: Any) -> Workload:
    """Return a workload on these deployments; on three of two replicas each if none is given."""
    rows = deployments or tuple(a_deployment(each) for each in CLUSTERS)
    return Workload(WorkloadName("llama"), "chat", replicas, policy or Policy(), deployments=rows, **fields)


def a_job(
    params: P,
    memory: M,
    *,
    cluster: str | None = None,
    deadline_s: float = 60,
    is_cancelled: bool = False,
    operation: OperationId = OP,
) -> WorkloadJob[P, M]:
    """Return an open operation of alice's on llama."""
    where = None if cluster is None else ClusterName(cluster)
    name = WorkloadName("llama")
    return WorkloadJob(operation, name, where, params, memory, "alice", "launch", at(deadline_s), is_cancelled)


def after(workload: Workload, *changes: Change, rev: int = 8) -> Workload:
    """Return a workload after changes that can be placed, with its numbers derived."""
    for each in changes:
        workload = changed(workload, each)
    placed = derived(workload, rev)
    assert not isinstance(placed, Misfit)
    return placed


def numbers(workload: Workload) -> list[int]:
    """Return how many replicas each deployment is to have."""
    return [each.desired for each in workload.deployments]

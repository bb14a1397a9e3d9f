"""Rivals: who else writes the numbers of a deployment, and whether that stands in the way of changing them."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from hangar.domain.decision import Fail
from hangar.domain.ids import ClusterName
from hangar.domain.workloads.graph import Rival, RivalKind, Role
from hangar.domain.workloads.kind import Change, changed
from hangar.domain.workloads.placement import Misfit
from hangar.domain.workloads.workload import Deployment, DeploymentState, Workload, placement

MANAGERS: Mapping[RivalKind, frozenset[str]] = MappingProxyType(
    {
        RivalKind.HPA: frozenset({"kube-controller-manager"}),
        RivalKind.KEDA: frozenset({"kube-controller-manager", "keda", "keda-operator"}),
        RivalKind.PLANNER: frozenset({"OpenAPI-Generator"}),
        RivalKind.GITOPS: frozenset(
            {"argocd-controller", "argocd-application-controller", "kustomize-controller", "helm-controller"}
        ),
    }
)
"""Under which field managers rivals write; each of them stands for others, too."""

WAY_ON = "or go on with an operation that has `override` and a reason (`--override --reason TEXT`)"


def rivals_of(deployment: Deployment) -> tuple[Rival, ...]:
    """Return who else writes the numbers of a deployment's scaled components, each once.

    A planner that is scaled to 0 writes nothing.
    """
    graph, shape = deployment.graph, deployment.shape
    if graph is None or shape is None:
        return ()
    told = {each for each in graph.rivals if each.component is None or each.component in shape}
    planners = {
        Rival(RivalKind.PLANNER, part.name)
        for part in graph.components
        if part.role is Role.PLANNER and part.replicas > 0
    }
    return tuple(sorted(told | planners, key=lambda each: (each.kind, each.name, each.component or "")))


def rival_of(deployment: Deployment, component: str) -> Rival | None:
    """Return who else is known to write the number of one component, None where nobody is."""
    return next((each for each in rivals_of(deployment) if each.component in (None, component)), None)


def changer_of(deployment: Deployment, component: str) -> str:
    """Return who has set the number of a component, as people know it: a rival behind its field manager, where it is.

    A rival that is known is no proof: where somebody's own tool set the number, that is named.
    """
    graph = deployment.graph
    part = graph.component(component) if graph is not None else None
    by = part.written_by if part is not None else None
    rival = rival_of(deployment, component)
    if rival is not None and (by is None or by == rival.name or by in MANAGERS[rival.kind]):
        return str(rival)
    return by or "somebody"


def opposed(workload: Workload, *changes: Change) -> Fail | None:
    """Return why changes must not be made: an autoscaler or a planner writes a number that they would change."""
    after = workload
    for each in changes:
        after = changed(after, each)
    placed = placement(after)
    return None if isinstance(placed, Misfit) else _opposed(workload, placed)  # a misfit is refused as such


def opposed_numbers(before: Workload, after: Workload, *, reshaped: Collection[ClusterName] = ()) -> Fail | None:
    """Return why deployments must not get other numbers: an autoscaler or a planner writes one of them.

    `reshaped` are the clusters on which the same number means other counts.
    """
    return _opposed(before, {each.cluster: each.desired for each in after.deployments}, reshaped)


def _opposed(
    workload: Workload, placed: Mapping[ClusterName, int], reshaped: Collection[ClusterName] = ()
) -> Fail | None:
    texts = [
        f"{rival} writes {_what(deployment, rival)}{_back(rival, placed[deployment.cluster])}"
        for deployment in workload.deployments
        if placed[deployment.cluster] != deployment.desired
        or deployment.cluster in reshaped
        or deployment.state is DeploymentState.DRIFTED
        for rival in rivals_of(deployment)
        if rival.kind is not RivalKind.GITOPS
    ]
    if not texts:
        return None
    return Fail("rival_owner", f"{'; '.join(texts)}: remove {'it' if len(texts) == 1 else 'them'}, {WAY_ON}")


def warnings(workload: Workload) -> list[str]:
    """Return what may come of writing the numbers of a workload in spite of its rivals, a sentence each."""
    return [warning(each, rival) for each in workload.deployments for rival in rivals_of(each)]


def warning(deployment: Deployment, rival: Rival) -> str:
    """Return what may come of writing a number in spite of a rival."""
    if rival.kind is RivalKind.GITOPS:
        return f"{_what(deployment, rival)} will be reverted by {rival}, unless it is changed there too"
    return f"{_what(deployment, rival)} may be changed again by {rival}"


def _what(deployment: Deployment, rival: Rival) -> str:
    of = "" if rival.component is None else f"{rival.component} of "
    return f"the number of {of}{deployment.ref} on {deployment.cluster}"


def _back(rival: Rival, number: int) -> str:
    """Return the end of a sentence on what comes of 0 replicas."""
    if number or rival.kind is not RivalKind.HPA:
        return ""
    return ", and may scale it back up to its minReplicas"

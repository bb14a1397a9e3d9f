"""Rollout: what an operation on a workload waits for until its clusters have what is wanted, and how it says so."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hangar.domain.blockers import blocker
from hangar.domain.decision import Blocker, Progress, Rows
from hangar.domain.ids import ClusterName
from hangar.domain.limits import RIVAL_WATCH_S
from hangar.domain.workloads.graph import has_drifted
from hangar.domain.workloads.placement import Division, Misfit
from hangar.domain.workloads.rivals import changer_of, rivals_of
from hangar.domain.workloads.workload import Deployment, DeploymentState, Workload

UNIT = "deployments"


def connected(workload: Workload) -> tuple[Deployment, ...]:
    """Return the deployments whose operators can be waited for."""
    return tuple(each for each in workload.deployments if each.is_online)


def away(workload: Workload) -> tuple[ClusterName, ...]:
    """Return the clusters that are offline: they follow when they are back."""
    return tuple(each.cluster for each in workload.deployments if not each.is_online)


def progress(workload: Workload, *, until_ready: bool) -> Progress:
    """Return how many of the connected deployments are done, and what the others are waited for."""
    rows = connected(workload)
    waits = tuple(wait for each in rows if (wait := waiting(each, until_ready=until_ready)) is not None)
    done = len(rows) - len(waits)
    verb = "ready" if until_ready else "written"
    return Progress(done, len(rows), UNIT, f"{verb} on {done} of {len(rows)} clusters", waits)


def waiting(deployment: Deployment, *, until_ready: bool) -> Blocker | None:
    """Return what a deployment is waited for, None where it is done."""
    subject = f"{deployment.cluster}/{deployment.ref}"
    graph = deployment.graph
    unwritten = deployment.unwritten
    why = "" if unwritten is None else f": {unwritten.why} ({unwritten.code})"
    if deployment.is_spared:
        return None
    if deployment.described is None or deployment.shape is None:
        return blocker("graph_missing", subject)
    if graph is None:
        return blocker("not_created", subject, wants=deployment.desired, why=why)
    if graph.is_paused:
        return blocker("graph_paused", subject)
    if deployment.state is DeploymentState.DRIFTED:
        return blocker("drifted", subject, by=drifters(deployment), wants=deployment.desired)
    if not deployment.is_written:
        return blocker("not_written", subject, wants=deployment.desired, why=why)
    if not until_ready or deployment.is_converged:
        return None
    reason = f": {graph.unready}" if graph.unready else ""
    return blocker("not_ready", subject, has=deployment.ready, needs=deployment.desired, why=reason)


def reverts(deployments: Iterable[Deployment], revs: Mapping[str, int], *, until_ready: bool) -> list[str]:
    """Return what was changed back of what an operation wrote, where nothing else is waited for; else nothing.

    `revs` are the deployments' revisions by cluster before it wrote: one that still has it was not written by it.
    """
    texts = []
    for each in deployments:
        if waiting(each, until_ready=until_ready) is None:
            continue
        text = reverted(each) if each.desired_rev != revs.get(each.cluster) else None
        if text is None:
            return []
        texts.append(text)
    return texts


@dataclass(frozen=True, slots=True)
class Standing:
    """What is there, has to stand until then, and who may put it back."""

    blockers: tuple[Blocker, ...]
    until: datetime


def standing(
    deployments: Iterable[Deployment], revs: Mapping[str, int], since: datetime, now: datetime, deadline_at: datetime
) -> Standing | None:
    """Return what an operation wrote that somebody else writes too, while it has not stood for long enough to count.

    `revs` are as those of `reverts`; `since` is when all was there for the first time.
    """
    blockers = tuple(
        blocker("rival_watched", f"{each.cluster}/{each.ref}", rival=str(rivals[0]), watch_s=int(RIVAL_WATCH_S))
        for each in deployments
        if each.desired_rev != revs.get(each.cluster) and (rivals := rivals_of(each))
    )
    until = min(since + timedelta(seconds=RIVAL_WATCH_S), deadline_at)
    return Standing(blockers, until) if blockers and now < until else None


def reverted(deployment: Deployment) -> str | None:
    """Return who has changed what was written on a deployment, and to what; None where it is as it was written."""
    subject, unwritten = f"{deployment.cluster}/{deployment.ref}", deployment.unwritten
    if unwritten is not None and unwritten.code == "reverted":
        return f"{subject}: {unwritten.why}"
    graph, wanted = deployment.graph, deployment.wanted
    if graph is None or wanted is None or not has_drifted(graph, wanted):
        return None
    texts = []
    for name, count in wanted.counts.items():
        part = graph.component(name)
        if part is None:
            texts.append(f"{name} is not there any more")
        elif part.replicas != count:
            texts.append(f"{changer_of(deployment, name)} has set {name} to {part.replicas} instead of {count}")
    return f"{subject}: {', '.join(texts)}"


def drifters(deployment: Deployment) -> list[str]:
    """Return who has changed the numbers of a deployment, rivals behind their field managers, or else those."""
    graph, wanted = deployment.graph, deployment.wanted
    if graph is None or wanted is None:
        return []
    names = {
        changer_of(deployment, name)
        for name, count in wanted.counts.items()
        if (part := graph.component(name)) is not None and part.replicas != count
    }
    return sorted(names)


def reach(workload: Workload) -> str:
    """Return what a workload's number means in all, as users read it: `4 each x 3 = 12, duplicated`."""
    rows = workload.open_deployments
    numbers = [each.desired for each in rows]
    if workload.policy.division is Division.DUPLICATED:
        return f"{workload.replicas} each x {len(rows)} = {sum(numbers)}, duplicated"
    return f"{' + '.join(map(str, numbers)) or '0'} = {sum(numbers)}, divided"


def per_cluster(deployments: Iterable[Deployment]) -> Rows:
    """Return a row for each deployment: what is wanted, and what is ready."""
    return [
        {
            "cluster": each.cluster,
            "graph": str(each.ref),
            "desired": each.desired,
            "ready": each.ready,
            "state": each.state.value,
        }
        for each in deployments
    ]


def followers(clusters: Sequence[ClusterName]) -> str:
    """Return the end of a sentence that names the clusters which follow later; empty where there are none."""
    if not clusters:
        return ""
    verb = "is" if len(clusters) == 1 else "are"
    return f"; {', '.join(clusters)} {verb} offline and will follow"


def changed_back(texts: Sequence[str]) -> str:
    """Return the end of a sentence on what was changed back, out of what `reverts` says."""
    return f"changed back: {'; '.join(texts)}. What is wanted stays, and is not written again by itself"


def misfit_text(misfit: Misfit) -> str:
    """Return why a number cannot be placed, with the numbers that could."""
    most = "" if misfit.most is None else f" and at most {misfit.most}"
    return f"{misfit.replicas} replicas are out of its bounds: its clusters need at least {misfit.least}{most}, or 0"

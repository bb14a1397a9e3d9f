"""What a drain's caller ought to know before it begins, though none of it stops the drain."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from hangar.domain.blockers import listed
from hangar.domain.drain.duration import longest_grace_s
from hangar.domain.drain.selection import Refuse, Skip, select
from hangar.domain.fit.bound import quotas_on
from hangar.domain.fit.room import gpus_asked
from hangar.domain.owners import group_size, name_of
from hangar.domain.plan import PlannedLoss
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import View
from hangar.domain.workloads.members import GRAPH_LABEL


@dataclass(frozen=True, slots=True)
class Prospect:
    """A drain that is looked at: its node, the pods that would move, what its owners would lose, how long it takes."""

    node: Node
    moving: tuple[Pod, ...]
    losses: tuple[PlannedLoss, ...]
    deadline_s: int
    grace_s: int | None
    expected_s: int | None
    view: View


def warnings_of(drain: Prospect) -> tuple[str, ...]:
    """Return each warning as one line, always in the same order."""
    return tuple(line for rule in _RULES for line in rule(drain))


def _silent(drain: Prospect) -> Iterator[str]:
    if not drain.node.is_heard:
        yield (
            f"the kubelet of {drain.node.name} is silent: it would not confirm that pods have ended, and the drain "
            "would fail at its deadline"
        )


def _short(drain: Prospect) -> Iterator[str]:
    """A deadline that pods may outlast by their own grace periods has failed before it began."""
    grace_s = longest_grace_s(drain.moving, drain.grace_s)
    if grace_s > drain.deadline_s:
        who = max(drain.moving, key=lambda pod: (pod.grace_s, pod.ref)).ref if drain.grace_s is None else "every pod"
        yield (
            f"the deadline of {drain.deadline_s} s is shorter than the longest grace period: {who} may take "
            f"{grace_s} s to end"
        )
    elif drain.expected_s is not None and drain.expected_s > drain.deadline_s:
        yield f"the deadline of {drain.deadline_s} s is shorter than the {drain.expected_s} s that are expected"


def _outages(drain: Prospect) -> Iterator[str]:
    for each in drain.losses:
        if each.ready > 0 and each.lowest == 0:
            yield f"{each.owner} serves nothing for a while: all of its {each.ready} ready are here, and may go at once"


def _groups(drain: Prospect) -> Iterator[str]:
    snapshot = drain.view.snapshot
    for group in sorted({group for pod in drain.moving if (group := pod.group) is not None}):
        size = group_size(group.owner_uid, drain.view)
        mates = [pod for pod in snapshot.pods_of(group.owner_uid) if pod.group == group]
        elsewhere = sum(1 for pod in mates if pod.node != drain.node.name)
        if elsewhere:
            yield f"{group} restarts as a whole, its {elsewhere} pod(s) on other nodes too ({size} pods)"


def _lost_data(drain: Prospect) -> Iterator[str]:
    pods = [str(pod.ref) for pod in drain.moving if pod.has_disk_empty_dir]
    if pods:
        yield f"what is kept in an emptyDir on disk is lost with its pod: {listed(pods, ', ')}"


def _lost_pods(drain: Prospect) -> Iterator[str]:
    snapshot = drain.view.snapshot
    pods = [str(pod.ref) for pod in drain.moving if isinstance(select(pod, snapshot), Refuse)]
    if pods:
        yield f"nothing would recreate what is moved by force: {listed(pods, ', ')}"


def _dynamo(drain: Prospect) -> Iterator[str]:
    graphs: dict[str, int] = {}
    for pod in drain.moving:
        if GRAPH_LABEL in pod.labels and pod.serves:
            name = f"{pod.ref.namespace}/{pod.labels[GRAPH_LABEL]}"
            graphs[name] = graphs.get(name, 0) + 1
    for name, count in sorted(graphs.items()):
        yield (
            f"dynamo graph {name}: requests in flight on {count} pod(s) may be cut; many end within 5 to 30 s of the "
            "eviction, whatever the grace period, and moving them to other workers is off unless it was turned on"
        )


def _jobs(drain: Prospect) -> Iterator[str]:
    owned = [(pod.controller, pod.ref.namespace) for pod in drain.moving if pod.controller is not None]
    names = {name_of(owner, namespace) for owner, namespace in owned if owner.kind == "Job"}
    for name in sorted(names):
        yield f"{name} makes its pods anew late, from 10 s on, and may count each as a failure"


def _quotas(drain: Prospect) -> Iterator[str]:
    full = {}
    for pod in drain.moving:
        for quota, name, asked in quotas_on(pod, drain.view.snapshot):
            used, hard = quota.used.get(name, 0), quota.hard[name]
            if used <= hard < used + asked:
                full[f"{quota.namespace}/{quota.name}", name] = f"{used} of {hard} {name}"
    for (quota_name, _), numbers in sorted(full.items()):
        yield f"quota {quota_name} is full ({numbers}): what comes in a pod's place waits until that pod has ended"


def _hidden_gpus(drain: Prospect) -> Iterator[str]:
    """What uses a GPU without asking for one is seen by no scheduler, and stops whoever wants to change its driver."""
    hidden = [str(pod.ref) for pod in drain.moving if _has_gpu_runtime(pod) and not gpus_asked(pod)]
    if hidden:
        yield f"may use GPUs without asking for any, by their runtime class: {listed(hidden, ', ')}"
    staying = sorted(
        str(pod.ref)
        for pod in drain.view.snapshot.pods_on(drain.node.name)
        if not pod.is_finished
        and isinstance(select(pod, drain.view.snapshot), Skip)
        and (gpus_asked(pod) or _has_gpu_runtime(pod))
    )
    if staying:
        yield f"stay, and may hold GPUs, so that no driver can be unloaded: {listed(staying, ', ')}"


def _has_gpu_runtime(pod: Pod) -> bool:
    name = pod.runtime_class or ""
    return "nvidia" in name or "gpu" in name


_RULES: tuple[Callable[[Prospect], Iterable[str]], ...] = (
    _silent,
    _short,
    _outages,
    _groups,
    _lost_pods,
    _lost_data,
    _dynamo,
    _jobs,
    _quotas,
    _hidden_gpus,
)

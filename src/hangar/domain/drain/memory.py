"""What a drain must not forget in a crash, and what it learns from each look at its cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from hangar.domain import cordon
from hangar.domain.decision import BudgetFull, Busy, Denied, Gone, Namesake, SeveralBudgets, Withheld
from hangar.domain.drain.moves import TrackedPod, returns_of, tally
from hangar.domain.drain.preflight import orphans
from hangar.domain.drain.rescheduling import failing
from hangar.domain.drain.selection import READ_OWNER_KINDS, Move, select
from hangar.domain.ids import OperationId, OwnerUid, PodUid
from hangar.domain.limits import OWNER_GONE_S
from hangar.domain.owners import baseline_of, group_size, is_absent
from hangar.domain.snapshot import Node, OwnerRef
from hangar.domain.view import StepKey, StepName, View

OWNER_GONE = timedelta(seconds=OWNER_GONE_S)

_NOT_OURS = (BudgetFull, Busy, Denied, Gone, Namesake, SeveralBudgets, Withheld)
"""Answers after which it is certain that the eviction did not land: it was refused, or the pod had left before."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a drain has failed that still has its cordon to undo, and when it began to."""

    code: str
    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class DrainMemory:
    """What a drain must not forget in a crash.

    `cordoned_at`: when our cordon was seen to be on. `is_checked`: nothing was found in the way, evictions may go.
    `baselines`: ready units of each owner before the first eviction; `group_sizes`: how many pods a group of it had.
    `orphaned_at`: since when a pod of the node is seen without its controller. `failing_at`: since when an owner cannot
    create the pods that it lacks. `replaced_at`: since when another node has the name of the one that is drained.
    `absent_at`: since when nothing is seen of an owner; `vanished`: those that are taken to be gone.
    """

    cordoned_at: datetime | None = None
    was_cordoned_before: bool = False
    is_checked: bool = False
    baselines: Mapping[OwnerUid, int] = field(default_factory=dict)
    pods: Mapping[PodUid, TrackedPod] = field(default_factory=dict)
    orphaned_at: Mapping[PodUid, datetime] = field(default_factory=dict)
    failing_at: Mapping[OwnerUid, datetime] = field(default_factory=dict)
    failure: Failure | None = None
    group_sizes: Mapping[OwnerUid, int] = field(default_factory=dict)
    replaced_at: datetime | None = None
    absent_at: Mapping[OwnerUid, datetime] = field(default_factory=dict)
    vanished: frozenset[OwnerUid] = frozenset()


def remember(
    memory: DrainMemory,
    operation: OperationId,
    node: Node | None,
    view: View,
    now: datetime,
    *,
    is_replaced: bool = False,
    force: bool = False,
) -> DrainMemory:
    """Return the memory with what this view adds: our cordon seen, pods found, owners counted, refusals struck out.

    `node` is None where the node that is drained is gone, and `is_replaced` where another one has its name. With
    `force` also pods that nobody recreates are moved.
    """
    if memory.cordoned_at is None and node is not None and cordon.is_held_by(node, operation):
        was_cordoned = node.mark is not None and node.mark.prior_unschedulable
        memory = replace(memory, cordoned_at=now, was_cordoned_before=was_cordoned)
    if memory.cordoned_at is None:
        return memory
    pods = _without_refused(memory.pods, operation, view)
    baselines, group_sizes = dict(memory.baselines), dict(memory.group_sizes)
    for pod in view.snapshot.pods_on(node.name) if node is not None else ():
        if pod.ref.uid in pods or not isinstance(select(pod, view.snapshot, force=force), Move):
            continue
        # What nobody recreates has no owner that could serve elsewhere.
        owner = view.snapshot.top_owner(pod) if isinstance(select(pod, view.snapshot), Move) else None
        group = None if pod.group is None else str(pod.group)
        returns = returns_of(pod, owner, pods.values())
        pods[pod.ref.uid] = TrackedPod(
            pod.ref, owner, pod.has_disk_empty_dir, group=group, returns=returns, part=pod.part
        )
        if owner is not None and owner.uid not in baselines:
            baselines[owner.uid] = baseline_of(owner.uid, view)
            if size := group_size(owner.uid, view):
                group_sizes[owner.uid] = size
    absent = _absent(pods.values(), memory.absent_at, view, now)
    return replace(
        memory,
        pods=pods,
        baselines=baselines,
        group_sizes=group_sizes,
        orphaned_at=orphans(node, memory.orphaned_at, view, now) if node is not None and not force else {},
        failing_at=failing(tally(pods, operation, view).gone, memory.failing_at, view, now),
        replaced_at=(memory.replaced_at or now) if is_replaced else None,
        absent_at={owner.uid: since for owner, since in absent.items()},
        vanished=frozenset(owner.uid for owner, since in absent.items() if _has_vanished(owner, since, now)),
    )


def _absent(
    pods: Iterable[TrackedPod], before: Mapping[OwnerUid, datetime], view: View, now: datetime
) -> dict[OwnerRef, datetime]:
    """Return since when nothing is seen of each owner."""
    owners = sorted({each.owner for each in pods if each.owner is not None})
    return {owner: before.get(owner.uid, now) for owner in owners if is_absent(owner.uid, view.snapshot)}


def _has_vanished(owner: OwnerRef, since: datetime, now: datetime) -> bool:
    """Tell whether an owner is taken to be gone: at once where we read its kind, else when no pod of it came back."""
    return owner.kind in READ_OWNER_KINDS or now >= since + OWNER_GONE


def vanishing_at(memory: DrainMemory, now: datetime) -> datetime | None:
    """Return when the next owner of which nothing is seen is taken to be gone, or None."""
    times = (since + OWNER_GONE for since in memory.absent_at.values())
    return min((each for each in times if each > now), default=None)


def _without_refused(
    tracked: Mapping[PodUid, TrackedPod], operation: OperationId, view: View
) -> dict[PodUid, TrackedPod]:
    pods = dict(tracked)
    for uid, each in tracked.items():
        answered = view.answers.get(StepKey(operation, StepName.EVICT, uid))
        if answered is None or each.sent_at is None or answered.at < each.sent_at:
            continue  # an answer from before was to an earlier try
        # A deletion is sent again soon, so that the last answer says nothing of the tries before it.
        if isinstance(answered.answer, _NOT_OURS) and each.forced_at is None:
            pods[uid] = replace(each, sent_at=None)
    return pods

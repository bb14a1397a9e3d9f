"""Which pods a drain moves, which it leaves, which it refuses, and why (a list of small rules in a written order)."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from hangar.domain.fit.node_rules import takes
from hangar.domain.snapshot import UNSCHEDULABLE_TAINT, Node, Pod, Snapshot, Taint

READ_OWNER_KINDS = frozenset({"DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"})
"""The controllers whose objects we read; of all others we know only what their pods say."""


class SkipReason(StrEnum):
    """Why a pod stays where it is."""

    MIRROR = "mirror"
    FINISHED = "finished"
    DAEMON_SET = "daemonset"


class RefuseReason(StrEnum):
    """Why a pod cannot be moved without force: nothing would make it anew."""

    UNMANAGED = "unmanaged"
    ORPHANED = "orphaned"


@dataclass(frozen=True, slots=True)
class Skip:
    """Left where it is, and listed."""

    reason: SkipReason


@dataclass(frozen=True, slots=True)
class Refuse:
    """Not moved, and the drain fails, unless forced."""

    reason: RefuseReason


@dataclass(frozen=True, slots=True)
class Move:
    """Evicted, and waited for."""


Selected: TypeAlias = Skip | Refuse | Move


def select(pod: Pod, snapshot: Snapshot, *, force: bool = False) -> Selected:
    """Return what a drain does with one pod of its node: the first rule that knows; forced, nothing is refused."""
    for rule in _RULES:
        if (selected := rule(pod, snapshot)) is not None:
            return Move() if force and isinstance(selected, Refuse) else selected
    return Move()


def _mirror(pod: Pod, _: Snapshot) -> Selected | None:
    """A mirror pod is the kubelet's own: deleting it through the API does nothing."""
    is_node_owned = pod.controller is not None and pod.controller.kind == "Node"
    return Skip(SkipReason.MIRROR) if pod.is_mirror or is_node_owned else None


def _finished(pod: Pod, _: Snapshot) -> Selected | None:
    """A finished pod holds nothing; whoever made it may still want to read it."""
    return Skip(SkipReason.FINISHED) if pod.is_finished else None


def _terminating(pod: Pod, _: Snapshot) -> Selected | None:
    """A terminating pod leaves by itself, whoever owned it: wait for it."""
    return Move() if pod.is_terminating else None


def _daemon(pod: Pod, snapshot: Snapshot) -> Selected | None:
    """A DaemonSet ignores cordons and puts its pod back at once, also one that is just being replaced."""
    if pod.controller is None or pod.controller.kind != "DaemonSet":
        return None
    return Skip(SkipReason.DAEMON_SET) if pod.controller.uid in snapshot.owners else None


def _unmanaged(pod: Pod, _: Snapshot) -> Selected | None:
    """Nothing recreates a bare pod, so it could never be rescheduled."""
    return Refuse(RefuseReason.UNMANAGED) if pod.controller is None else None


def _orphaned(pod: Pod, snapshot: Snapshot) -> Selected | None:
    """A pod whose controller was deleted is as good as bare."""
    return Refuse(RefuseReason.ORPHANED) if is_orphaned(pod, snapshot) else None


def is_orphaned(pod: Pod, snapshot: Snapshot) -> bool:
    """Tell whether a pod's controller is of a kind that we read, and not there."""
    if pod.controller is None or pod.controller.kind not in READ_OWNER_KINDS:
        return False
    return pod.controller.uid not in snapshot.owners


_RULES: tuple[Callable[[Pod, Snapshot], Selected | None], ...] = (
    _mirror,
    _finished,
    _daemon,
    _terminating,
    _unmanaged,
    _orphaned,
)


def returns_to(pod: Pod, node: Node) -> str | None:
    """Return why the scheduler could put a pod back on the cordoned node, in words, or None if it could not."""
    cordon = Taint(UNSCHEDULABLE_TAINT, "", "NoSchedule")
    through = next((each for each in pod.tolerations if each.tolerates(cordon)), None)
    if through is None or not takes(node, pod):
        return None
    return "it tolerates every taint" if not through.key else f"it tolerates {UNSCHEDULABLE_TAINT}"

"""Promised: the other pods on their way to a new place, which room is kept for before a drain's own are placed."""

from collections.abc import Iterator
from dataclasses import replace

from hangar.domain.drain.selection import Move, select
from hangar.domain.fit.room import size_of
from hangar.domain.ids import NodeName, OwnerUid, PodUid
from hangar.domain.owners import group_size, wanted
from hangar.domain.snapshot import Pod
from hangar.domain.view import Claims, View

GATED = "SchedulingGated"
"""How the reason begins for which a pod waits that nobody may place yet."""


def promised(node: NodeName, view: View) -> list[Pod]:
    """Return the pods that a drain of a node has to leave room for, the largest first.

    Those are pods that have no place yet, and of the other open drains those that are still to be moved, and those
    that are gone and that nothing has come for yet.
    """
    others = [each for each in view.claims.values() if each.draining is None or each.draining[0] != node]
    pods = [*_unplaced(view), *_to_be_moved(others, view), *_not_yet_made(others, view)]
    return sorted(pods, key=by_size)


def by_size(pod: Pod) -> tuple[int, int, int, str]:
    """Order pods for placing: the largest first, then by name."""
    gpus, cpu, memory = size_of(pod)
    return -gpus, -cpu, -memory, str(pod.ref)


def is_gated(pod: Pod) -> bool:
    """Tell whether somebody holds a pod back from the scheduler."""
    return pod.node is None and pod.waiting is not None and pod.waiting.startswith(GATED)


def _unplaced(view: View) -> Iterator[Pod]:
    for pod in view.snapshot.pods.values():
        if pod.node is None and not pod.is_finished and not pod.is_terminating and not is_gated(pod):
            yield pod


def _to_be_moved(others: list[Claims], view: View) -> Iterator[Pod]:
    draining = view.draining_nodes()
    for each in others:
        if each.draining is None or each.draining[0] not in draining:
            continue
        for pod in view.snapshot.pods_on(each.draining[0]):
            if not pod.is_terminating and isinstance(select(pod, view.snapshot), Move):
                yield pod


def _not_yet_made(others: list[Claims], view: View) -> Iterator[Pod]:
    """Yield a stand-in for each pod that an owner lacks since another drain began, like the largest that it has."""
    owners = {owner for each in others for owner in each.baselines}
    for owner in sorted(owners):
        pods = [pod for pod in view.snapshot.pods_of(owner) if not pod.is_finished]
        if not pods:
            continue
        largest = min(pods, key=by_size)
        in_all = wanted(owner, view) * max(1, group_size(owner, view))
        for number in range(in_all - sum(1 for pod in pods if not pod.is_terminating)):
            yield _stand_in(largest, owner, number)


def _stand_in(pod: Pod, owner: OwnerUid, number: int) -> Pod:
    uid = PodUid(f"{owner}/{number}")  # no pod's: the one that is to come has none yet
    return replace(pod, ref=replace(pod.ref, uid=uid), node=None, deletion_at=None)

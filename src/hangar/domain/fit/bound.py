"""Whether what a drain evicts can fit elsewhere: a sound bound, that is right wherever it says no.

It says "does not fit" only where that is certain as the cluster is now: no single node could ever take a pod, or all
of them together ask for more than is free. Anything else goes on; the scheduler, not we, places pods.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from itertools import chain

from hangar.domain.drain.selection import is_orphaned
from hangar.domain.fit.misfit import Misfit, by_interest, in_sum, on_no_node, over_quota
from hangar.domain.fit.neighbours import Shape, shape_of
from hangar.domain.fit.node_rules import Objection
from hangar.domain.fit.scene import Scene
from hangar.domain.fit.seeker import Seeker, certain_seeker
from hangar.domain.groups import Group
from hangar.domain.ids import OwnerUid, PodUid
from hangar.domain.owners import desired_by
from hangar.domain.placing import Quota
from hangar.domain.snapshot import Node, Pod, Snapshot
from hangar.domain.view import View


class Need(Enum):
    """Whether something has to come in a pod's place."""

    CERTAIN = auto()
    DOUBTFUL = auto()  # its owner wants some of its moving pods back, and nobody knows which
    NONE = auto()


def misfits(moving: Iterable[Pod], view: View) -> tuple[Misfit, ...]:
    """Return what certainly cannot come back off the draining nodes; empty where everything may.

    Where nodes are added on demand, only quotas are certain.
    """
    moving = tuple(moving)
    needs = needs_of(moving, view)
    needed = tuple(pod for pod in moving if needs[pod.ref.uid] is Need.CERTAIN)
    refused = tuple(over_quota(pod, *each) for pod in needed if (each := exceeded(pod, view.snapshot)) is not None)
    return refused if view.settings.has_autoscaler else refused + no_room(needed, Scene(moving, view))


def no_room(needed: tuple[Pod, ...], scene: Scene) -> tuple[Misfit, ...]:
    """Return what certainly has no room: pods that no single node takes, or else what all lack in sum."""
    check = _Check(scene)
    alone = tuple(misfit for pod in needed if (misfit := check.alone(pod)) is not None)
    return alone or check.together(needed)


def needs_of(moving: tuple[Pod, ...], view: View) -> Mapping[PodUid, Need]:
    """Return for each moving pod whether its owner wants another in its place."""
    by_owner: dict[OwnerUid, list[Pod]] = {}
    needs = {}
    for pod in moving:
        top = view.snapshot.top_owner(pod)
        if top is None or is_orphaned(pod, view.snapshot):
            needs[pod.ref.uid] = Need.NONE
        else:
            by_owner.setdefault(top.uid, []).append(pod)
    for owner, pods in by_owner.items():
        need = _need(owner, pods, view)
        needs.update((pod.ref.uid, need) for pod in pods)
    return needs


def _need(owner: OwnerUid, moving: list[Pod], view: View) -> Need:
    desired = desired_by(owner, view.snapshot)
    if desired is None:
        return Need.CERTAIN
    units, draining = {_unit(pod) for pod in moving}, view.draining_nodes()
    elsewhere = {
        _unit(pod)
        for pod in view.snapshot.pods_of(owner)
        if pod.node is not None and pod.node not in draining and not pod.is_finished and not pod.is_terminating
    }
    missing = desired - len(elsewhere - units)
    return Need.CERTAIN if missing >= len(units) else Need.DOUBTFUL if missing > 0 else Need.NONE


def _unit(pod: Pod) -> Group | PodUid:
    """Return what an owner counts a pod as: itself, or the group that it is of."""
    return pod.group or pod.ref.uid


def exceeded(pod: Pod, snapshot: Snapshot) -> tuple[Quota, str] | None:
    """Return a quota that has more in use than it allows of what a pod asks for, with the quota's name for that.

    Where it is only full, the pod's end makes room for what comes in its place.
    """
    for quota, name, _ in quotas_on(pod, snapshot):
        if quota.used.get(name, 0) > quota.hard[name]:
            return quota, name
    return None


def quotas_on(pod: Pod, snapshot: Snapshot) -> Iterator[tuple[Quota, str, int]]:
    """Yield each bound of a quota that a pod counts against: the quota, its name for the resource, what is asked."""
    if not snapshot.quotas:
        return
    asked = {"pods": 1, "count/pods": 1}
    for name, amount in pod.requests.items():
        if amount > 0:
            asked[f"requests.{name}"] = amount
            if "/" not in name:
                asked[name] = amount
    for (namespace, _), quota in sorted(snapshot.quotas.items()):
        if namespace == pod.ref.namespace:
            yield from ((quota, name, asked[name]) for name in sorted(quota.hard) if name in asked)


class _Check:
    """The bound on one scene; what was found out for one pod serves all of its shape."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._seekers: dict[Shape, Seeker] = {}
        self._refused: dict[Shape, list[tuple[Node, Objection]] | None] = {}

    def alone(self, pod: Pod) -> Misfit | None:
        """Return why no single node takes a pod, or None if one may."""
        shape = shape_of(pod)
        if shape not in self._refused:
            self._seekers[shape] = certain_seeker(pod, self._scene)
            self._refused[shape] = self._refusals(self._seekers[shape])
        refused = self._refused[shape]
        return on_no_node(pod, self._seekers[shape], refused) if refused is not None else None

    def _refusals(self, seeker: Seeker) -> list[tuple[Node, Objection]] | None:
        refused = []
        for node in self._scene.nodes:
            why = seeker.objection(node)
            if why is None:
                return None
            refused.append((node, why))
        return refused

    def together(self, needed: tuple[Pod, ...]) -> tuple[Misfit, ...]:
        """Return what all nodes lack in sum, of those that take one of the pods that ask for it."""
        seekers = [self._seekers[shape_of(pod)] for pod in needed]
        asked: Counter[str] = Counter()
        for each in seekers:
            asked.update(each.asked)
        missing, hosts = dict(asked), Counter[str]()
        kinds = list({id(each): each for each in seekers}.values())
        for node in self._scene.nodes:
            wanted = {name for name, amount in missing.items() if amount > 0}
            if not wanted:
                return ()
            takers = [each for each in kinds if not wanted.isdisjoint(each.asked) and each.objection(node) is None]
            for name in wanted.intersection(chain.from_iterable(each.asked for each in takers)):
                missing[name] -= max(0, self._scene.most_free(node).get(name, 0))
                hosts[name] += 1
        return tuple(
            in_sum(name, asked[name], asked[name] - missing[name], hosts[name])
            for name in sorted(missing, key=by_interest)
            if missing[name] > 0
        )

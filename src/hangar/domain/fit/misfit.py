"""Misfit: what certainly has no place off the draining nodes, told in words and numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hangar.domain.fit.node_rules import Objection, repelling_taint
from hangar.domain.fit.room import PODS
from hangar.domain.fit.seeker import Seeker
from hangar.domain.placing import Quota
from hangar.domain.snapshot import Node, Pod

_SAID: Mapping[Objection, tuple[str, str]] = {
    Objection.LABELS: ("does not match its node selector or affinity", "do not match its node selector or affinity"),
    Objection.VOLUME: ("cannot reach its volumes", "cannot reach its volumes"),
    Objection.DRAINED: ("is being drained", "are being drained"),
    Objection.CORDONED: ("is cordoned", "are cordoned"),
    Objection.NOT_READY: ("is not ready", "are not ready"),
    Objection.TAINT: ("has a taint that it does not tolerate", "have taints that it does not tolerate"),
    Objection.HELD: ("cannot mount what is in use elsewhere", "cannot mount what is in use elsewhere"),
    Objection.PORT: ("has its host port taken", "have its host port taken"),
    Objection.APART: ("holds pods it has to be apart from", "hold pods it has to be apart from"),
    Objection.NEAR: ("is not near the pods it has to be with", "are not near the pods it has to be with"),
    Objection.SPREAD: ("would have too many of its kind", "would have too many of its kind"),
    Objection.ROOM: ("lacks room", "lack room"),
}
"""What one node does, and what several do, in the order of the objections."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """One thing that is missing: for one pod (`pod` set) on every single node, or for all pods in sum.

    `resource` is what is missing in sum, `code` the one that a drain fails with.
    """

    pod: Pod | None
    message: str
    resource: str = ""
    code: Literal["no_capacity", "quota_exceeded"] = "no_capacity"

    def __str__(self) -> str:
        return self.message


def in_sum(resource: str, asked: int, free: int, nodes: int) -> Misfit:
    """Return that all pods together ask for more than is free on the nodes that take one of them or another."""
    return Misfit(None, f"the pods ask for {asked} {resource} in sum, {free} are free on {nodes} node(s)", resource)


def over_quota(pod: Pod, quota: Quota, name: str) -> Misfit:
    """Return that a quota would refuse what comes in a pod's place, even once the pod has ended."""
    why = f"quota {quota.namespace}/{quota.name} is exceeded, {quota.used[name]} of {quota.hard[name]} {name} are used"
    return Misfit(pod, f"{pod.ref} cannot be made anew: {why}", code="quota_exceeded")


def on_no_node(pod: Pod, seeker: Seeker, refused: Sequence[tuple[Node, Objection]]) -> Misfit:
    """Return that no single node takes a pod; `seeker` is it or one of its shape, `refused` what each node objects."""
    pinned = _pinned(pod, seeker, refused)
    roomy = [node for node, why in refused if why is Objection.ROOM]
    if pinned is not None:
        return Misfit(pod, f"{pod.ref} can only run on {pod.node}: {pinned}")
    if not roomy:
        return Misfit(pod, f"{pod.ref} fits on no other node: {_counted(pod, seeker, refused)}")
    free = [seeker.free(node) for node in roomy]
    best = {name: max(each.get(name, 0) for each in free) for name in seeker.asked}
    short = sorted((name for name in best if best[name] < seeker.asked[name]), key=by_interest)
    if not short:
        return Misfit(pod, f"{pod.ref} fits on no other node: no single node has all of {', '.join(sorted(best))} free")
    name, most = short[0], max(0, best[short[0]])
    return Misfit(pod, f"{pod.ref} needs {seeker.asked[name]} {name} on one node, at most {most} are free on one")


def by_interest(resource: str) -> tuple[bool, str]:
    """Order resources: CPU, memory and pod slots last, for where a GPU is missing too, people ask about the GPU."""
    return resource in ("cpu", "memory", PODS), resource


def _pinned(pod: Pod, seeker: Seeker, refused: Sequence[tuple[Node, Objection]]) -> str | None:
    """Return what binds a pod to the node that it is on and no other, or None."""
    others = {why for node, why in refused if node.name != pod.node}
    own = {why for node, why in refused if node.name == pod.node}
    bonds = {Objection.LABELS, Objection.VOLUME}
    if not own or own & bonds or not others or not others <= bonds:
        return None
    claims = " and ".join(seeker.reach.claims)
    said = {
        Objection.LABELS: "no other node matches its node selector or affinity",
        Objection.VOLUME: f"no other node reaches the volume of {claims}",
    }
    return ", ".join(said[each] for each in Objection if each in others)


def _counted(pod: Pod, seeker: Seeker, refused: Sequence[tuple[Node, Objection]]) -> str:
    refused = [(node, why) for node, why in refused if node.name != pod.node]
    if not refused:
        return "there is none"
    counts = Counter(why for _, why in refused)
    return ", ".join(
        f"{counts[each]} {_SAID[each][counts[each] != 1]}{_named(each, seeker, refused)}"
        for each in Objection
        if counts[each]
    )


def _named(objection: Objection, seeker: Seeker, refused: Sequence[tuple[Node, Objection]]) -> str:
    """Return the first of the taints in brackets, since their names say whom the nodes are kept for."""
    if objection is not Objection.TAINT:
        return ""
    taints = (repelling_taint(node, seeker.pod) for node, why in refused if why is Objection.TAINT)
    names = sorted({f"{each.key}={each.value}" if each.value else each.key for each in taints if each is not None})
    return f" ({names[0]}{', …' if len(names) > 1 else ''})"

"""Seeker: a pod in search of a node, and why each node does not take it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from hangar.domain.fit.neighbours import DomainRule, certain_rules
from hangar.domain.fit.node_rules import Objection, Reach, is_made_anew, objection_of, reach_of
from hangar.domain.fit.room import asked_by, suffices, unlisted
from hangar.domain.fit.scene import Scene
from hangar.domain.ids import NodeName
from hangar.domain.placing import HostPort
from hangar.domain.snapshot import Node, Pod, PodPhase

ANY_ADDRESS = ("", "0.0.0.0")  # noqa: S104  (an address to compare with, not to listen on)


@dataclass(frozen=True, slots=True)
class Seeker:
    """A pod with what bars it from nodes. `asked` is what it takes of a node's room.

    `held_on` are the nodes on which volumes of it are in use that may be in use on one only. `free` and `ports_taken`
    say what a node has left, and which of its ports other pods have.
    """

    pod: Pod
    draining: frozenset[NodeName]
    reach: Reach
    asked: Mapping[str, int]
    rules: tuple[DomainRule, ...]
    held_on: frozenset[NodeName]
    free: Callable[[Node], Mapping[str, int]]
    ports_taken: Callable[[Node], Iterable[HostPort]]

    def objection(self, node: Node) -> Objection | None:
        """Return why a node does not take the pod, or None where it does."""
        by_itself = objection_of(node, self.pod, self.reach, self.draining)
        if by_itself is not None:
            return by_itself
        if self.held_on and self.held_on != {node.name}:
            return Objection.HELD
        if self.pod.demands.host_ports and any(
            _collide(own, taken) for taken in self.ports_taken(node) for own in self.pod.demands.host_ports
        ):
            return Objection.PORT
        for rule in self.rules:
            if rule.bars(node):
                return rule.objection
        return None if suffices(self.free(node), self.asked) else Objection.ROOM


def certain_seeker(pod: Pod, scene: Scene) -> Seeker:
    """Return a seeker that a node objects to only where it is certain that it could never take the pod."""
    hidden = unlisted(pod, scene.snapshot)
    return Seeker(
        pod=pod,
        draining=scene.draining,
        reach=reach_of(pod, scene.snapshot),
        asked={name: amount for name, amount in asked_by(pod).items() if name not in hidden},
        rules=certain_rules(pod, scene),
        held_on=_held_for_certain(pod, scene),
        free=scene.most_free,
        ports_taken=lambda node: ports_of(scene.staying_on(node.name)),
    )


def ports_of(pods: Iterable[Pod]) -> Iterable[HostPort]:
    """Return the ports of their node that pods take for themselves."""
    return (port for pod in pods for port in pod.demands.host_ports)


def once_claims(pod: Pod, scene: Scene) -> list[str]:
    """Return the claims of a pod, and of whatever comes in its place, whose volumes may be in use on one node only."""
    found = ((name, scene.snapshot.claims.get((pod.ref.namespace, name))) for name in sorted(pod.demands.claims))
    return [name for name, claim in found if claim is not None and claim.once and not is_made_anew(pod, name)]


def _held_for_certain(pod: Pod, scene: Scene) -> frozenset[NodeName]:
    """Return where running pods that stay use volumes of a pod which does not run.

    One that runs itself has its volumes already: then they are in use on two nodes, and nobody enforces that they not.
    """
    if pod.phase is PodPhase.RUNNING:
        return frozenset()
    held: set[NodeName] = set()
    for name in once_claims(pod, scene):
        users = [
            each.node
            for each in scene.crowd.holding(pod.ref.namespace, name)
            if each.node is not None and each.phase is PodPhase.RUNNING and scene.stays(each)
        ]
        if len(set(users)) == 1:
            held.update(users)
    return frozenset(held)


def _collide(one: HostPort, other: HostPort) -> bool:
    return (
        one.port == other.port
        and one.protocol == other.protocol
        and (one.address == other.address or one.address in ANY_ADDRESS or other.address in ANY_ADDRESS)
    )

"""Packing: an example of a place for each pod that moves, found greedily, beside what others are promised."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hangar.domain.fit.crowd import Crowd
from hangar.domain.fit.neighbours import Shape, Surroundings, shape_of
from hangar.domain.fit.node_rules import reach_of
from hangar.domain.fit.room import asked_by, free_beside
from hangar.domain.fit.scene import Scene
from hangar.domain.fit.seeker import Seeker, once_claims, ports_of
from hangar.domain.ids import NodeName
from hangar.domain.placing import HostPort
from hangar.domain.snapshot import Node, Pod


class Packing:
    """Pods placed one after another, each on the first node by name that takes it beside all that is there and placed.

    Nothing counts as free that is not: neither what terminates, nor what would give way to a pod of higher priority.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._nodes = sorted(scene.nodes, key=lambda each: each.name)
        self._free: dict[NodeName, dict[str, int]] = {}
        self._on: dict[NodeName, list[Pod]] = {}
        self._placed = Crowd()
        self._promised = Crowd()
        self._around: dict[Shape, Surroundings] = {}
        self._from: dict[Shape, int] = {}

    def place(self, pod: Pod) -> NodeName | None:
        """Give a pod a place and return its node, or None where none takes it now."""
        node = self._find(pod)
        if node is None:
            return None
        self._take(pod, node, self._placed)
        return node.name

    def promise(self, pod: Pod) -> NodeName | None:
        """Keep a place for a pod that may come to be elsewhere, and return its node, or None where there is none now.

        No other pod may count on its company.
        """
        node = self._find(pod)
        if node is None:
            return None
        self._take(pod, node, self._promised)
        return node.name

    def _find(self, pod: Pod) -> Node | None:
        shape = shape_of(pod)
        seeker = self._seeker(pod, shape)
        # Room only shrinks, so a node that turned away one pod of a shape need not be asked again, unless it is other
        # pods that it lacks.
        shrinks = not pod.demands.near and not pod.demands.spread
        start = self._from.get(shape, 0) if shrinks else 0
        for index, node in enumerate(self._nodes[start:], start):
            if seeker.objection(node) is None:
                self._from[shape] = index
                return node
        self._from[shape] = len(self._nodes)
        return None

    def could_place(self, pod: Pod) -> bool:
        """Tell whether a node would take a pod now; no room is taken."""
        seeker = self._seeker(pod, shape_of(pod))
        return any(seeker.objection(node) is None for node in self._nodes)

    def _seeker(self, pod: Pod, shape: Shape) -> Seeker:
        if shape not in self._around:
            self._around[shape] = Surroundings(pod, self._scene)
        return Seeker(
            pod=pod,
            draining=self._scene.draining,
            reach=reach_of(pod, self._scene.snapshot),
            asked=asked_by(pod),
            rules=self._around[shape].rules(self._placed, self._promised),
            held_on=self._held_on(pod),
            free=self._free_on,
            ports_taken=self._ports_taken,
        )

    def _free_on(self, node: Node) -> Mapping[str, int]:
        if node.name not in self._free:
            self._free[node.name] = free_beside(node, self._scene.there_on(node.name))
        return self._free[node.name]

    def _ports_taken(self, node: Node) -> Iterator[HostPort]:
        yield from ports_of(self._scene.there_on(node.name))
        yield from ports_of(self._on.get(node.name, ()))

    def _held_on(self, pod: Pod) -> frozenset[NodeName]:
        """Return the nodes on which others use a volume of the pod that may be in use on one only."""
        there, namespace = self._scene.crowd, pod.ref.namespace
        users = [
            each
            for name in once_claims(pod, self._scene)
            for each in (
                *(other for other in there.holding(namespace, name) if self._scene.is_there(other)),
                *self._placed.holding(namespace, name),
                *self._promised.holding(namespace, name),
            )
        ]
        return frozenset(each.node for each in users if each.node is not None and each.ref.uid != pod.ref.uid)

    def _take(self, pod: Pod, node: Node, crowd: Crowd) -> None:
        moved = replace(pod, node=node.name, deletion_at=None)
        free = dict(self._free_on(node))
        for name, amount in asked_by(pod).items():
            free[name] = free.get(name, 0) - amount
        self._free[node.name] = free
        self._on.setdefault(node.name, []).append(moved)
        crowd.add(moved)

"""Whether what a drain evicts can fit elsewhere: a sound bound, whole GPUs by resource name.

It says "does not fit" only where that is certain as the cluster is now: no single node has the room for a pod, or all
of them together ask for more than is free. Anything else goes on; the scheduler, not we, places pods.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import View

PODS = "pods"


@dataclass(frozen=True, slots=True)
class Misfit:
    """One resource that is missing: for one pod (`pod` set) on every single node, or for all pods in sum.

    `asked` and `free` are amounts of `resource`: the most that is free on one node, or in sum on all. `resource` is
    empty where no node takes the pod whatever it asks for, and `why` says what is in the way.
    """

    pod: Pod | None
    resource: str
    asked: int
    free: int
    nodes: int
    why: str = ""

    def __str__(self) -> str:
        if not self.resource:
            return f"{self._who()} fits on no node: {self.why}"
        if self.pod is None:
            return f"the pods ask for {self.asked} {self.resource} in sum, {self.free} are free on {self.nodes} node(s)"
        return f"{self._who()} needs {self.asked} {self.resource} on one node, at most {self.free} are free on one"

    def _who(self) -> str:
        return str(self.pod.ref) if self.pod is not None else "a pod"


def misfits(moving: Iterable[Pod], view: View) -> tuple[Misfit, ...]:
    """Return what certainly has no room off the draining nodes; empty where everything may fit."""
    moving = tuple(moving)
    nodes, room = open_nodes(view), _Room(view)
    alone = tuple(misfit for pod in moving if (misfit := _misfit_of(pod, nodes, room)) is not None)
    return alone or _missing_in_sum(moving, nodes, room)


def takes(node: Node, pod: Pod) -> bool:
    """Tell whether a node's taints and labels let a pod in."""
    repelled = any(
        taint.effect != "PreferNoSchedule" and not any(each.tolerates(taint) for each in pod.tolerations)
        for taint in node.taints
    )
    return not repelled and all(node.labels.get(key) == value for key, value in pod.node_selector.items())


def open_nodes(view: View) -> list[Node]:
    """Return the nodes that new pods may go to: ready, not cordoned, and not about to be emptied."""
    draining = view.draining_nodes()
    nodes = view.snapshot.nodes.values()
    return [node for node in nodes if node.ready and not node.unschedulable and node.name not in draining]


class _Room:
    """What each node has for pods of a priority, by resource; worked out where it is asked for, since most is not.

    What terminates counts as free already, and so does what would have to give way: the scheduler may preempt it.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[tuple[NodeName, int], Mapping[str, int]] = {}

    def on(self, node: Node, priority: int) -> Mapping[str, int]:
        """Return what is free on a node, less than nothing where it holds more than it has."""
        key = (node.name, priority)
        if key not in self._known:
            used: Counter[str] = Counter()
            for pod in self._view.snapshot.pods_on(node.name):
                if pod.priority >= priority and not pod.is_finished and not pod.is_terminating:
                    used.update(_asked(pod))
            self._known[key] = {resource: amount - used[resource] for resource, amount in node.allocatable.items()}
        return self._known[key]


def _asked(pod: Pod) -> Mapping[str, int]:
    return {**pod.requests, PODS: 1}


def _misfit_of(pod: Pod, nodes: list[Node], room: _Room) -> Misfit | None:
    asked = _asked(pod)
    seen: list[Mapping[str, int]] = []
    for node in nodes:
        if takes(node, pod):
            free = room.on(node, pod.priority)
            if all(free.get(name, 0) >= amount for name, amount in asked.items()):
                return None
            seen.append(free)
    if not seen:
        return Misfit(pod, "", 0, 0, 0, "no ready, schedulable node matches its node selector and tolerations")
    best = {name: max(free.get(name, 0) for free in seen) for name in asked}
    short = sorted((name for name in asked if best[name] < asked[name]), key=lambda name: (_is_common(name), name))
    if not short:
        return Misfit(pod, "", 0, 0, 0, f"no single node has all of {', '.join(sorted(asked))} free")
    return Misfit(pod, short[0], asked[short[0]], max(0, best[short[0]]), len(seen))


def _missing_in_sum(moving: tuple[Pod, ...], nodes: list[Node], room: _Room) -> tuple[Misfit, ...]:
    """Return what all nodes together lack that take one of the pods or another."""
    asked: Counter[str] = Counter()
    for pod in moving:
        asked.update(_asked(pod))
    priority = max((pod.priority for pod in moving), default=0)
    missing, hosts = dict(asked), 0
    for node in nodes:
        if all(amount <= 0 for amount in missing.values()):
            return ()
        if any(takes(node, pod) for pod in moving):
            free = room.on(node, priority)
            missing = {name: amount - max(0, free.get(name, 0)) for name, amount in missing.items()}
            hosts += 1
    return tuple(
        Misfit(None, name, asked[name], asked[name] - amount, hosts)
        for name, amount in sorted(missing.items())
        if amount > 0
    )


def _is_common(resource: str) -> bool:
    """CPU, memory and pod slots last: where a GPU is missing too, the GPU is what people ask about."""
    return resource in ("cpu", "memory", PODS)

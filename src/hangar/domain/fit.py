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
    free = {priority: free_by_node(view, priority) for priority in {pod.priority for pod in moving}}
    found: list[Misfit] = []
    asked: Counter[str] = Counter()
    hosts: set[NodeName] = set()
    for pod in moving:
        candidates = [node for node in open_nodes(view) if takes(node, pod)]
        asked.update(_asked(pod))
        hosts.update(node.name for node in candidates)
        if misfit := _misfit_of(pod, candidates, free[pod.priority]):
            found.append(misfit)
    if moving and not found:
        most = free[max(free)]
        for resource in sorted(asked):
            total = sum(max(0, most[name].get(resource, 0)) for name in hosts)
            if asked[resource] > total:
                found.append(Misfit(None, resource, asked[resource], total, len(hosts)))
    return tuple(found)


def free_by_node(view: View, priority: int) -> Mapping[NodeName, Mapping[str, int]]:
    """Return what each open node has for pods of a priority, by resource.

    What terminates counts as free already, and so does what would have to give way: the scheduler may preempt it.
    """
    return {node.name: _free(node, view, priority) for node in open_nodes(view)}


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


def _free(node: Node, view: View, priority: int) -> Mapping[str, int]:
    used: Counter[str] = Counter()
    for pod in view.snapshot.pods_on(node.name):
        if pod.priority >= priority and not pod.is_finished and not pod.is_terminating:
            used.update(_asked(pod))
    return {resource: amount - used[resource] for resource, amount in node.allocatable.items()}


def _asked(pod: Pod) -> Mapping[str, int]:
    return {**pod.requests, PODS: 1}


def _misfit_of(pod: Pod, candidates: list[Node], free: Mapping[NodeName, Mapping[str, int]]) -> Misfit | None:
    if not candidates:
        return Misfit(pod, "", 0, 0, 0, "no ready, schedulable node matches its node selector and tolerations")
    asked = _asked(pod)
    if any(all(free[node.name].get(name, 0) >= amount for name, amount in asked.items()) for node in candidates):
        return None
    best = {name: max(free[node.name].get(name, 0) for node in candidates) for name in asked}
    short = sorted((name for name in asked if best[name] < asked[name]), key=lambda name: (_is_common(name), name))
    if not short:
        return Misfit(pod, "", 0, 0, 0, f"no single node has all of {', '.join(sorted(asked))} free")
    return Misfit(pod, short[0], asked[short[0]], max(0, best[short[0]]), len(candidates))


def _is_common(resource: str) -> bool:
    """CPU, memory and pod slots last: where a GPU is missing too, the GPU is what people ask about."""
    return resource in ("cpu", "memory", PODS)

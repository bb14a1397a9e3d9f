"""Room: what a pod takes of a node, and what a node has left beside the pods on it, resource by resource."""

from collections.abc import Iterable, Mapping

from hangar.domain.snapshot import Node, Pod, Snapshot

PODS = "pods"


def asked_by(pod: Pod) -> Mapping[str, int]:
    """Return what a pod takes of a node: its requests, and a place among its pods."""
    return {**{name: amount for name, amount in pod.requests.items() if amount > 0}, PODS: 1}


def unlisted(pod: Pod, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the resources that a pod asks for and its own node does not list: where it got them is not known.

    Devices can be handed out by other ways than a node's amounts; then no node's amounts say where there is room.
    """
    node = snapshot.nodes.get(pod.node) if pod.node is not None else None
    if node is None:
        return ()
    return tuple(sorted(name for name, amount in pod.requests.items() if amount > 0 and name not in node.allocatable))


def free_beside(node: Node, pods: Iterable[Pod]) -> dict[str, int]:
    """Return what a node has left beside some pods; less than nothing where they hold more than it has."""
    free = dict(node.allocatable)
    free.setdefault(PODS, 0)
    for pod in pods:
        free[PODS] -= 1
        for name, amount in pod.requests.items():
            if name in free:
                free[name] -= amount
    return free


def suffices(free: Mapping[str, int], asked: Mapping[str, int]) -> bool:
    """Tell whether what is free is enough."""
    for name, amount in asked.items():  # noqa: SIM110  (asked for every node: half the time of `all`)
        if free.get(name, 0) < amount:
            return False
    return True


def is_gpu(resource: str) -> bool:
    """Tell whether a resource is a GPU or a slice of one, by its name."""
    name = resource.rpartition("/")[2]
    return "/" in resource and ("gpu" in resource or name.startswith("mig-"))


def gpus_asked(pod: Pod) -> int:
    """Return the most that a pod asks for of one sort of GPU; sorts are never added together."""
    return max((amount for name, amount in pod.requests.items() if is_gpu(name)), default=0)


def size_of(pod: Pod) -> tuple[int, int, int]:
    """Return how large a pod is, to place the largest first: GPUs, then CPU, then memory."""
    return gpus_asked(pod), pod.requests.get("cpu", 0), pod.requests.get("memory", 0)

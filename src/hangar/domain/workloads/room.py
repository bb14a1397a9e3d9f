"""Room: at most how many more replicas of a workload a cluster could run, as far as its GPUs tell."""

from collections.abc import Sequence

from hangar.domain.workloads.shape import Shape
from hangar.domain.workloads.workload import Deployment


def room(deployment: Deployment, free: Sequence[int]) -> int | None:
    """Return an upper bound of the replicas that fit beside those wanted; never less than really would.

    `free` are the GPUs that new pods could get, one number for each node that has any; none at all means that they are
    published in a way that is not counted. None where it cannot be told, or where a replica needs no GPU.
    """
    graph, shape = deployment.described, deployment.shape
    if graph is None or shape is None or not free:
        return None
    parts = [graph.component(name) for name in shape]
    pods, gpus = [], []
    for part in parts:
        if part is None or part.gpus_per_pod is None:
            return None
        pods.append(shape[part.name] * part.node_count)
        gpus.append(part.gpus_per_pod)
    whole = sum(count * each for count, each in zip(pods, gpus, strict=True))
    if not whole:
        return None
    # Pods beyond what is wanted are on their way out: what they hold is free in a moment, on nodes that nobody names.
    leaving = _leaving(deployment, shape)
    bounds = [(sum(free) + leaving) // whole]
    if not leaving:
        bounds += [sum(each // size for each in free) // count for count, size in zip(pods, gpus, strict=True) if size]
    return min(bounds)


def _leaving(deployment: Deployment, shape: Shape) -> int:
    """Return the GPUs of pods that are there beyond what is wanted."""
    graph = deployment.graph
    if graph is None:
        return 0
    gpus = 0
    for name, each in shape.items():
        part = graph.component(name)
        if part is not None:
            gpus += max(0, part.pods - each * deployment.desired * part.node_count) * (part.gpus_per_pod or 0)
    return gpus

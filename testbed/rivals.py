"""Others who write the numbers of graphs, and put them back: an autoscaler's controller, and one of GitOps."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from testbed.dynamo_adapters import Adapters
from testbed.dynamo_graphs import Graphs
from testbed.kube import KubeError

TICK_S = 0.2
"""Between two looks: whatever else is written is put back well within a second."""

AUTOSCALER = "kube-controller-manager"
GITOPS = "argocd-controller"


@contextmanager
def autoscaling(adapters: Adapters, name: str, replicas: int, namespace: str = "default") -> Iterator[None]:
    """Put the number of an adapter to one of its own, again and again, as a HorizontalPodAutoscaler's controller."""

    def look() -> None:
        found = adapters.get(name, namespace)
        if found is not None and found["spec"]["replicas"] != replicas:
            adapters.scale(name, replicas, AUTOSCALER, namespace)

    with _repeating(look):
        yield


@contextmanager
def reverting(graphs: Graphs, name: str, counts: Mapping[str, int], namespace: str = "default") -> Iterator[None]:
    """Put the counts of a graph back to what a repository says, again and again, as a GitOps controller does."""

    def look() -> None:
        for component, replicas in counts.items():
            found = graphs.get(name, namespace)
            if found is not None and graphs.parts(found)[component].get("replicas", 1) != replicas:
                graphs.scale(found, component, replicas, GITOPS)

    with _repeating(look):
        yield


@contextmanager
def _repeating(look: Callable[[], None]) -> Iterator[None]:
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(TICK_S):
            with suppress(KubeError):  # somebody was faster, or took it away: the next look will see
                look()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()

"""The operator on a cluster of 1,000 nodes and 10,000 pods: its first snapshot, its turns, its memory."""

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event

import httpx2

import hangar
from bench.report import Floor, Report, Row
from hangar.operator.cluster.kubernetes.access import NEEDED
from testbed import manifests
from testbed.access import user_with
from testbed.bed import Bed, Settings, free_ports
from testbed.build import build
from testbed.ground import GPU_EACH
from testbed.kube import Kube, until
from testbed.stack import Leases, Stack

NODES = 1000
PODS_A_NODE = 10
APPS = 100
REPLICAS = NODES * PODS_A_NODE // APPS

DRAINS = 8
"""Drained at once; as many nodes stand empty beside the full ones, so that every pod has a place to go to."""

STARTS = 3
"""Starts of the operator; the median counts."""

ROUNDS = 2
"""Rounds of drains."""

THREADS = 8
LOOK_S = 0.1
FILLED_WITHIN_S = 1800.0
TEMPLATE = replace(GPU_EACH, ready_after="2s", terminate_after="5s")

SNAPSHOT_S_MAX = 3.0
TURN_MS_MAX = 50.0
MEMORY_MB_MAX = 200.0

SLOWEST_TURN = Floor(
    250.0,
    "it is the one in which all eight drains begin: each is checked whole, budgets, owners and fit of its ten pods "
    "among 10,000. That turn alone, without a cluster beside it, has 46 to 58 ms of CPU, in a profile about a quarter "
    "each for budgets, owners and fit; what is common to the drains is found out once. Here two cores are shared with "
    "the API server and its controllers, and the upper bound of a bucket stands for what is in it.",
)

Figures = Mapping[str, float]


def run() -> Report:
    """Measure all rows and return what was found."""
    programs = build()
    (port,) = free_ports(1)
    shown = Shown(f"http://127.0.0.1:{port}/metrics")
    # While ten thousand pods are made, the heartbeats of a thousand nodes come late.
    with Bed(programs, Settings(node_grace_s=600, has_node_leases=True)) as bed:
        fill(bed.kube)
        rights = user_with(bed, "hangar-operator", NEEDED["drain"])
        with Stack(bed, rights, Leases(), {"HANGAR_METRICS_LISTEN": f"127.0.0.1:{port}"}) as stack:
            starts = [_first_snapshot_s(stack, shown) for _ in range(STARTS)]
            rounds = [_drained(bed.kube, stack, shown, number) for number in range(ROUNDS)]
            kubernetes = str(stack.client.cluster("bed")["kubernetes_version"])
    return Report(
        name="operator",
        title="The operator on a large cluster",
        rows=(
            Row("first snapshot, from the start of the process", "s", starts, SNAPSHOT_S_MAX),
            Row(f"a turn with {DRAINS} drains open, mean", "ms", [each.mean_ms for each in rounds], TURN_MS_MAX),
            Row(
                "the slowest turn, at most",
                "ms",
                [max(each.slowest_ms for each in rounds)],
                TURN_MS_MAX,
                floor=SLOWEST_TURN,
            ),
            Row("resident memory, at most", "MB", [max(each.memory_mb for each in rounds)], MEMORY_MB_MAX),
        ),
        versions={"wingsmith": hangar.__version__, "Kubernetes": kubernetes},
        notes=(
            f"A real API server holds {NODES} full nodes and {NODES * PODS_A_NODE} pods of {APPS} Deployments, "
            f"each with a budget of maxUnavailable 10; its controllers, scheduler and made-up kubelets run beside. "
            f"{sum(each.turns for each in rounds):.0f} turns were taken while the drains went on.",
            "",
            "All figures are the operator's own, at its /metrics, looked at ten times a second: the snapshot is there "
            "when its objects are counted; of the slowest turn only the bucket is known, and its upper bound stands "
            "here.",
        ),
    )


# --- the cluster ------------------------------------------------------------------------------------------------------


def fill(kube: Kube) -> None:
    """Make the nodes and the Deployments with their budgets, and wait until all pods are ready."""
    _create(kube, (manifests.node(f"gpu-{number:04d}", gpus=PODS_A_NODE) for number in range(NODES)))
    apps = [f"app-{number:03d}" for number in range(APPS)]
    _create(kube, (manifests.deployment(app, REPLICAS, TEMPLATE) for app in apps))
    _create(kube, (manifests.budget(app, max_unavailable=10) for app in apps))
    until("all pods are ready", lambda: _ready(kube) == NODES * PODS_A_NODE, FILLED_WITHIN_S)


def _add_spares(kube: Kube, number: int) -> list[str]:
    names = [f"spare-{number}-{each}" for each in range(DRAINS)]
    _create(kube, (manifests.node(name, gpus=PODS_A_NODE) for name in names))
    return names


def _take_pods(kube: Kube, stack: Stack, nodes: Iterable[str]) -> bool:
    """Tell whether the scheduler may use nodes, and the operator has told the hub so."""
    found = ((kube.get("Node", node), stack.client.node(node)) for node in nodes)
    return all(node and not node["spec"].get("taints") and shown and shown["ready"] for node, shown in found)


def _create(kube: Kube, documents: Iterable[dict[str, object]]) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(kube.create, documents))


def _ready(kube: Kube) -> int:
    time.sleep(1.0)  # a hundred Deployments are looked at no more often
    return sum(each["status"].get("readyReplicas", 0) for each in kube.find("Deployment"))


# --- what the operator shows ------------------------------------------------------------------------------------------


class Shown:
    """An operator's /metrics."""

    def __init__(self, url: str) -> None:
        self._http = httpx2.Client(trust_env=False)
        self._url = url

    def look(self) -> Figures | None:
        """Return all figures by their names with labels; None while nobody answers."""
        try:
            text = self._http.get(self._url).text
        except httpx2.TransportError:
            return None
        lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    def now(self) -> Figures:
        """Return all figures of an operator that runs."""
        found = self.look()
        if found is None:
            raise RuntimeError("the operator shows nothing")
        return found


def _first_snapshot_s(stack: Stack, shown: Shown) -> float:
    """Start the operator anew; return the seconds until it knows all pods."""
    stack.operator.terminate()
    stack.operator.reap()

    def is_complete() -> bool:
        return (shown.look() or {}).get('hangar_snapshot_objects{resource="pods"}') == NODES * PODS_A_NODE

    began_s = time.perf_counter()
    stack.operator.start()
    until("the operator knows all pods", is_complete)
    took_s = time.perf_counter() - began_s
    stack.operator.wait_ready()
    return took_s


@dataclass(frozen=True, slots=True)
class Round:
    """What was seen while drains went on."""

    turns: float
    mean_ms: float
    slowest_ms: float
    memory_mb: float


def _drained(kube: Kube, stack: Stack, shown: Shown, number: int) -> Round:
    """Drain some nodes at once, and return what the operator showed meanwhile."""
    hub = stack.client
    nodes = [f"gpu-{number * DRAINS + each:04d}" for each in range(DRAINS)]
    spares = _add_spares(kube, number)
    until("there are nodes for the pods to go to", lambda: _take_pods(kube, stack, spares))
    before = shown.now()
    with _watched(shown) as memory:
        ended = [hub.finish(each) for each in [hub.submit("node.drain", node) for node in nodes]]
    after = shown.now()
    said = {each["result"]["message"] for each in ended}
    if said != {f"evicted_replicas={PODS_A_NODE}"}:
        raise RuntimeError(f"not the drains that were to be measured: {said}")
    turns = _grown(before, after, "hangar_turn_seconds_count")
    return Round(
        turns,
        _grown(before, after, "hangar_turn_seconds_sum") / turns * 1e3,
        next(bound_s for bound_s, count in _buckets(before, after) if count == turns) * 1e3,
        max(memory) / 1e6,
    )


def _grown(before: Figures, after: Figures, name: str) -> float:
    return after[name] - before[name]


def _buckets(before: Figures, after: Figures) -> Iterator[tuple[float, float]]:
    """Yield the upper bounds of the turns' buckets, in seconds, with how many turns took no longer."""
    for name in after:
        if name.startswith("hangar_turn_seconds_bucket"):
            yield float(name.split('"')[1]), _grown(before, after, name)


@contextmanager
def _watched(shown: Shown) -> Iterator[list[float]]:
    """Look at the operator's memory until the block ends."""
    seen: list[float] = []
    is_over = Event()

    def look() -> None:
        while True:
            seen.append(shown.now()["process_resident_memory_bytes"])
            if is_over.wait(LOOK_S):
                return

    with ThreadPoolExecutor(1) as thread:
        looking = thread.submit(look)
        try:
            yield seen
        finally:
            is_over.set()
            looking.result()

"""Node drains beside `kubectl drain`, on one real cluster and in one run."""

import os
import subprocess
import time
from dataclasses import replace

import hangar
from bench.report import Peer, Report, Row
from hangar.operator.cluster.kubernetes.access import NEEDED
from testbed.access import user_with
from testbed.bed import Bed
from testbed.build import Programs, build
from testbed.ground import GPU_EACH, Ground
from testbed.kube import until
from testbed.stack import Leases, Stack

ROUNDS = 3
"""Drains of each sort; the median counts."""

PODS_A_NODE = 5
REPLICAS = 40
NODES = REPLICAS // PODS_A_NODE

TEMPLATE = replace(GPU_EACH, ready_after="2s", terminate_after="5s")
APP = "model"


def run() -> Report:
    """Measure both rows and return what was found."""
    programs = build()
    with Bed(programs) as bed, Stack(bed, user_with(bed, "hangar-operator", NEEDED["drain"]), Leases()) as stack:
        rows = (
            _row("drain of 5 pods, no budget", Lane(bed, stack, programs, "free"), 5.6, 0.95),
            _row(
                "drain of 5 pods, maxUnavailable 1", Lane(bed, stack, programs, "guarded", is_guarded=True), 15.0, 0.55
            ),
        )
        kubernetes = str(stack.client.cluster("bed")["kubernetes_version"])
    return Report(
        name="drain",
        title="Node drains",
        rows=rows,
        versions={"wingsmith": hangar.__version__, "Kubernetes and kubectl": kubernetes},
        notes=(
            f"{NODES} full nodes carry a Deployment of {REPLICAS} pods, {PODS_A_NODE} each; every drain finds one "
            "empty node as a spare. A pod ends 5 s after its eviction, a new one is ready 2 s after its start.",
            "",
            "Ours is from the POST to the terminal phase, all replacements ready; kubectl's is the life of its "
            "process, and it does not wait for replacements. The two take turns on the same Deployment.",
        ),
    )


class Lane:
    """A Deployment on full nodes, whose nodes are drained one after another, by us and by kubectl in turn."""

    def __init__(self, bed: Bed, stack: Stack, programs: Programs, name: str, *, is_guarded: bool = False) -> None:
        self._kubectl = programs.path("kubectl")
        self._environment = {**os.environ, "KUBECONFIG": str(bed.kubeconfig)}
        self._ground = Ground(bed, stack.client, name)
        self._full = [self._ground.add_node(gpus=PODS_A_NODE) for _ in range(NODES)]
        self._ground.deploy(APP, REPLICAS, TEMPLATE)
        if is_guarded:
            self._ground.guard(APP, max_unavailable=1)

    def ours(self) -> float:
        """Drain the next node by an operation; return the seconds from the POST to its end."""
        node = self._next()
        hub = self._ground.hub
        began_s = time.perf_counter()
        done = hub.finish(hub.submit("node.drain", node))
        took_s = time.perf_counter() - began_s
        if done["result"]["message"] != f"evicted_replicas={PODS_A_NODE}":
            raise RuntimeError(f"not the drain that was to be measured: {done}")
        if len(self._ground.ready_pods(APP)) != REPLICAS:
            raise RuntimeError("the drain ended before its replacements were ready")
        self._settle(node)
        return took_s

    def kubectls(self) -> float:
        """Drain the next node by kubectl; return the seconds that its process lived."""
        node = self._next()
        began_s = time.perf_counter()
        subprocess.run(
            [str(self._kubectl), "drain", node, "--ignore-daemonsets"],
            env=self._environment,
            check=True,
            capture_output=True,
        )
        took_s = time.perf_counter() - began_s
        self._settle(node)
        return took_s

    def remove(self) -> None:
        """Take everything away."""
        self._ground.remove()

    def _next(self) -> str:
        self._ground.add_node(gpus=PODS_A_NODE)
        return self._full.pop(0)

    def _settle(self, node: str) -> None:
        """Wait until the next drain finds what this one found."""
        self._ground.wait_ready(APP, REPLICAS)
        until(f"node {node} is empty", lambda: not self._ground.kube.pods_on(node))
        self._ground.wait_counted(APP)


def _row(work: str, lane: Lane, budget_max_s: float, ratio_max: float) -> Row:
    ours, peers = [], []
    for _ in range(ROUNDS):
        peers.append(lane.kubectls())
        ours.append(lane.ours())
    lane.remove()
    return Row(work, "s", ours, budget_max_s, Peer("kubectl", peers, ratio_max))

"""Eight drains at once beside one `kubectl drain` of the same eight nodes, on one real cluster and in one run."""

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
"""Racks drained by each; the median counts."""

RACK = (6, 6, 6, 5, 5, 5, 5, 5)
"""Eight nodes and the pods that each has room for."""

REPLICAS = sum(RACK)
BUDGET = 10
TEMPLATE = replace(GPU_EACH, ready_after="2s", terminate_after="5s")
APP = "model"

TOOK_S_MAX = 20.0
RATIO_MAX = 0.35


def run() -> Report:
    """Measure the row and return what was found."""
    programs = build()
    with Bed(programs) as bed, Stack(bed, user_with(bed, "hangar-operator", NEEDED["drain"]), Leases()) as stack:
        racks = Racks(bed, stack, programs)
        ours, peers = [], []
        for _ in range(ROUNDS):
            peers.append(racks.by_kubectl())
            ours.append(racks.by_us())
        kubernetes = str(stack.client.cluster("bed")["kubernetes_version"])
    work = f"{len(RACK)} nodes with {REPLICAS} pods, maxUnavailable {BUDGET}"
    return Report(
        name="drains",
        title="Many drains at once",
        rows=(Row(work, "s", ours, TOOK_S_MAX, Peer("kubectl", peers, RATIO_MAX)),),
        versions={"wingsmith": hangar.__version__, "Kubernetes and kubectl": kubernetes},
        notes=(
            f"A Deployment of {REPLICAS} pods fills a rack of {len(RACK)} nodes, and a second one of the same size is "
            "empty. A pod ends 5 s after its eviction, a new one is ready 2 s after its start.",
            "",
            "Ours is from the first of eight POSTs to the last terminal phase, all replacements ready; kubectl's is "
            "the life of one `kubectl drain` of all eight, which cordons them and drains one after the other, and does "
            "not wait for replacements. The two take turns, from rack to rack.",
        ),
    )


class Racks:
    """A Deployment that fills one rack, which is drained to another, by us and by kubectl in turn."""

    def __init__(self, bed: Bed, stack: Stack, programs: Programs) -> None:
        self._kubectl = str(programs.path("kubectl"))
        self._environment = {**os.environ, "KUBECONFIG": str(bed.kubeconfig)}
        self._ground = Ground(bed, stack.client, "rack")
        self._full = self._rack()
        self._ground.deploy(APP, REPLICAS, TEMPLATE)
        self._ground.guard(APP, max_unavailable=BUDGET)

    def by_us(self) -> float:
        """Drain the full rack by operations; return the seconds from the first POST to the last end."""
        nodes = self._next()
        hub = self._ground.hub
        began_s = time.perf_counter()
        operations = [hub.submit("node.drain", node) for node in nodes]
        ended = [hub.finish(operation) for operation in operations]
        took_s = time.perf_counter() - began_s
        said = [each["result"]["message"] for each in ended]
        if said != [f"evicted_replicas={pods}" for pods in RACK]:
            raise RuntimeError(f"not the drains that were to be measured: {said}")
        if len(self._ground.ready_pods(APP)) != REPLICAS:
            raise RuntimeError("the drains ended before their replacements were ready")
        self._settle(nodes)
        return took_s

    def by_kubectl(self) -> float:
        """Drain the full rack by kubectl; return the seconds that its process lived."""
        nodes = self._next()
        began_s = time.perf_counter()
        subprocess.run(
            [self._kubectl, "drain", *nodes, "--ignore-daemonsets"],
            env=self._environment,
            check=True,
            capture_output=True,
        )
        took_s = time.perf_counter() - began_s
        self._settle(nodes)
        return took_s

    def _rack(self) -> list[str]:
        return [self._ground.add_node(gpus=pods) for pods in RACK]

    def _next(self) -> list[str]:
        """Add an empty rack, and return the nodes of the full one."""
        full, self._full = self._full, self._rack()
        return full

    def _settle(self, nodes: list[str]) -> None:
        """Wait until the next rack finds what this one found."""
        self._ground.wait_ready(APP, REPLICAS)
        for node in nodes:
            until(f"node {node} is empty", lambda node=node: not self._ground.kube.pods_on(node))  # type: ignore[misc]
        self._ground.wait_counted(APP)

"""How soon a cordon is there: from the call of our API to a watcher of the cluster's API server, beside kubectl."""

import json
import os
import queue
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from statistics import median, quantiles

import httpx2

import hangar
from bench.report import Peer, Report, Row
from hangar.operator.cluster.kubernetes.access import NEEDED
from testbed.access import user_with
from testbed.bed import Bed
from testbed.build import Programs, build
from testbed.ground import Ground
from testbed.stack import Leases, Stack

BLOCKS = 5
"""The median of each block is one run."""

CORDONS = 60
"""Cordons a block: of 300 in all, three may be slower than the 99th percentile."""

PEER_CORDONS = 5
"""kubectl's cordons a block."""

P50_MAX_MS = 60.0
P99_MAX_MS = 250.0
SEEN_WITHIN_S = 30.0


def run() -> Report:
    """Measure both rows and return what was found."""
    programs = build()
    with (
        Bed(programs) as bed,
        Stack(bed, user_with(bed, "hangar-operator", NEEDED["drain"]), Leases()) as stack,
    ):
        watcher = Watcher(bed)
        ground = Ground(bed, stack.client, "cordon")
        node = ground.add_node()
        ours, peers = [], []
        for _ in range(BLOCKS):
            peers.append([_by_kubectl(programs, bed, watcher, node) for _ in range(PEER_CORDONS)])
            ours.append([_by_us(ground, watcher, node) for _ in range(CORDONS)])
        kubernetes = str(stack.client.cluster("bed")["kubernetes_version"])
    every = [each for block in ours for each in block]
    return Report(
        name="cordon",
        title="Cordons",
        rows=(
            Row(
                "cordon, asked to seen, P50",
                "ms",
                [median(block) for block in ours],
                P50_MAX_MS,
                Peer("kubectl cordon", [median(block) for block in peers], 1.0),
            ),
            Row(f"the same, P99 of {len(every)}", "ms", [quantiles(every, n=100)[98]], P99_MAX_MS),
        ),
        versions={"wingsmith": hangar.__version__, "Kubernetes and kubectl": kubernetes},
        notes=(
            "From before the POST to our API until a watcher of the nodes at the cluster's own API server is told: "
            "through the hub's store, the parked operator, a report that is stored before the step leaves, and the "
            "patch. kubectl's is from the start of its process; it asks the API server at once, and leaves no record.",
        ),
    )


class Watcher:
    """Notes when the API server tells of each change of a node's cordon, until the bed ends."""

    def __init__(self, bed: Bed) -> None:
        trust = ssl.create_default_context(cafile=bed.ca_file)
        trust.load_cert_chain(bed.server_pair.certificate, bed.server_pair.key)
        self._http = httpx2.Client(base_url=bed.server, verify=trust, timeout=None, trust_env=False)
        self._seen: queue.Queue[tuple[float, str, bool]] = queue.Queue()
        threading.Thread(target=self._watch, name="watcher", daemon=True).start()

    def took_ms(self, node: str, act: Callable[[], object], *, cordoned: bool) -> float:
        """Return the milliseconds from before an act until the node's cordon was seen to be so. Raises queue.Empty."""
        began_s = time.perf_counter()
        act()
        while True:
            at_s, name, is_cordoned = self._seen.get(timeout=SEEN_WITHIN_S)
            if at_s >= began_s and (name, is_cordoned) == (node, cordoned):
                return (at_s - began_s) * 1e3

    def _watch(self) -> None:
        known: dict[str, bool] = {}
        with suppress(httpx2.RemoteProtocolError), self._http.stream("GET", "/api/v1/nodes?watch=true") as stream:
            for line in stream.iter_lines():
                at_s = time.perf_counter()
                node = json.loads(line)["object"]
                name, is_cordoned = node["metadata"]["name"], bool(node["spec"].get("unschedulable"))
                if known.get(name) is not is_cordoned:
                    known[name] = is_cordoned
                    self._seen.put((at_s, name, is_cordoned))


def _by_us(ground: Ground, watcher: Watcher, node: str) -> float:
    hub = ground.hub
    asked: list[str] = []
    took_ms = watcher.took_ms(node, lambda: asked.append(hub.submit("node.cordon", node)), cordoned=True)
    hub.finish(asked[0])
    hub.finish(hub.submit("node.uncordon", node))
    return took_ms


def _by_kubectl(programs: Programs, bed: Bed, watcher: Watcher, node: str) -> float:
    command = [str(programs.path("kubectl")), "cordon", node]
    environment = {**os.environ, "KUBECONFIG": str(bed.kubeconfig), "HOME": str(bed.folder)}

    def ask(verb: str) -> None:
        command[1] = verb
        subprocess.run(command, env=environment, check=True, capture_output=True)

    took_ms = watcher.took_ms(node, lambda: ask("cordon"), cordoned=True)
    watcher.took_ms(node, lambda: ask("uncordon"), cordoned=False)
    return took_ms

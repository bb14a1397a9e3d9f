"""`hgr node ls` beside `kubectl get nodes`, on the same nodes and both over TLS; `hgr --help` beside bare Python."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hangar
from bench.processes import Sample, in_turn
from bench.report import Peer, Report, Row
from hangar.operator.cluster.kubernetes.access import NEEDED
from testbed import manifests
from testbed.access import user_with
from testbed.bed import Bed
from testbed.build import build
from testbed.kube import until
from testbed.stack import Leases, Stack

NODES = 500
ROUNDS = 21
"""A round takes half a second; of this many the median is steady within a few percent."""

HGR = str(Path(sys.executable).with_name("hgr"))


def run() -> Report:
    """Measure all rows and return what was found."""
    programs = build()
    kubectl = str(programs.path("kubectl"))
    with Bed(programs) as bed, _stack(bed) as stack:
        bed.kube.create(*(manifests.node(f"gpu-{number:03d}") for number in range(NODES)))
        environment = {
            "KUBECONFIG": str(bed.kubeconfig),
            "HOME": str(bed.folder),  # where kubectl keeps what it has discovered
            "HGR_SERVER": stack.server,
            "HGR_TOKEN": stack.token,
            "HGR_CA_FILE": str(bed.ca_file),
            "XDG_CONFIG_HOME": str(bed.folder),
        }
        ours, peers = [HGR, "node", "ls"], [kubectl, "get", "nodes"]
        until("both list all nodes as ready", lambda: all(_ready(each, environment) == NODES for each in (ours, peers)))
        for each in (bed.kwok, bed.scheduler, bed.controller_manager):
            each.freeze()  # nothing but the two servers answers while it is measured
        listing = in_turn([ours, peers], environment, ROUNDS)
        kubernetes = str(stack.client.cluster("bed")["kubernetes_version"])
    help_ = in_turn([[HGR, "--help"], [sys.executable, "-c", "pass"]], {}, ROUNDS)
    return Report(
        name="cli",
        title="The command line",
        rows=(
            _row(f"hgr node ls, {NODES} nodes", "ms", lambda each: each.wall_ms, listing, 0.85),
            _row("the same, CPU", "ms", lambda each: each.cpu_ms, listing, 0.85),
            _row("the same, memory", "MiB", lambda each: each.memory_mib, listing, 0.4),
            _row("hgr --help", "ms", lambda each: each.wall_ms, help_, 3.0, "python -c pass"),
        ),
        versions={"wingsmith": hangar.__version__, "Kubernetes and kubectl": kubernetes},
        notes=(
            "Each figure is of a whole process, from its start to its end; memory is the most that was resident. The "
            "commands take turns, and both servers are asked over TLS on loopback.",
        ),
    )


def _stack(bed: Bed) -> Stack:
    return Stack(bed, user_with(bed, "hangar-operator", NEEDED["drain"]), Leases(), is_secure=True)


def _ready(command: list[str], environment: dict[str, str]) -> int:
    """Return how many nodes a command lists as ready."""
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    rows = [line.split() for line in ran.stdout.splitlines()]
    return sum(row[0].startswith("gpu-") and row[1:3] in (["bed", "true"], ["Ready", "<none>"]) for row in rows)


def _row(
    work: str,
    unit: str,
    figure: Callable[[Sample], float],
    samples: list[list[Sample]],
    ratio_max: float,
    peer: str = "kubectl get nodes",
) -> Row:
    ours, peers = ([figure(each) for each in column] for column in samples)
    return Row(work, unit, ours, None, Peer(peer, peers, ratio_max))

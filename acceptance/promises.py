"""What a release promises, and the commands that show it."""

import sys
from dataclasses import dataclass

PYTHON = sys.executable


@dataclass(frozen=True, slots=True)
class Proof:
    """One command, run in the checkout: how it must exit, and what it must print on the way."""

    command: tuple[str, ...]
    exit_code: int = 0
    says: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Promise:
    """One line that users may rely on; it is kept when every proof holds."""

    text: str
    proofs: tuple[Proof, ...]


def _python(*words: str) -> Proof:
    return Proof((PYTHON, "-m", *words))


def _make(target: str) -> Proof:
    return Proof(("make", target))


def _demo(*words: str, exit_code: int = 0, says: tuple[str, ...] = ()) -> Proof:
    return Proof(("hangar-demo", "--", *words), exit_code, says)


def _demo_shell(script: str, exit_code: int = 0, says: tuple[str, ...] = ()) -> Proof:
    return _demo("sh", "-c", script, exit_code=exit_code, says=says)


KILLED = "test_a_killed_operator_goes_on_after_its_restart_and_evicts_no_pod_twice"
DRAIN = ("hgr", "operation", "create", "node.drain")

PROMISES = (
    Promise(
        "A fresh clone runs `make demo`, and in a second shell nodes are drained, cordoned and uncordoned",
        (_python("acceptance.fresh"),),
    ),
    Promise("`make test` passes: all that needs no Kubernetes", (_make("test"),)),
    Promise("`make check` passes: style, types, layers, tidy", (_make("check"),)),
    Promise(
        "`make test-kubernetes` passes: contract suite, drains and faults on a real API server",
        (_make("test-kubernetes"),),
    ),
    Promise(
        "Every node command of the manual, word for word and none skipped, behaves as printed there",
        (_python("pytest", "tests/transcripts/test_manual.py"),),
    ),
    Promise(
        "Bad input gets a clear error, and nothing is lost",
        (_python("pytest", "tests/transcripts/test_bad_input.py", "tests/hub/api/test_trouble.py"),),
    ),
    Promise(
        "The drain of the manual exits 0 on the demo",
        (
            _demo(
                *DRAIN,
                "iad-1-n02",
                "--reason",
                "firmware upgrade",
                "--wait",
                says=("op_", "node.drain iad-1-n02 succeeded: evicted_replicas=3"),
            ),
        ),
    ),
    Promise(
        "A drain that fits nowhere exits 11 and names the missing GPUs; the node is cordoned, its replicas serve on",
        (
            _demo_shell(
                "hgr node get iad-1-n07 | grep replicas; hgr operation create node.drain iad-1-n07 --wait; code=$?; "
                "hgr node get iad-1-n07 | grep -e ^cordoned -e replicas -e allocated.nvidia; exit $code",
                exit_code=11,
                says=(
                    "needs 8 nvidia.com/gpu on one node, at most 0 are free on one",
                    "cordoned: true",
                    "replicas: 2",
                    "allocated.nvidia.com/gpu: 8",
                ),
            ),
        ),
    ),
    Promise(
        "`--wait-timeout 1` exits 8, and says which budget holds the drain, with its numbers",
        (
            _demo(
                *DRAIN,
                "iad-1-n05",
                "--wait-timeout",
                "1",
                exit_code=8,
                says=("pdb serving/mixtral-8x7b holds back", "needs 5 has 5", "the operation goes on"),
            ),
        ),
    ),
    Promise(
        "A cancelled drain lists what was moved, what still terminates, what was not touched",
        (
            _demo_shell(
                "id=$(hgr operation create node.drain iad-1-n05 --wait-timeout 3 -q); "
                "hgr operation cancel $id --wait; hgr operation get $id | grep ^result",
                says=("result.details.moved[1]: ", "result.details.terminating: ", "result.details.untouched[1]: "),
            ),
        ),
    ),
    Promise(
        "On a real cluster a drain under a budget takes at most 0.55 of `kubectl drain`'s time, replacements ready",
        (_python("bench", "drain"),),
    ),
    Promise(
        "An operator killed in mid-drain goes on after its restart; no pod is evicted twice",
        (_python("pytest", f"tests/kubernetes/test_faults.py::{KILLED}"),),
    ),
    Promise(
        "After a cancelled drain has ended, the API server's audit log has no eviction and no deletion by the operator",
        (_python("pytest", "tests/kubernetes/test_cancels.py"),),
    ),
    Promise(
        "`hgr node ls` on 500 nodes takes at most 0.85 of `kubectl get nodes` in time and CPU, and 0.4 in memory",
        (_python("bench", "cli"),),
    ),
    Promise(
        "A dry run of a drain that fits nowhere names the replica, the GPUs that are missing, and where",
        (
            _demo(
                *DRAIN,
                "iad-1-n07",
                "--dry-run",
                exit_code=11,
                says=("serving/llama-3-405b-rs-00000 needs 8 nvidia.com/gpu on one node, at most 0 are free on one",),
            ),
        ),
    ),
    Promise(
        "A drain that a budget holds says so with its numbers, and ends by itself when the budget opens",
        (
            _demo(
                *DRAIN,
                "iad-1-n05",
                "--wait",
                says=(
                    "pdb serving/mixtral-8x7b holds back serving/mixtral-8x7b-rs-00001, serving/mixtral-8x7b-rs-00002",
                    "needs 5 has 5",
                    "node.drain iad-1-n05 succeeded: evicted_replicas=3",
                ),
            ),
        ),
    ),
    Promise(
        "On a real cluster a plan is written nowhere, and drains that share a workload leave it a ready pod",
        (_python("pytest", "tests/kubernetes/test_foresight.py"),),
    ),
    Promise(
        "Every workload command of the manual, word for word and none skipped, behaves as printed there",
        (_python("pytest", "tests/transcripts/test_manual_workloads.py"),),
    ),
    Promise(
        "A scale under an autoscaler is refused by its name; overridden and put back, it fails and says by whom",
        (
            _demo_shell(
                "hgr workload get mistral-7b | grep ^rivals; hgr workload scale mistral-7b --replicas 4; "
                "hgr workload scale mistral-7b --replicas 4 --override --reason launch --wait",
                exit_code=11,
                says=(
                    "rivals: sin-1 HorizontalPodAutoscaler mistral-7b (decode)",
                    "or go on with an operation that has `override` and a reason",
                    "HorizontalPodAutoscaler mistral-7b has set decode to 2 instead of 4",
                ),
            ),
        ),
    ),
    Promise(
        "Hub or operator killed at any step of a scale, pause or drain: the end is the same; one patch a changed graph",
        (_python("pytest", "tests/simulation/test_workload_sweep.py", "tests/simulation/test_workload_fleet.py"),),
    ),
    Promise(
        "Placement is that of an independent oracle, by the API and in the graphs",
        (_python("pytest", "tests/domain/workloads", "tests/simulation/test_random_placements.py"),),
    ),
    Promise(
        "Workloads on a real cluster, in both versions of graphs: scale, pause, resume, drain, undrain, rivals, kills",
        (_python("pytest", "tests/kubernetes/test_workloads.py", "tests/kubernetes/test_graph_owners.py"),),
    ),
    Promise(
        "The store is held to the same suite on SQLite and PostgreSQL",
        (_python("pytest", "tests/hub/store", "tests/hub/usecases"),),
    ),
    Promise(
        "What went wrong elsewhere has a test that names it, and taking out a fix makes its test fail",
        (_python("pytest", "tests/documented"), _python("tests.mutations")),
    ),
    Promise(
        "Eight drains at once take at most 0.35 of `kubectl drain` of the same nodes",
        (_python("bench", "drains"),),
    ),
    Promise(
        "A cordon is seen within a quarter of a second; a turn on 10,000 pods takes at most 50 ms in the mean",
        (_python("bench", "cordon"), _python("bench", "operator")),
    ),
    Promise(
        "The hub holds a million operations, a thousand waiters and a thousand idle operators, on both stores",
        (_python("bench", "hub"),),
    ),
)

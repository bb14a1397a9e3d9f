"""Workloads from the command line to the graphs of a real cluster, in each version that Dynamo serves them in."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hangar.domain.ids import ClusterName
from hangar.domain.workloads.placement import Bounds, Division, Policy, Site
from testbed import dynamo_crds, manifests
from testbed.bed import Bed
from testbed.dynamo_crds import Version
from testbed.dynamo_graphs import Graphs, Part
from testbed.dynamo_operator import DynamoOperator
from testbed.hub import HubRefusedError
from testbed.kube import until
from testbed.stack import CLUSTER, Stack
from testbed.webhook import CHANGES_OF_GRAPHS, Webhook, allow, deny
from tests.domain.workloads.oracle import best_way
from tests.kubernetes.told import OPERATOR, outcome

Document = dict[str, Any]

NODE = "serves"
GPUS = 32
AGGREGATED = {"Frontend": Part("frontend"), "decode": Part("worker", 1, gpus=1)}
DISAGGREGATED = {"Frontend": Part("frontend"), "prefill": Part("prefill", 1), "decode": Part("decode", 2)}
APPLIED = "wingsmith.dev/applied-rev"

CASES = 50
REPLICAS_MAX = 9


@dataclass(frozen=True)
class Served:
    """A bed with graphs of one version, their operator, a node, and the product."""

    bed: Bed
    stack: Stack
    graphs: Graphs

    def serve(self, name: str, parts: dict[str, Part], **given: Any) -> None:
        """Have a new graph served as a workload of its name."""
        self.graphs.create(name, parts)
        deployment = {"cluster": CLUSTER, "namespace": "default", "graph": name}
        document = {"name": name, "project": "chat", "deployments": [deployment], **given}

        def is_applied() -> bool:
            """The hub hears of a graph when the operator has seen it: only then does it know what a replica is."""
            done = self.stack.hgr("workload", "apply", "-f", "-", stdin=json.dumps(document))
            assert done.returncode == 0, done.stderr
            return self.stack.client.workload(name)["deployments"][0]["shape"] is not None

        until(f"{name} is applied", is_applied)

    def hgr(self, *words: str) -> str:
        """Run a command that must succeed; return what it prints."""
        done = self.stack.hgr(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def counts(self, name: str) -> dict[str, int]:
        """Return what a graph asks for of each component but the frontend."""
        graph = self.graphs.get(name)
        assert graph is not None
        parts = self.graphs.parts(graph)
        return {each: part["replicas"] for each, part in parts.items() if each != "Frontend"}

    def applied(self, name: str) -> int:
        """Return the revision that a graph carries."""
        graph = self.graphs.get(name)
        assert graph is not None
        return int(graph["metadata"].get("annotations", {}).get(APPLIED, "0"))

    def deployment(self, name: str) -> Document:
        """Return a workload's one deployment as users see it."""
        (found,) = self.stack.client.workload(name)["deployments"]
        return dict(found)


@pytest.fixture(scope="module", params=["v1beta1", "v1alpha1"])
def site(request: pytest.FixtureRequest, bed: Bed, operator_kubeconfig: Path) -> Iterator[Served]:
    version: Version = request.param
    dynamo_crds.install(bed.kube, version)
    bed.kube.create(manifests.node(NODE, gpus=GPUS))
    graphs = Graphs(bed.kube, version)
    with Stack(bed, operator_kubeconfig) as stack, DynamoOperator(bed.kube, version, observes_after_s=0.1):
        assert stack.hgr("project", "apply", "chat", "--no-quotas").returncode == 0
        yield Served(bed, stack, graphs)
        for graph in graphs.find():
            graphs.delete(graph["metadata"]["name"])
    bed.kube.delete("Node", NODE)
    dynamo_crds.remove(bed.kube)


def test_a_workload_goes_through_its_life_word_for_word(site: Served) -> None:
    name = "llama-3-8b"
    site.serve(name, AGGREGATED)
    site.hgr("workload", "scale", name, "--replicas", "1", "--wait")
    site.hgr("workload", "scale", name, "--replicas", "4", "--wait")
    assert site.counts(name) == {"decode": 4}
    assert name in site.hgr("deployment", "ls", "--workload", name)
    site.hgr("workload", "pause", name, "--reason", "nightly shutdown", "--wait")
    assert site.counts(name) == {"decode": 0}
    assert "state: paused" in site.hgr("workload", "get", name)
    site.hgr("workload", "resume", name, "--wait")
    assert site.counts(name) == {"decode": 4}

    drain = ("operation", "create", "workload.drain", name, "--cluster", CLUSTER, "--reason", "cluster decommission")
    refused = site.stack.hgr(*drain, "--wait")
    assert (refused.returncode, "is the only cluster that serves" in refused.stderr) == (2, True)
    assert site.counts(name) == {"decode": 4}
    site.hgr(*drain, "--allow-outage", "--wait")
    assert site.counts(name) == {"decode": 0}
    pods = site.bed.kube.find("Pod", selector=f"nvidia.com/dynamo-graph-deployment-name={name}")
    assert [pod for pod in pods if pod["metadata"]["labels"]["nvidia.com/dynamo-component"] == "decode"] == []
    assert site.deployment(name)["state"] == "drained"
    assert site.stack.client.workload(name)["replicas"] == 4
    site.hgr("operation", "create", "workload.undrain", name, "--cluster", CLUSTER, "--wait")
    assert site.counts(name) == {"decode": 4}


def test_what_a_webhook_refuses_a_few_times_is_written_once_it_lets_it_pass(site: Served) -> None:
    name = "policed"
    site.serve(name, AGGREGATED)
    refusals: list[Document] = []

    def refuse_thrice(request: Document) -> Document:
        if request["userInfo"]["username"] != OPERATOR or len(refusals) == 3:
            return allow(request)
        refusals.append(request)
        answer = deny("not before nine")(request)
        assert answer is not None
        return answer

    with Webhook(site.bed, "hours.policy.test", refuse_thrice, rule=CHANGES_OF_GRAPHS) as webhook:
        graph = site.graphs.get(name)
        assert graph is not None
        until("the webhook is asked", lambda: site.graphs.dry_run(graph) is None and bool(webhook.asked))
        site.hgr("workload", "scale", name, "--replicas", "3", "--wait")
    assert len(refusals) == 3
    assert site.counts(name) == {"decode": 3}


def test_what_never_gets_ready_fails_at_its_deadline_and_says_why(site: Served) -> None:
    name = "crowded"
    site.serve(name, AGGREGATED)
    words = ("--replicas", str(GPUS + 1), "--until", "ready", "--deadline", "4s", "--reason", "launch", "--wait")
    failed = site.stack.hgr("workload", "scale", name, *words, "-o", "json")
    assert failed.returncode == 11
    phase, code, message = outcome(json.loads(failed.stdout))
    assert (phase, code) == ("failed", "deadline_exceeded")
    assert "ready on 0 of 1 clusters; not ready in time: " in message
    assert f"of {GPUS + 1} replicas ready: pods_not_ready" in message
    assert site.counts(name) == {"decode": GPUS + 1}
    site.hgr("workload", "scale", name, "--replicas", "0", "--wait")


@pytest.mark.parametrize("victim", ["hub", "operator"])
def test_a_scale_goes_on_when_a_process_is_killed_in_the_middle_of_it(site: Served, victim: str) -> None:
    name = f"killed-{victim}"
    site.serve(name, DISAGGREGATED)
    process = getattr(site.stack, victim)
    operation = site.stack.client.submit("workload.scale", name, replicas=3, until="ready")
    process.kill()
    process.start()
    process.wait_ready()
    phase, code, message = outcome(site.stack.client.finish(operation))
    assert (phase, code) == ("succeeded", "applied")
    assert message.startswith("scaled to 3: 3 = 3, divided")
    until("it is written and ready", lambda: site.deployment(name)["ready"] == 3)
    assert site.counts(name) == {"prefill": 3, "decode": 6}


# --- by chance, against the oracle ------------------------------------------------------------------------------------

POLICIES = {
    "plain": Policy(),
    "doubled": Policy(Division.DUPLICATED),
    "bounded": Policy(default_bounds=Bounds(2, 6)),
}


def _body(policy: Policy) -> Document:
    bounds = policy.default_bounds
    return {"division": policy.division.value, "min": bounds.least, "max": bounds.most}


def test_what_is_set_in_quick_succession_is_what_the_oracle_says(site: Served) -> None:
    dice = Random(11)
    for name, policy in POLICIES.items():
        site.serve(name, DISAGGREGATED, replicas=2, policy=_body(policy))
    misfits = 0
    for _ in range(CASES):
        name, replicas = dice.choice(sorted(POLICIES)), dice.randint(0, REPLICAS_MAX)
        before = site.deployment(name)["desired"]
        best = best_way(POLICIES[name], replicas, [Site(ClusterName(CLUSTER), before)])
        if best is None:
            misfits += 1
            with pytest.raises(HubRefusedError):
                site.stack.client.set_replicas(name, replicas)
        else:
            site.stack.client.set_replicas(name, replicas)
        wanted = before if best is None else best[ClusterName(CLUSTER)]
        assert site.deployment(name)["desired"] == wanted
        until("it is written", _is_written(site, name, wanted))
        assert site.counts(name) == {"prefill": wanted, "decode": 2 * wanted}
    assert 0 < misfits < CASES // 2


def _is_written(site: Served, name: str, wanted: int) -> Callable[[], bool]:
    return lambda: site.deployment(name)["observed"] == wanted

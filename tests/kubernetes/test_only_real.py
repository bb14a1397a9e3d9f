"""What no simulation can show: access rules, webhooks, restarts, and the server's own record of what was sent."""

from pathlib import Path

from hangar.domain.decision import Accepted, Busy, Cordon, Denied, Evict, Uncordon, Withheld
from hangar.domain.snapshot import Pod, Snapshot
from hangar.operator.cluster.kubernetes.access import NEEDED, OPTIONAL
from hangar.operator.cluster.simulated.spec import BudgetSpec, WorkloadSpec
from testbed.access import user_with
from testbed.bed import Bed
from tests.contracts.cluster_stage import (
    MARK,
    a_deployment,
    a_node,
    a_template,
    gone,
    now_shown,
    pods_of,
    serving,
    take,
    until,
)
from tests.kubernetes.kubernetes_stage import KubernetesStage, play

ADMISSION = "admissionregistration.k8s.io/v1"


async def granted(stage: KubernetesStage) -> set[str]:
    return {name for name, is_granted in (await stage.cluster.grants()).items() if is_granted}


# --- what was sent ----------------------------------------------------------------------------------------------------


def test_seeing_sends_nothing_but_reads_and_never_out_of_a_cache(empty_bed: Bed) -> None:
    kubeconfig = user_with(empty_bed, "looker", (*NEEDED["drain"], *OPTIONAL))

    async def scene(stage: KubernetesStage) -> None:
        await stage.cluster.identity()
        await stage.cluster.grants()
        await a_node(stage)
        await stage.add_workload(a_deployment(replicas=1))
        await serving(stage, "web", 1)

    play(scene, empty_bed, kubeconfig)
    entries = empty_bed.audit.entries("looker")
    assert {entry.verb for entry in entries if entry.resource != "selfsubjectaccessreviews"} <= {"get", "list", "watch"}
    assert empty_bed.audit.writes("looker") == []
    starts = [entry for entry in entries if "sendInitialEvents=true" in entry.uri and entry.stage == "ResponseComplete"]
    assert len(starts) == 14
    assert not any("resourceVersion=0" in entry.uri for entry in entries)


def test_a_closed_gate_leaves_no_trace_and_an_eviction_exactly_one(empty_bed: Bed) -> None:
    kubeconfig = user_with(empty_bed, "gatekeeper", NEEDED["drain"])
    evicted: list[Pod] = []

    async def scene(stage: KubernetesStage) -> None:
        node = await a_node(stage)
        await stage.add_workload(a_deployment(replicas=1))
        (pod,) = await serving(stage, "web", 1)
        for step in (Cordon(node.name, node.uid, MARK), Evict(pod.ref)):
            assert await stage.cluster.perform(step, lambda: "cancelled") == Withheld("cancelled")
            # Open when it is first asked, closed once the request holds its connection.
            answers = iter((None, "cancelled just now"))
            answer = await stage.cluster.perform(step, lambda answers=answers: next(answers))  # type: ignore[misc]
            assert answer == Withheld("cancelled just now")
        assert empty_bed.audit.writes("gatekeeper") == []
        assert await take(stage, Evict(pod.ref)) == Accepted()
        evicted.append(pod)
        await gone(stage, pod)

    play(scene, empty_bed, kubeconfig)
    (entry,) = empty_bed.audit.writes("gatekeeper")
    assert (entry.resource, entry.name, entry.uid) == ("pods/eviction", evicted[0].ref.name, evicted[0].ref.uid)
    assert entry.is_accepted


# --- access -----------------------------------------------------------------------------------------------------------


def test_without_the_right_to_evict_a_drain_is_not_granted_and_an_eviction_denied(empty_bed: Bed) -> None:
    """C92: what Kubernetes does not grant is known before anybody asks."""
    kubeconfig = user_with(empty_bed, "cordoner", (each for each in NEEDED["drain"] if not each.subresource))

    async def scene(stage: KubernetesStage) -> None:
        assert await granted(stage) == {"cordon"}
        node = await a_node(stage)
        await stage.add_bare_pod("bare", "n1", a_template(labels={"app": "bare"}))
        (pod,) = await serving(stage, "bare", 1)
        answer = await take(stage, Evict(pod.ref))
        assert isinstance(answer, Denied)
        assert 'User "cordoner" cannot create resource "pods/eviction"' in answer.message
        assert await take(stage, Cordon(node.name, node.uid, MARK)) == Accepted()
        assert await take(stage, Uncordon(node.name, node.uid)) == Accepted()

    play(scene, empty_bed, kubeconfig)


def test_without_the_right_to_patch_nodes_nothing_is_granted_and_a_cordon_denied(empty_bed: Bed) -> None:
    kubeconfig = user_with(empty_bed, "reader", (each for each in NEEDED["drain"] if each.verb in ("list", "watch")))

    async def scene(stage: KubernetesStage) -> None:
        assert await granted(stage) == set()
        node = await a_node(stage)
        answer = await take(stage, Cordon(node.name, node.uid, MARK))
        assert isinstance(answer, Denied)
        assert 'User "reader" cannot patch resource "nodes"' in answer.message

    play(scene, empty_bed, kubeconfig)


def test_kinds_that_may_not_be_read_are_named_and_hold_up_nothing(empty_bed: Bed) -> None:
    kubeconfig = user_with(empty_bed, "half-blind", (each for each in NEEDED["drain"] if each.resource != "jobs"))

    async def scene(stage: KubernetesStage) -> None:
        await stage.add_workload(a_deployment(replicas=1))
        await until(stage, "the rest is read", lambda snapshot: len(pods_of(snapshot, "web")) == 1)
        (why,) = now_shown(stage).unreadable
        assert why.startswith('jobs: 403: jobs.batch is forbidden: User "half-blind" cannot')

    play(scene, empty_bed, kubeconfig)


def test_a_service_accounts_token_is_as_good_as_a_certificate(empty_bed: Bed) -> None:
    kube = empty_bed.kube
    if kube.get("ServiceAccount", "operator") is None:
        metadata = {"name": "operator", "namespace": "default"}
        kube.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = kube.call("POST", "/api/v1/namespaces/default/serviceaccounts/operator/token", request)
    kubeconfig = empty_bed.kubeconfig_with_token("service-account", token["status"]["token"])

    async def scene(stage: KubernetesStage) -> None:
        assert await granted(stage) == set()
        snapshot = await until(stage, "all was refused", lambda snapshot: snapshot if snapshot.unreadable else None)
        assert len(snapshot.unreadable) == 8

    play(scene, empty_bed, kubeconfig)


# --- what controllers say ---------------------------------------------------------------------------------------------


def test_a_budget_that_its_controller_cannot_compute_is_shown_with_the_reason(
    empty_bed: Bed, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        await stage.add_workload(WorkloadSpec("DaemonSet", "agent", 1, a_template(labels={"app": "agent"})))
        await stage.add_budget(BudgetSpec("guard", {"app": "agent"}, max_unavailable=1))
        why = await until(stage, "a failure to sync", _sync_failure)
        assert why == "daemonsets.apps does not implement the scale subresource"

    play(scene, empty_bed, operator_kubeconfig)


def _sync_failure(snapshot: Snapshot) -> str | None:
    return next((each.sync_failure for each in snapshot.budgets.values() if each.sync_failure), None)


# --- restarts ---------------------------------------------------------------------------------------------------------


def test_what_happened_while_nobody_watched_is_seen_after_a_restart_of_the_api_server(
    empty_bed: Bed, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        await stage.add_bare_pod("old", "n1", a_template(labels={"app": "old"}))
        await stage.add_bare_pod("stays", "n1", a_template(labels={"app": "stays"}))
        (old,) = await serving(stage, "old", 1)
        (stays,) = await serving(stage, "stays", 1)
        await stage.stop_reading()
        await stage.remove_pod(old.ref)
        await stage.add_bare_pod("new", "n1", a_template(labels={"app": "new"}))
        stage.bed.kube.wait_ready("new", 1)
        stage.bed.restart_apiserver()  # its cache begins anew: our versions are too old for it
        assert set(now_shown(stage).pods) == {old.ref.uid, stays.ref.uid}
        stage.read()
        await gone(stage, old)
        await serving(stage, "new", 1)
        assert stays.ref.uid in now_shown(stage).pods
        assert now_shown(stage).unreadable == ()

    play(scene, empty_bed, operator_kubeconfig)


def test_an_api_server_that_is_away_is_told_and_comes_back(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    async def scene(stage: KubernetesStage) -> None:
        node = await a_node(stage)
        stage.bed.apiserver.kill()
        assert await take(stage, Uncordon(node.name, node.uid)) == Busy(
            "not sent: ConnectError: All connection attempts failed"
        )
        snapshot = await until(stage, "it is told", lambda snapshot: snapshot if snapshot.unreadable else None)
        assert node.name in snapshot.nodes  # unknown is not gone
        stage.bed.restart_apiserver()
        await until(stage, "all is readable again", lambda snapshot: not snapshot.unreadable)
        assert await take(stage, Cordon(node.name, node.uid, MARK)) == Accepted()

    play(scene, empty_bed, operator_kubeconfig)

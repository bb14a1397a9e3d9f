"""What only a real API server makes of objects, read back; and what the operator does without where it may not read."""

from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from hangar.domain.placing import NO_DEMANDS, HostPort, Requirement, SelectorOp, Volume, VolumeClaim
from hangar.domain.snapshot import Pod, Snapshot
from hangar.operator.cluster.kubernetes.access import NEEDED
from hangar.operator.cluster.simulated.spec import ClaimSpec, VolumeSpec
from testbed import manifests
from testbed.access import user_with
from testbed.bed import Bed
from tests.contracts.cluster_stage import a_deployment, a_node, now_shown, pods_of, serving, until
from tests.kubernetes.kubernetes_stage import KubernetesStage, play

HASH = "pod-template-hash"


async def created(stage: KubernetesStage, name: str, **spec: Any) -> Pod:
    """Create a pod and return it as it is shown; it need not find a node."""
    await stage.create(manifests.pod(name, manifests.Template(spec=spec)))

    def look(snapshot: Snapshot) -> Pod | None:
        return next((pod for pod in pods_of(snapshot, name)), None)

    return await until(stage, f"pod {name} is shown", look)


def test_demands_that_the_server_fills_in_are_read_whole(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "gpu"}, "handler": "gpu"}
    container = {"name": "main", "image": "x.invalid/x"}

    async def scene(stage: KubernetesStage) -> None:
        kube = stage.bed.kube
        kube.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", runtime)
        try:
            assert (await created(stage, "plain", runtimeClassName="gpu")).runtime_class == "gpu"
        finally:
            kube.call("DELETE", "/apis/node.k8s.io/v1/runtimeclasses/gpu")
        on_host = await created(
            stage, "host", hostNetwork=True, containers=[container | {"ports": [{"containerPort": 9100}]}]
        )
        assert on_host.demands.host_ports == (HostPort(9100),)
        scratch = {"volumeClaimTemplate": {"spec": manifests.claim("x", "")["spec"]}}
        volumes = [{"name": "scratch", "ephemeral": scratch}]
        # Not left to Kubernetes' own controller, whose watches may take a minute to come back after an outage.
        await stage.create(manifests.claim("owner-scratch", ""))
        assert (await created(stage, "owner", volumes=volumes)).demands.claims == {"owner-scratch"}
        await until(
            stage,
            "its claim is shown",
            lambda snapshot: (
                snapshot.claims.get(("default", "owner-scratch"))
                == VolumeClaim("default", "owner-scratch", None, once=True)
            ),
        )
        claims = [{"name": "gpu", "resourceClaimName": "nobody"}]
        assert (await created(stage, "devices", resourceClaims=claims)).demands.has_device_claims
        assert (await created(stage, "nothing")).demands is NO_DEMANDS

    play(scene, empty_bed, operator_kubeconfig)


def test_pods_of_one_revision_are_spread_among_themselves(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    """The server adds the label to the selector, or leaves that to us, by its version."""
    spread = {
        "topologyKey": "kubernetes.io/hostname",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": [HASH],
    }

    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        template = manifests.Template(spec={"topologySpreadConstraints": [spread]})
        await stage.create(manifests.deployment("web", 1, template))
        (pod,) = await serving(stage, "web", 1)
        (seen,) = pod.demands.spread
        assert set(seen.selector) == {
            Requirement("app", SelectorOp.IN, frozenset({"web"})),
            Requirement(HASH, SelectorOp.IN, frozenset({pod.labels[HASH]})),
        }

    play(scene, empty_bed, operator_kubeconfig)


def test_a_quota_for_some_pods_only_is_not_taken_for_one_for_all(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    async def scene(stage: KubernetesStage) -> None:
        for name, parts in (("some", {"scopes": ["Terminating"]}), ("all", {})):
            quota = manifests.quota(name, {"pods": "5"})
            quota["spec"] |= parts
            await stage.create(quota)
        await until(stage, "the one is shown", lambda snapshot: ("default", "all") in snapshot.quotas)
        await until(stage, "it is counted", lambda snapshot: snapshot.quotas["default", "all"].used == {"pods": 0})
        assert set(now_shown(stage).quotas) == {("default", "all")}

    play(scene, empty_bed, operator_kubeconfig)


def test_what_is_optional_is_done_without_where_it_may_not_be_read(empty_bed: Bed) -> None:
    kubeconfig = user_with(empty_bed, "plain-drainer", NEEDED["drain"])

    async def scene(stage: KubernetesStage) -> None:
        assert (await stage.cluster.grants())["drain"]
        await a_node(stage)
        await stage.add_volume(VolumeSpec("models"))
        await stage.add_claim(ClaimSpec("models", "models"))
        await stage.add_workload(a_deployment(replicas=1))
        await serving(stage, "web", 1)
        snapshot = now_shown(stage)
        assert (snapshot.claims, snapshot.volumes, snapshot.quotas, snapshot.unreadable) == ({}, {}, {}, ())

    with capture_logs() as logs:
        play(scene, empty_bed, kubeconfig)
    assert sorted(each["kind"] for each in logs if each["event"] == "cannot read") == [
        "horizontalpodautoscalers",
        "persistentvolumeclaims",
        "persistentvolumes",
        "resourceclaims",
        "resourcequotas",
        "resourceslices",
    ]


def test_what_was_granted_meanwhile_is_read_without_a_restart(empty_bed: Bed) -> None:
    rights = [each for each in NEEDED["drain"] if each.resource != "jobs"]
    kubeconfig = user_with(empty_bed, "late-reader", rights)

    async def scene(stage: KubernetesStage) -> None:
        await stage.add_volume(VolumeSpec("models"))
        await until(stage, "the rest is read", lambda snapshot: bool(snapshot.unreadable))
        rule = {"apiGroups": ["", "batch"], "resources": ["persistentvolumes", "jobs"], "verbs": ["list", "watch"]}
        role = stage.bed.kube.get("ClusterRole", "late-reader")
        assert role is not None
        stage.bed.kube.patch("ClusterRole", "late-reader", {"rules": [*role["rules"], rule]})
        await until(stage, "all is read", lambda snapshot: not snapshot.unreadable)
        await until(stage, "the volume is shown", lambda snapshot: snapshot.volumes == {"models": Volume("models")})

    play(scene, empty_bed, kubeconfig)

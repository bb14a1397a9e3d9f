"""Published devices on a real API server: complete pools alone count, and claims take what they were given."""

from pathlib import Path
from typing import Any

from hangar.domain.devices import DeviceCount, devices_by_node
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Snapshot
from testbed import manifests
from testbed.bed import Bed
from tests.contracts.cluster_stage import until
from tests.kubernetes.kubernetes_stage import KubernetesStage, play

API_VERSION = "resource.k8s.io/v1"
DRIVER = "gpu.nvidia.com"


def a_slice(name: str, *gpus: str, parts: int = 1) -> dict[str, Any]:
    devices = [{"name": each, "attributes": {"type": {"string": "gpu"}}} for each in gpus]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": parts}
    spec = {"driver": DRIVER, "nodeName": "n1", "pool": pool, "devices": devices}
    return {"apiVersion": API_VERSION, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def a_claim(*gpus: str) -> dict[str, Any]:
    requests = [{"name": each, "exactly": {"deviceClassName": DRIVER}} for each in gpus]
    metadata = {"name": "c", "namespace": "default"}
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": requests}},
    }


def given(*gpus: str) -> dict[str, Any]:
    """Return what the scheduler adds to a claim: the devices that it has now."""
    results = [{"request": each, "driver": DRIVER, "pool": "n1", "device": each} for each in gpus]
    return {"status": {"allocation": {"devices": {"results": results}}}}


def counted(snapshot: Snapshot) -> tuple[DeviceCount, ...]:
    claims = snapshot.device_claims
    found = devices_by_node(snapshot.device_slices.values(), None if claims is None else claims.values())
    return found.get(NodeName("n1"), ())


def test_devices_of_a_complete_pool_are_counted_and_those_that_a_claim_has_are_taken(
    empty_bed: Bed, operator_kubeconfig: Path
) -> None:
    kube = empty_bed.kube

    async def scene(stage: KubernetesStage) -> None:
        async def seen(*counts: int | None) -> None:
            await until(stage, f"devices {counts}", lambda it: counted(it) == (DeviceCount(DRIVER, *counts),))

        await stage.create(manifests.node("n1"))
        await stage.create(a_slice("s1", "gpu-0", "gpu-1", parts=2))
        await seen(None, None, None, None)
        await stage.create(a_slice("s2", "gpu-2", parts=2))
        await seen(3, 3, 0, 3)
        await stage.create(a_claim("gpu-0"))
        kube.patch("ResourceClaim", "c", given("gpu-0"), subresource="status")
        await seen(3, 3, 1, 2)

    try:
        play(scene, empty_bed, operator_kubeconfig)
    finally:
        kube.delete("ResourceClaim", "c")
        for name in ("s1", "s2"):
            kube.delete("ResourceSlice", name)

"""Published devices, and claims on them, as the values that are counted."""

import json
from typing import Any

from hangar.domain.devices import Device, DeviceClaim, DeviceId, DeviceSlice
from hangar.domain.ids import NodeName
from hangar.operator.cluster.kubernetes.watched import DEVICE_CLAIMS, DEVICE_SLICES


def document(**parts: Any) -> bytes:
    metadata = {"namespace": "serving", "name": "x", "uid": "u", "resourceVersion": "1"}
    return json.dumps({"metadata": metadata, **parts}).encode()


def test_a_slice_is_read_with_its_pool_and_what_its_devices_are_cut_from() -> None:
    pool = {"name": "n1", "generation": 3, "resourceSliceCount": 2}
    gpu = {
        "name": "gpu-0",
        "attributes": {"type": {"string": "gpu"}, "cudaComputeCapability": {"version": "9.0.0"}, "minor": {"int": 0}},
        "capacity": {"memory": {"value": "80Gi"}},
        "consumesCounters": [{"counterSet": "gpu-0-counters", "counters": {"memory": {"value": "80Gi"}}}],
        "taints": [{"key": "gpu.nvidia.com/xid", "effect": "NoExecute"}],
    }
    other = {"name": "nic", "attributes": {"gpu.nvidia.com/type": {"string": "mig"}}, "nodeName": "n2"}
    warned = {"name": "gpu-1", "taints": [{"key": "gpu.nvidia.com/unmonitored", "effect": "None"}]}
    spec = {"driver": "gpu.nvidia.com", "pool": pool, "nodeName": "n1", "devices": [gpu, other, warned]}
    assert DEVICE_SLICES.read(document(spec=spec)).value == DeviceSlice(
        "x",
        "gpu.nvidia.com",
        "n1",
        3,
        2,
        NodeName("n1"),
        (
            Device("gpu-0", "gpu", frozenset({"gpu-0-counters"}), is_tainted=True),
            Device("nic", "mig", node=NodeName("n2")),
            Device("gpu-1"),
        ),
    )


def test_a_slice_for_no_single_node_is_read_without_one() -> None:
    pool = {"name": "fabric", "generation": 1, "resourceSliceCount": 1}
    seen = DEVICE_SLICES.read(document(spec={"driver": "nic.example", "pool": pool, "allNodes": True}))
    assert seen.value == DeviceSlice("x", "nic.example", "fabric", 1, 1, None)


def test_a_claim_has_what_it_was_given_and_what_it_administers_is_others() -> None:
    results = [
        {"request": "gpu", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-0"},
        {"request": "all", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-1", "adminAccess": True},
    ]
    given = document(spec={"devices": {}}, status={"allocation": {"devices": {"results": results}}})
    taken = frozenset({DeviceId("gpu.nvidia.com", "n1", "gpu-0")})
    assert DEVICE_CLAIMS.read(given).value == DeviceClaim("serving", "x", taken)
    assert DEVICE_CLAIMS.read(document()).value == DeviceClaim("serving", "x")
    assert DEVICE_CLAIMS.read(document(status={"allocation": {}})).value == DeviceClaim("serving", "x")

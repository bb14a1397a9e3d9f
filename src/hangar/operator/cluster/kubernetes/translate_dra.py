"""Published devices, and claims on them, as the values that are counted."""

from hangar.domain.devices import Device, DeviceClaim, DeviceId, DeviceSlice
from hangar.domain.ids import NodeName
from hangar.operator.cluster.kubernetes.resources_dra import DeviceItem, ResourceClaim, ResourceSlice

TYPE = "type"
"""The attribute by which NVIDIA's driver tells GPUs from what they can be cut into; it may be qualified by a domain."""

UNAVAILABLE = frozenset({"NoSchedule", "NoExecute"})


def device_slice(seen: ResourceSlice) -> DeviceSlice:
    """Translate a part of a pool."""
    spec = seen.spec
    return DeviceSlice(
        name=seen.metadata.name,
        driver=spec.driver,
        pool=spec.pool.name,
        generation=spec.pool.generation,
        parts=spec.pool.resource_slice_count,
        node=_node(spec.node_name),
        devices=tuple(_device(each) for each in spec.devices),
    )


def device_claim(seen: ResourceClaim) -> DeviceClaim:
    """Translate a claim; what it only administers takes nothing."""
    allocation = seen.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    devices = frozenset(DeviceId(each.driver, each.pool, each.device) for each in results if not each.admin_access)
    return DeviceClaim(seen.metadata.namespace, seen.metadata.name, devices)


def _device(seen: DeviceItem) -> Device:
    type_ = next((each.string for name, each in seen.attributes.items() if name.rpartition("/")[2] == TYPE), None)
    return Device(
        name=seen.name,
        type=type_,
        counters=frozenset(each.counter_set for each in seen.consumes_counters),
        is_tainted=any(each.effect in UNAVAILABLE for each in seen.taints),
        node=_node(seen.node_name),
    )


def _node(name: str | None) -> NodeName | None:
    return NodeName(name) if name else None

"""The few fields of published devices, and of claims on them, that we read (`resource.k8s.io/v1`)."""

import msgspec

from hangar.operator.cluster.kubernetes.resources import ObjectMeta


class ResourcePool(msgspec.Struct, frozen=True, rename="camel"):
    """Which pool a slice is a part of."""

    name: str
    generation: int
    resource_slice_count: int


class Attribute(msgspec.Struct, frozen=True):
    """An attribute's value, where it is a text."""

    string: str | None = None


class DeviceTaint(msgspec.Struct, frozen=True):
    """What keeps claims away from a device, or takes it from those that have it."""

    effect: str = ""


class CounterConsumption(msgspec.Struct, frozen=True, rename="camel"):
    """What a device is cut from."""

    counter_set: str


class DeviceItem(msgspec.Struct, frozen=True, rename="camel"):
    """One device; `node_name` is set where those of its slice are on several nodes."""

    name: str
    attributes: dict[str, Attribute] = {}
    taints: tuple[DeviceTaint, ...] = ()
    consumes_counters: tuple[CounterConsumption, ...] = ()
    node_name: str | None = None


class ResourceSliceSpec(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a driver's pool."""

    driver: str
    pool: ResourcePool
    node_name: str | None = None
    devices: tuple[DeviceItem, ...] = ()


class ResourceSlice(msgspec.Struct, frozen=True, rename="camel"):
    """A part of a driver's pool, as an object."""

    metadata: ObjectMeta
    spec: ResourceSliceSpec


class AllocationResult(msgspec.Struct, frozen=True, rename="camel"):
    """One device that a claim was given; `admin_access` takes nothing from others."""

    driver: str
    pool: str
    device: str
    admin_access: bool | None = None


class AllocatedDevices(msgspec.Struct, frozen=True):
    """The devices that a claim was given."""

    results: tuple[AllocationResult, ...] = ()


class Allocation(msgspec.Struct, frozen=True):
    """What a claim was given."""

    devices: AllocatedDevices = AllocatedDevices()


class ResourceClaimStatus(msgspec.Struct, frozen=True):
    """How far a claim is; without an allocation it has nothing yet."""

    allocation: Allocation | None = None


class ResourceClaim(msgspec.Struct, frozen=True):
    """A claim of devices."""

    metadata: ObjectMeta
    status: ResourceClaimStatus = ResourceClaimStatus()

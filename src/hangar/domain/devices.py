"""Devices that drivers publish themselves (dynamic resource allocation): how many a node has, how many are free."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hangar.domain.ids import NodeName

GPU = "nvidia.com/gpu"
"""What a device plugin calls whole GPUs, and pods ask for."""

PARTS_OF_GPUS = ("nvidia.com/mig-", "nvidia.com/gpu.")
"""How resources begin that are slices or shares of GPUs: no number of them is one of GPUs."""

GPU_DRIVER = "gpu.nvidia.com"
GPU_TYPE = "gpu"
"""The type of a whole GPU; its driver publishes each slice that it could be cut into beside it."""

SLICES = "mig.nvidia.com"
"""What slices of GPUs are called where the GPUs are not published themselves: by the class that they are asked for."""

GPU_RESOURCES = (GPU_DRIVER, SLICES)
"""What both are called; a node has its GPUs by these names or by those of a device plugin."""

PLUGIN_GPUS = (GPU, *PARTS_OF_GPUS)
"""How the extended resources begin that a device plugin makes of GPUs, of shares of them, and of their slices."""


class DeviceId(NamedTuple):
    """What names one device in a cluster."""

    driver: str
    pool: str
    name: str


@dataclass(frozen=True, slots=True)
class Device:
    """One device. `counters` are what it shares with others that are cut from the same; taints keep claims away.

    `node` is set where the devices of one slice are on several nodes.
    """

    name: str
    type: str | None = None
    counters: frozenset[str] = frozenset()
    is_tainted: bool = False
    node: NodeName | None = None


@dataclass(frozen=True, slots=True)
class DeviceSlice:
    """A part of a driver's pool: all `parts` of its newest generation make the pool. `name` is the object's."""

    name: str
    driver: str
    pool: str
    generation: int
    parts: int
    node: NodeName | None
    devices: tuple[Device, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceClaim:
    """The devices that a claim was given, those that it only administers apart."""

    namespace: str
    name: str
    devices: frozenset[DeviceId] = frozenset()


@dataclass(frozen=True, slots=True)
class DeviceCount:
    """How many devices of a kind a node has; None where that cannot be told: not all of the pool has been published.

    `allocatable` are those that claims may get, `free` those of them that none has.
    """

    resource: str
    capacity: int | None
    allocatable: int | None
    allocated: int | None
    free: int | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """A device of a node, with its name in the cluster."""

    id: DeviceId
    device: Device


def devices_by_node(
    slices: Iterable[DeviceSlice], claims: Iterable[DeviceClaim] | None
) -> Mapping[NodeName, tuple[DeviceCount, ...]]:
    """Return the devices of each node by resource, in the order of their names; `claims` None: they cannot be read.

    Of each pool only the newest generation counts, and only when all of it is there. GPUs are counted by their type,
    never by the length of the list: each slice that a GPU could be cut into is in it too. A GPU is taken as soon as one
    of its slices is.
    """
    taken = None if claims is None else frozenset(each for claim in claims for each in claim.devices)
    found: dict[NodeName, dict[str, list[_Seen] | None]] = defaultdict(dict)
    pools: dict[tuple[str, str], list[DeviceSlice]] = defaultdict(list)
    for each in slices:
        pools[each.driver, each.pool].append(each)
    for pool in pools.values():
        newest = max(each.generation for each in pool)
        parts = [each for each in pool if each.generation == newest]
        if len(parts) < parts[0].parts:
            for node, resource in _places(pool):
                found[node][resource] = None
            continue
        for node, seen in _on_nodes(parts).items():
            for resource, devices in _counted(seen).items():
                known = found[node].setdefault(resource, [])
                if known is not None:
                    known += devices
    used = None if taken is None else _used(pools.values(), taken)
    return {
        node: tuple(_count(resource, devices, used) for resource, devices in sorted(by_resource.items()))
        for node, by_resource in found.items()
    }


def speaks_for_gpus(counts: Iterable[DeviceCount], plugin: Mapping[str, int]) -> bool:
    """Tell whether a node's GPUs are to be read from what its driver publishes, and not from its device plugin.

    A node may show both for a while: the plugin is right until claims are given GPUs there.
    """
    gpus = [each for each in counts if each.resource in GPU_RESOURCES]
    if not gpus:
        return False
    return any(each.allocated for each in gpus) or not any(name.startswith(PLUGIN_GPUS) for name in plugin)


def _places(pool: Iterable[DeviceSlice]) -> Iterable[tuple[NodeName, str]]:
    """Yield where a pool that is not complete has devices, and of which resource."""
    for part in pool:
        nodes = {node for node in (part.node, *(each.node for each in part.devices)) if node is not None}
        for node in nodes:
            yield node, part.driver


def _on_nodes(parts: Iterable[DeviceSlice]) -> Mapping[NodeName, list[_Seen]]:
    """Return the devices of a pool that are on one node each; others are reached over a network, and are no node's."""
    seen: dict[NodeName, list[_Seen]] = defaultdict(list)
    for part in parts:
        for each in part.devices:
            node = each.node or part.node
            if node is not None:
                seen[node].append(_Seen(DeviceId(part.driver, part.pool, each.name), each))
    return seen


def _counted(seen: Iterable[_Seen]) -> Mapping[str, list[_Seen]]:
    """Return the devices to count, by resource: whole GPUs, or their slices where the GPUs are not published."""
    counted: dict[str, list[_Seen]] = defaultdict(list)
    for each in seen:
        counted[each.id.driver].append(each)
    if GPU_DRIVER in counted:
        ours = counted.pop(GPU_DRIVER)
        gpus = [each for each in ours if each.device.type == GPU_TYPE]
        shared = frozenset(counter for each in gpus for counter in each.device.counters)
        slices = [each for each in ours if each.device.type != GPU_TYPE and not each.device.counters & shared]
        counted |= {name: part for name, part in ((GPU_DRIVER, gpus), (SLICES, slices)) if part}
    return counted


def _used(pools: Iterable[Iterable[DeviceSlice]], taken: frozenset[DeviceId]) -> frozenset[DeviceId]:
    """Return the devices that are taken, and the GPUs of which a slice is."""
    used = set(taken)
    for pool in pools:
        seen = [_Seen(DeviceId(part.driver, part.pool, each.name), each) for part in pool for each in part.devices]
        spent = frozenset(counter for each in seen if each.id in taken for counter in each.device.counters)
        used |= {each.id for each in seen if each.device.type == GPU_TYPE and each.device.counters & spent}
    return frozenset(used)


def _count(resource: str, devices: list[_Seen] | None, used: frozenset[DeviceId] | None) -> DeviceCount:
    if devices is None:
        return DeviceCount(resource, None, None, None, None)
    allocatable = [each for each in devices if not each.device.is_tainted]
    if used is None:
        return DeviceCount(resource, len(devices), len(allocatable), None, None)
    return DeviceCount(
        resource,
        len(devices),
        len(allocatable),
        sum(each.id in used for each in devices),
        sum(each.id not in used for each in allocatable),
    )

"""Published devices: which count, which are taken, and what cannot be told."""

import pytest

from hangar.domain.devices import (
    GPU_DRIVER,
    GPU_TYPE,
    SLICES,
    Device,
    DeviceClaim,
    DeviceCount,
    DeviceId,
    DeviceSlice,
    devices_by_node,
    speaks_for_gpus,
)
from hangar.domain.ids import NodeName

N1 = NodeName("n1")
N2 = NodeName("n2")


def a_gpu(number: int, **parts: object) -> Device:
    return Device(f"gpu-{number}", GPU_TYPE, frozenset({f"counters-{number}"}), **parts)  # type: ignore[arg-type]


def a_cut(number: int, part: int, **parts: object) -> Device:
    return Device(f"gpu-{number}-mig-{part}", "mig", frozenset({f"counters-{number}"}), **parts)  # type: ignore[arg-type]


def a_slice(
    *devices: Device,
    name: str = "s1",
    pool: str = "n1",
    driver: str = GPU_DRIVER,
    generation: int = 1,
    parts: int = 1,
    node: NodeName | None = N1,
) -> DeviceSlice:
    return DeviceSlice(name, driver, pool, generation, parts, node, devices)


def a_claim(*devices: str, driver: str = GPU_DRIVER, pool: str = "n1") -> DeviceClaim:
    return DeviceClaim("serving", "c", frozenset(DeviceId(driver, pool, each) for each in devices))


def counted(*slices: DeviceSlice, claims: tuple[DeviceClaim, ...] | None = ()) -> dict[str, tuple[DeviceCount, ...]]:
    return {str(node): counts for node, counts in devices_by_node(slices, claims).items()}


def test_a_device_is_free_that_no_claim_has_and_no_taint_keeps_claims_from() -> None:
    pool = a_slice(a_gpu(0), a_gpu(1), a_gpu(2, is_tainted=True), a_gpu(3, is_tainted=True))
    assert counted(pool, claims=(a_claim("gpu-0", "gpu-3"), a_claim("gpu-0"))) == {
        "n1": (DeviceCount(GPU_DRIVER, capacity=4, allocatable=2, allocated=2, free=1),)
    }


def test_a_claim_on_another_pool_or_of_another_driver_takes_nothing() -> None:
    claims = (a_claim("gpu-0", pool="n2"), a_claim("gpu-0", driver="other.example"))
    assert counted(a_slice(a_gpu(0)), claims=claims)["n1"][0].free == 1


def test_gpus_are_counted_and_not_all_that_they_could_be_cut_into() -> None:
    pool = a_slice(a_gpu(0), a_cut(0, 1), a_cut(0, 2), a_gpu(1), a_cut(1, 1))
    assert counted(pool) == {"n1": (DeviceCount(GPU_DRIVER, 2, 2, 0, 2),)}
    assert counted(pool, claims=(a_claim("gpu-0-mig-1"),)) == {"n1": (DeviceCount(GPU_DRIVER, 2, 2, 1, 1),)}


def test_slices_of_gpus_that_are_not_published_are_counted_for_themselves() -> None:
    pool = a_slice(a_cut(0, 1), a_cut(0, 2), a_gpu(1))
    assert counted(pool, claims=(a_claim("gpu-0-mig-1"),)) == {
        "n1": (DeviceCount(GPU_DRIVER, 1, 1, 0, 1), DeviceCount(SLICES, 2, 2, 1, 1))
    }


def test_a_pool_of_which_a_part_is_missing_is_unknown_and_not_empty() -> None:
    part = a_slice(a_gpu(0), parts=2)
    assert counted(part) == {"n1": (DeviceCount(GPU_DRIVER, None, None, None, None),)}
    whole = a_slice(a_gpu(1), name="s2", parts=2)
    assert counted(part, whole) == {"n1": (DeviceCount(GPU_DRIVER, 2, 2, 0, 2),)}


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    old = a_slice(a_gpu(0), a_gpu(1))
    new = a_slice(a_gpu(0), name="s2", generation=2)
    assert counted(old, new) == {"n1": (DeviceCount(GPU_DRIVER, 1, 1, 0, 1),)}
    begun = a_slice(a_gpu(0), name="s2", generation=2, parts=2)
    assert counted(old, begun)["n1"][0].capacity is None


@pytest.mark.parametrize("is_first", [True, False])
def test_a_node_with_one_pool_that_is_whole_and_one_that_is_not_is_unknown(is_first: bool) -> None:
    whole, part = a_slice(a_gpu(0)), a_slice(a_gpu(1), name="s2", pool="more", parts=2)
    slices = (part, whole) if is_first else (whole, part)
    assert counted(*slices)["n1"] == (DeviceCount(GPU_DRIVER, None, None, None, None),)


def test_devices_are_where_they_are_published_for_and_those_on_a_network_are_no_nodes() -> None:
    each_on_its_own = a_slice(a_gpu(0, node=N1), a_gpu(1, node=N2), name="s1", pool="rack", node=None)
    shared = a_slice(Device("nic"), name="s2", pool="fabric", driver="nic.example", node=None)
    own = a_slice(Device("nic"), name="s3", pool="n2", driver="nic.example", node=N2)
    assert counted(each_on_its_own, shared, own) == {
        "n1": (DeviceCount(GPU_DRIVER, 1, 1, 0, 1),),
        "n2": (DeviceCount(GPU_DRIVER, 1, 1, 0, 1), DeviceCount("nic.example", 1, 1, 0, 1)),
    }


def test_it_is_unknown_what_is_free_while_claims_cannot_be_read() -> None:
    assert counted(a_slice(a_gpu(0)), claims=None) == {"n1": (DeviceCount(GPU_DRIVER, 1, 1, None, None),)}


@pytest.mark.parametrize(
    ("allocated", "plugin", "is_theirs"),
    [
        (0, {"nvidia.com/gpu": 8}, False),
        (None, {"nvidia.com/mig-1g.10gb": 8}, False),
        (1, {"nvidia.com/gpu": 8}, True),
        (0, {"nvidia.com/rdma": 1, "cpu": 8}, True),
        (None, {}, True),
    ],
)
def test_a_driver_speaks_for_gpus_once_claims_have_some_or_nobody_else_does(
    allocated: int | None, plugin: dict[str, int], is_theirs: bool
) -> None:
    assert speaks_for_gpus((DeviceCount(GPU_DRIVER, 8, 8, allocated, 0),), plugin) is is_theirs


def test_other_drivers_never_speak_for_gpus() -> None:
    assert not speaks_for_gpus((DeviceCount("nic.example", 1, 1, 1, 0),), {})

"""Records as users see them."""

from dataclasses import replace
from typing import Any

import pytest

from hangar.domain.operation import Phase
from hangar.hub import present
from hangar.hub.store.records import OperationRecord
from hangar.wire.operator import DeviceDoc, NodeDoc
from tests.hub.world import NOON_US, a_node

RECORD = OperationRecord(
    id="op_1",
    type="node.drain",
    kind_version=1,
    phase=Phase.PENDING,
    cluster="iad-1",
    target="n01",
    target_uid="uid",
    hold="node:iad-1:uid",
    params={"deadline_s": 60},
    reason=None,
    created_by="admin",
    created_us=NOON_US,
    started_us=None,
    finished_us=None,
    deadline_us=None,
    cancel_by=None,
    cancel_us=None,
    result=None,
    progress=None,
    memory=None,
    epoch=0,
    attempts=0,
    report_n=0,
    is_operator_online=True,
    operator_seen_us=NOON_US,
    version=7,
)


@pytest.mark.parametrize(
    ("us", "whole", "exact"),
    [
        (NOON_US, "2026-11-18T11:06:40Z", "2026-11-18T11:06:40.000Z"),
        (NOON_US + 999_999, "2026-11-18T11:06:40Z", "2026-11-18T11:06:40.999Z"),
        (0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_instants_are_rfc_3339_in_utc(us: int, whole: str, exact: str) -> None:
    assert (present.whole_seconds(us), present.milliseconds(us)) == (whole, exact)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({}, "waiting_for_operator", "waits for the operator of iad-1"),
        ({"is_operator_online": False}, "operator_silent", "last heard at 2026-11-18T11:06:40.000Z; it takes this"),
        ({"is_operator_online": False, "operator_seen_us": None}, "operator_silent", "has never been heard of"),
        ({"phase": Phase.RUNNING, "is_operator_online": False}, "operator_silent", "it goes on with this when it"),
        ({"phase": Phase.RUNNING, "cancel_us": 1, "cancel_by": "max"}, "cancel_requested", "max asked for it to stop"),
        ({"phase": Phase.FAILED, "result": {"code": "no_room", "message": "full"}}, "no_room", "full"),
    ],
)
def test_why_an_operation_is_as_it_is(changes: dict[str, object], code: str, words: str) -> None:
    reason = present.status_reason(replace(RECORD, **changes))  # type: ignore[arg-type]
    assert reason is not None
    assert reason.code == code
    assert words in reason.message


def test_what_runs_as_it_should_needs_no_reason() -> None:
    assert present.status_reason(replace(RECORD, phase=Phase.RUNNING)) is None


@pytest.mark.parametrize(
    ("node", "free"),
    [
        (a_node("n"), 6),
        (a_node("n", cordoned=True), 0),
        (a_node("n", ready=False), 0),
        (a_node("n", allocated={"nvidia.com/gpu": 9}), 0),
        (a_node("n", allocatable={}), 0),
    ],
)
def test_a_device_is_free_where_a_new_pod_may_go(node: NodeDoc, free: int) -> None:
    (device,) = present.devices("iad-1", node)
    assert (device.resource, device.capacity, device.free) == ("nvidia.com/gpu", 8, free)


def test_gpus_are_counted_by_the_plugin_or_by_their_driver_and_never_by_both() -> None:
    gpus = DeviceDoc(resource="gpu.nvidia.com", capacity=8, allocatable=7, allocated=2, free=5)
    nics = DeviceDoc(resource="nic.example", capacity=None, allocatable=None, allocated=None, free=None)
    plugin = {"nvidia.com/gpu": 8, "nvidia.com/rdma": 4, "cpu": 64}

    def seen(**parts: Any) -> list[tuple[str, str, int | None]]:
        node = a_node("n", capacity=plugin, allocatable=plugin, allocated={}, **parts)
        return [(each.resource, each.source, each.free) for each in present.devices("iad-1", node)]

    rdma = ("nvidia.com/rdma", "device plugin", 4)
    assert seen() == [("nvidia.com/gpu", "device plugin", 8), rdma]
    assert seen(devices=[gpus, nics]) == [("gpu.nvidia.com", "driver", 5), ("nic.example", "driver", None), rdma]
    assert seen(devices=[gpus], cordoned=True)[0] == ("gpu.nvidia.com", "driver", 0)

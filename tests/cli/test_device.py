"""hgr device: one line a node and resource."""

from tests.cli.conftest import Hgr
from tests.cli.samples import a_device
from tests.cli.scripted import ScriptedHub


def test_devices_are_listed_with_what_is_free(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/devices", a_device(), a_device(resource="nvidia.com/mig-1g.10gb", free=0))
    assert hgr("device", "ls").out.splitlines() == [
        "CLUSTER   NODE        RESOURCE                 CAPACITY   ALLOCATABLE   ALLOCATED   FREE",
        "iad-1     iad-1-n03   nvidia.com/gpu           8          8             6           2",
        "iad-1     iad-1-n03   nvidia.com/mig-1g.10gb   8          8             6           0",
    ]


def test_what_cannot_be_told_is_unknown_and_not_none_at_all(hub: ScriptedHub, hgr: Hgr) -> None:
    nothing = dict.fromkeys(("capacity", "allocatable", "allocated", "free"))
    hub.on_list("/v1/devices", a_device(resource="gpu.nvidia.com", source="driver", **nothing))
    assert hgr("device", "ls", "-o", "wide").out.splitlines() == [
        "CLUSTER   NODE        RESOURCE         CAPACITY   ALLOCATABLE   ALLOCATED   FREE      SOURCE",
        "iad-1     iad-1-n03   gpu.nvidia.com   unknown    unknown       unknown     unknown   driver",
    ]


def test_the_manuals_line_asks_for_what_is_free_in_a_cluster(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/devices")
    ran = hgr("device", "ls", "--cluster", "iad-1", "--allocatable")
    assert hub.requests[0].query == {"cluster": "iad-1", "allocatable": "true", "page_size": "1000"}
    assert (ran.code, ran.err) == (0, "no devices with cluster=iad-1, allocatable=true\n")


def test_a_device_is_named_by_cluster_node_and_resource(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/devices", a_device())
    assert hgr("device", "ls", "--node", "n", "--resource", "r", "-q").out == "iad-1/iad-1-n03/nvidia.com/gpu\n"
    assert (hub.requests[0].query["node"], hub.requests[0].query["resource"]) == ("n", "r")

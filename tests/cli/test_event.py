"""hgr event: the feed, the newest first."""

from tests.cli.conftest import Hgr
from tests.cli.samples import an_event
from tests.cli.scripted import ScriptedHub


def test_events_say_what_happened_to_what_and_who_did_it(hub: ScriptedHub, hgr: Hgr) -> None:
    operation = {"kind": "operation", "name": "op_1", "cluster": "iad-1"}
    hub.on_list("/v1/events", an_event(), an_event(object=operation, actor=None, message="began\nwell"))
    lines = hgr("event", "ls").out.splitlines()
    assert lines[0].split() == ["AGE", "TYPE", "OBJECT", "BY", "MESSAGE"]
    assert lines[1].split()[1:] == ["node.cordoned", "node", "iad-1/iad-1-n03", "admin", "cordoned:", "faulty", "GPU"]
    assert lines[2].endswith("operation op_1         -       began\\nwell")


def test_what_happens_to_a_workload_on_one_cluster_is_told_by_it(hub: ScriptedHub, hgr: Hgr) -> None:
    everywhere = {"kind": "workload", "name": "llama", "cluster": None}
    there = {"kind": "deployment", "name": "llama", "cluster": "iad-1"}
    hub.on_list("/v1/events", an_event(object=everywhere), an_event(object=there))
    assert [line.split()[2:4] for line in hgr("event", "ls", "--no-headers").out.splitlines()] == [
        ["workload", "llama"],
        ["deployment", "iad-1/llama"],
    ]


def test_the_filters_are_the_hubs(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on_list("/v1/events", an_event())
    ran = hgr("event", "ls", "--type", "t", "--cluster", "c", "--object", "o", "--operation", "op_1", "-q")
    assert hub.requests[0].query == {
        "type": "t",
        "cluster": "c",
        "object": "o",
        "operation": "op_1",
        "page_size": "1000",
    }
    assert ran.out == "12\n"

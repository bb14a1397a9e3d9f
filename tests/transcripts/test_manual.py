"""Every node command of the user's manual, word for word and in the manual's order, on the demo fleet."""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.transcripts.demo import Ran, Shell
from tests.transcripts.manual import commands
from tests.transcripts.test_manual_workloads import WORKLOAD_COMMANDS

pytestmark = pytest.mark.xdist_group("fleet")

NODE_COMMANDS = (
    'hgr operation create node.drain <node-name> --reason "firmware upgrade"',
    "hgr operation create node.uncordon <node-name>",
    'hgr operation create node.drain iad-1-n02 --reason "firmware upgrade" --wait',
    "hgr operation create node.cordon <node-name>",
    "hgr operation ls",
    "hgr operation ls --type node.drain --phase succeeded",
    "hgr operation ls --target <node-name>",
    "hgr operation cancel <operation-id>",
    'hgr operation create node.drain iad-1-n02 --reason "firmware" --wait',
    'hgr operation create node.drain iad-1-n02 \\\n  --reason "firmware" \\\n  --idempotency-key custom-key-123',
    'hgr operation create node.drain iad-1-n03 --reason "replace faulty GPU" --wait',
    "hgr operation create node.uncordon iad-1-n03",
    "hgr node get iad-1-n03",
    "hgr device ls --cluster <cluster> --allocatable",
    "hgr operation cancel <operation-id>",
)
"""The commands on nodes, operations, devices and clusters: all are run below."""

KUBERNETES_COMMANDS = ("kubectl logs -n hangar-system deployment/hangar-operator",)
"""Commands of other programs: there is no Kubernetes behind the demo."""

ID = re.compile(r"op_[0-7][0-9A-HJKMNP-TV-Z]{25}")
WHOLE_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
DURATION = re.compile(r"\d+s")

EXAMPLE = ["id", "type", "target", "phase", "result", "reason", "created_by", "created_at"]
"""The names of the manual's JSON example, in its order."""


def test_each_command_of_the_manual_is_run() -> None:
    of_hgr = [each for each in commands() if each.startswith("hgr ")]
    assert (len(NODE_COMMANDS), len(WORKLOAD_COMMANDS), len(of_hgr)) == (15, 8, 23)
    assert sorted(commands()) == sorted(NODE_COMMANDS + WORKLOAD_COMMANDS + KUBERNETES_COMMANDS)
    assert [each for each in of_hgr if each in NODE_COMMANDS] == list(NODE_COMMANDS)


@dataclass
class Story:
    """The commands as they are run one after the other, and what was seen between them."""

    shell: Shell
    ran: list[str] = field(default_factory=list)
    seen: dict[str, Ran] = field(default_factory=dict)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)

    def type(self, scene: str, **names: str) -> Ran:
        """Type the next command of the manual, with its placeholders filled in."""
        command = NODE_COMMANDS[len(self.ran)]
        self.ran.append(command)
        filled = {name.replace("_", "-"): value for name, value in names.items()}
        self.seen[scene] = self.shell.run(command, filled)
        return self.seen[scene]

    def look(self, scene: str, command: str) -> Ran:
        """Type a command that is not the manual's."""
        self.seen[scene] = self.shell.run(command)
        return self.seen[scene]

    def record(self, scene: str, operation_id: str) -> None:
        """Wait for an operation's end and keep its record."""
        self.look(f"{scene}: end", f"hgr operation wait {operation_id}")
        self.records[scene] = self.shell.succeed(f"hgr operation get {operation_id} -o json").document


@pytest.fixture(scope="module")
def story(fleet: Shell) -> Story:
    """The manual from its beginning to its end."""
    told = Story(fleet)
    told.record("drain", told.type("drain", node_name="iad-1-n20").out.strip())
    told.record("uncordon", told.type("uncordon", node_name="iad-1-n31").out.strip())
    told.look("uncordoned node", "hgr node get iad-1-n31")
    told.record("drain and wait", told.type("drain and wait").lines[0])
    told.look("drained node", "hgr node get iad-1-n02")
    told.look("node before the cordon", "hgr node get iad-1-n10")
    told.record("cordon", told.type("cordon", node_name="iad-1-n10").out.strip())
    told.look("node after the cordon", "hgr node get iad-1-n10")
    told.look("badges", "hgr node ls --cluster iad-1")
    told.type("all operations")
    told.type("succeeded drains")
    told.type("one target", node_name="iad-1-n02")
    held = told.look("time-out", "hgr operation create node.drain iad-1-n05 --wait-timeout 1")
    told.type("cancel", operation_id=held.lines[0])
    told.record("cancel", held.lines[0])
    told.look("node after the cancel", "hgr node get iad-1-n05")
    told.record("drain again", told.type("drain again").lines[0])
    told.record("with a key", told.type("with a key").out.strip())
    told.look("the same key", NODE_COMMANDS[len(told.ran) - 1])
    told.look("node before maintenance", "hgr node get iad-1-n03 -o json")
    told.record("for maintenance", told.type("for maintenance").lines[0])
    told.record("after maintenance", told.type("after maintenance").out.strip())
    told.type("maintained node")
    told.type("free devices", cluster="iad-1")
    stuck = told.look("stuck", "hgr operation create node.drain iad-1-n05 --wait-timeout 1")
    told.type("cancel what is stuck", operation_id=stuck.lines[0])
    told.record("cancel what is stuck", stuck.lines[0])
    return told


def test_no_node_command_of_the_manual_was_skipped(story: Story) -> None:
    assert tuple(story.ran) == NODE_COMMANDS
    codes = {scene: ran.code for scene, ran in story.seen.items() if ran.code}
    assert codes == {"time-out": 8, "cancel: end": 11, "stuck": 8, "cancel what is stuck: end": 11}


def test_a_create_without_wait_prints_the_id_and_says_how_to_wait(story: Story) -> None:
    for scene in ("drain", "uncordon", "cordon", "with a key", "after maintenance"):
        said = story.seen[scene]
        assert ID.fullmatch(said.out.strip())
        assert f"hgr operation wait {said.out.strip()}" in said.err
    assert story.records["drain"]["phase"] == "succeeded"
    assert re.fullmatch(r"evicted_replicas=\d+", story.records["drain"]["result"]["message"])


def test_a_drained_node_has_moved_its_three_replicas_and_stays_cordoned(story: Story) -> None:
    said = story.seen["drain and wait"]
    assert said.lines[1].startswith("node.drain iad-1-n02 succeeded: evicted_replicas=3 (")
    assert "cordoned: true" in story.seen["drained node"].lines
    assert "replicas: 0" in story.seen["drained node"].lines


def test_the_record_has_the_names_and_forms_of_the_manuals_example(story: Story) -> None:
    record = story.records["drain and wait"]
    assert [name for name in record if name in EXAMPLE] == EXAMPLE
    assert ID.fullmatch(record["id"])
    assert (record["type"], record["target"], record["phase"]) == ("node.drain", "iad-1-n02", "succeeded")
    assert list(record["result"])[:3] == ["message", "attempts", "duration"]
    assert (record["result"]["message"], record["result"]["attempts"]) == ("evicted_replicas=3", 1)
    assert DURATION.fullmatch(record["result"]["duration"])
    assert (record["reason"], record["created_by"]) == ("firmware upgrade", "admin")
    assert WHOLE_SECONDS.fullmatch(record["created_at"])


def test_a_cordon_leaves_replicas_where_they_are_and_shows_a_badge(story: Story) -> None:
    before, after = story.seen["node before the cordon"].lines, story.seen["node after the cordon"].lines
    assert "cordoned: false" in before
    assert "cordoned: true" in after
    replicas = [line for line in before if line.startswith("replicas: ")]
    assert replicas != ["replicas: 0"]
    assert [line for line in after if line.startswith("replicas: ")] == replicas
    badges = {line.split()[0]: line.split()[3] for line in story.seen["badges"].lines[1:]}
    assert (badges["iad-1-n10"], badges["iad-1-n02"], badges["iad-1-n11"]) == ("cordoned", "cordoned", "-")


def test_an_uncordon_works_on_a_cordon_that_somebody_else_made(story: Story) -> None:
    assert "cordoned: false" in story.seen["uncordoned node"].lines
    assert "kubectl-cordon" in story.records["uncordon"]["result"]["message"]


def test_the_history_is_filtered_by_type_target_and_outcome(story: Story) -> None:
    def rows(scene: str) -> list[list[str]]:
        return [line.split() for line in story.seen[scene].lines[1:]]

    assert story.seen["all operations"].lines[0].split()[:6] == ["ID", "TYPE", "CLUSTER", "TARGET", "PHASE", "AGE"]
    everything = {(row[1], row[3], row[4]) for row in rows("all operations")}
    assert {
        ("node.drain", "iad-1-n20", "succeeded"),
        ("node.uncordon", "iad-1-n31", "succeeded"),
        ("node.drain", "iad-1-n02", "succeeded"),
        ("node.cordon", "iad-1-n10", "succeeded"),
    } <= everything
    assert {row[1] for row in rows("succeeded drains")} == {"node.drain"}
    assert {row[4] for row in rows("succeeded drains")} == {"succeeded"}
    assert [row[3] for row in rows("one target")] == ["iad-1-n02"]


def test_a_wait_that_times_out_leaves_the_drain_running_and_names_the_budget_with_its_numbers(story: Story) -> None:
    said = story.seen["time-out"]
    assert "pdb serving/mixtral-8x7b holds back serving/mixtral-8x7b-rs-00001" in said.err
    assert "needs 5 has 5" in said.err
    assert "is still running after 1s" in said.err
    assert f"hgr operation wait {said.lines[0]} --wait-timeout TIME" in said.err


@pytest.mark.parametrize("scene", ["cancel", "cancel what is stuck"])
def test_a_cancel_stops_the_drain_and_the_result_lists_every_pod_by_what_became_of_it(story: Story, scene: str) -> None:
    record = story.records[scene]
    assert record["phase"] == "cancelled"
    details = record["result"]["details"]
    assert {"moved", "terminating", "unknown", "untouched"} <= details.keys()
    assert details["untouched"] != []
    assert re.fullmatch(r"cancelled: \d moved, \d terminating, \d not touched", record["result"]["message"])


def test_a_cancel_rolls_nothing_back(story: Story) -> None:
    details = story.records["cancel"]["result"]["details"]
    begun = details["moved"] + details["terminating"]
    assert len(begun) >= 1
    assert len(begun) + len(details["untouched"]) == 3
    assert "cordoned: true" in story.seen["node after the cancel"].lines


def test_an_empty_node_is_drained_at_once(story: Story) -> None:
    assert story.records["drain again"]["result"]["message"] == "evicted_replicas=0"


def test_the_same_key_returns_the_existing_operation(story: Story) -> None:
    assert story.seen["the same key"].out == story.seen["with a key"].out
    assert "this idempotency key was used before" in story.seen["the same key"].err


def test_maintenance_ends_with_an_uncordoned_node(story: Story) -> None:
    replicas = story.seen["node before maintenance"].document["replicas"]
    assert story.records["for maintenance"]["result"]["message"] == f"evicted_replicas={replicas}"
    assert story.records["for maintenance"]["reason"] == "replace faulty GPU"
    assert story.records["after maintenance"]["reason"] is None
    assert "cordoned: false" in story.seen["maintained node"].lines


def test_free_devices_are_those_of_ready_uncordoned_nodes(story: Story) -> None:
    header, *rows = (line.split() for line in story.seen["free devices"].lines)
    assert header == ["CLUSTER", "NODE", "RESOURCE", "CAPACITY", "ALLOCATABLE", "ALLOCATED", "FREE"]
    assert all(int(row[6]) > 0 for row in rows)
    assert {row[0] for row in rows} == {"iad-1"}
    nodes = {row[1] for row in rows}
    assert "iad-1-n03" in nodes
    assert not nodes & {"iad-1-n02", "iad-1-n10", "iad-1-n40"}  # drained, cordoned, not ready

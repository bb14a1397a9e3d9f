"""Every workload command of the user's manual, word for word and in the manual's order, on the demo fleet."""

from typing import Any

import pytest

from tests.transcripts.demo import Ran, Shell

pytestmark = pytest.mark.xdist_group("fleet")

WORKLOAD_COMMANDS = (
    "hgr workload scale <workload-name> --replicas 4",
    'hgr workload pause <workload-name> --reason "nightly shutdown"',
    "hgr workload resume <workload-name>",
    'hgr operation create workload.drain <workload-name> --cluster <cluster-name> --reason "cluster decommission"',
    "hgr workload scale llama-3-8b --replicas 1 --wait",
    "hgr deployment ls --workload llama-3-8b",
    "hgr workload scale llama-3-8b --replicas 4",
    "hgr quota ls --project <project>",
)
"""The commands on workloads, deployments and quotas: all are run below."""

WORKLOAD = "deepseek-r1"


class Story:
    """The commands as they are run one after the other, and what was seen between them."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.ran: list[str] = []
        self.seen: dict[str, Ran] = {}
        self.workloads: dict[str, dict[str, Any]] = {}

    def type(self, scene: str, **names: str) -> Ran:
        """Type the next command of the manual, with its placeholders filled in."""
        command = WORKLOAD_COMMANDS[len(self.ran)]
        self.ran.append(command)
        filled = {name.replace("_", "-"): value for name, value in names.items()}
        self.seen[scene] = self.shell.run(command, filled)
        return self.seen[scene]

    def end(self, scene: str) -> dict[str, Any]:
        """Wait for the end of the operation that a scene asked for, and return its record."""
        id_ = self.seen[scene].lines[0]
        self.shell.run(f"hgr operation wait {id_}")
        return dict(self.shell.succeed(f"hgr operation get {id_} -o json").document)

    def look(self, scene: str, workload: str) -> None:
        """Keep a workload as it is now."""
        self.workloads[scene] = self.shell.succeed(f"hgr workload get {workload} -o json").document


@pytest.fixture(scope="module")
def story(fleet: Shell) -> Story:
    """The manual from its beginning to its end."""
    told = Story(fleet)
    told.type("scale", workload_name=WORKLOAD)
    told.workloads["scale: record"] = told.end("scale")
    told.look("scaled", WORKLOAD)
    told.type("pause", workload_name=WORKLOAD)
    told.workloads["pause: record"] = told.end("pause")
    told.look("paused", WORKLOAD)
    told.type("resume", workload_name=WORKLOAD)
    told.workloads["resume: record"] = told.end("resume")
    told.look("resumed", WORKLOAD)
    told.type("drain", workload_name=WORKLOAD, cluster_name="iad-1")
    told.workloads["drain: record"] = told.end("drain")
    told.look("drained", WORKLOAD)
    told.type("down")
    told.type("verify")
    told.look("down", "llama-3-8b")
    told.type("up")
    told.workloads["up: record"] = told.end("up")
    told.type("quota", project="serving")
    return told


def numbers(workload: dict[str, Any]) -> dict[str, int]:
    return {each["cluster"]: each["desired"] for each in workload["deployments"]}


def test_no_workload_command_of_the_manual_was_skipped(story: Story) -> None:
    assert tuple(story.ran) == WORKLOAD_COMMANDS
    assert {scene: ran.code for scene, ran in story.seen.items() if ran.code} == {}


def test_a_scale_is_recorded_and_every_deployment_is_updated(story: Story) -> None:
    record = story.workloads["scale: record"]
    assert (record["type"], record["target"], record["phase"]) == ("workload.scale", WORKLOAD, "succeeded")
    assert record["result"]["message"] == "scaled to 4: 2 + 2 = 4, divided"
    assert numbers(story.workloads["scaled"]) == {"fra-1": 2, "iad-1": 2}


def test_a_pause_scales_to_nothing_and_the_scale_before_it_is_remembered(story: Story) -> None:
    assert story.workloads["pause: record"]["reason"] == "nightly shutdown"
    paused = story.workloads["paused"]
    assert (paused["state"], paused["replicas"], numbers(paused)) == ("paused", 4, {"fra-1": 0, "iad-1": 0})


def test_a_resume_returns_to_the_previous_scale(story: Story) -> None:
    assert story.workloads["resume: record"]["phase"] == "succeeded"
    assert (story.workloads["resumed"]["replicas"], numbers(story.workloads["resumed"])) == (
        4,
        {"fra-1": 2, "iad-1": 2},
    )


def test_a_drained_cluster_has_no_replicas_and_the_global_scale_is_unchanged(story: Story) -> None:
    record = story.workloads["drain: record"]
    assert (record["phase"], record["cluster"], record["reason"]) == ("succeeded", "iad-1", "cluster decommission")
    drained = story.workloads["drained"]
    assert (drained["replicas"], numbers(drained)) == (4, {"fra-1": 4, "iad-1": 0})
    (left,) = [each for each in drained["deployments"] if each["cluster"] == "iad-1"]
    assert [each["pods"] for each in left["components"] if each["role"] != "frontend"] == [0, 0]


def test_scaled_down_each_deployment_has_one_replica(story: Story) -> None:
    assert "1 each x 3 = 3, duplicated" in story.seen["down"].out + story.seen["down"].err
    rows = story.seen["verify"].lines
    assert len(rows) == 4
    assert numbers(story.workloads["down"]) == {"fra-1": 1, "iad-1": 1, "sin-1": 1}


def test_scaled_back_up_it_runs_as_before(story: Story) -> None:
    assert story.workloads["up: record"]["result"]["message"] == "scaled to 4: 4 each x 3 = 12, duplicated"


def test_the_quota_says_what_is_used(story: Story) -> None:
    out = story.seen["quota"].out
    assert "serving" in out
    assert "nvidia.com/gpu" in out
    assert "96" in out

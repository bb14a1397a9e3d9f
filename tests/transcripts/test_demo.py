"""hangar-demo -- COMMAND: one command against a fresh fleet, and its exit code."""

import pytest

from tests.transcripts.demo import Shell

pytestmark = pytest.mark.xdist_group("fleet")


def test_the_drain_of_the_manual_exits_with_0(shell: Shell) -> None:
    said = shell.run('hangar-demo -- hgr operation create node.drain iad-1-n02 --reason "firmware upgrade" --wait')
    assert said.code == 0
    assert "succeeded: evicted_replicas=3" in said.out


def test_a_drain_that_fits_nowhere_exits_with_11_names_the_gpus_and_touches_nothing(fleet: Shell) -> None:
    before = fleet.succeed("hgr node get iad-1-n07 -o json").document
    said = fleet.run('hgr operation create node.drain iad-1-n07 --reason "firmware upgrade" --wait')
    assert said.code == 11
    assert "serving/llama-3-405b-rs-00000 needs 8 nvidia.com/gpu on one node, at most 0 are free on one" in said.out
    after = fleet.succeed("hgr node get iad-1-n07 -o json").document
    assert (before["cordoned"], after["cordoned"]) == (False, True)
    assert (after["replicas"], after["allocated"]) == (before["replicas"], before["allocated"])
    record = fleet.succeed(f"hgr operation get {said.lines[0]} -o json").document
    assert (record["phase"], record["result"]["details"]["moved"]) == ("failed", [])
    assert len(record["result"]["details"]["untouched"]) == before["replicas"]


def test_a_budget_that_holds_a_drain_is_shown_with_its_numbers(shell: Shell) -> None:
    said = shell.run("hangar-demo -- hgr operation create node.drain iad-1-n05 --wait-timeout 1 -o json")
    assert said.code == 8
    progress = said.document["progress"]
    assert (said.document["phase"], progress["total"], progress["unit"]) == ("running", 3, "pods")
    assert "blocked 2 by pdb serving/mixtral-8x7b: needs 5 has 5" in progress["message"]
    (held,) = [each for each in progress["blockers"] if each["code"] == "budget_ours"]
    assert held["facts"].items() >= {"needs": 5, "has": 5}.items()
    assert len(held["facts"]["pods"]) == 2

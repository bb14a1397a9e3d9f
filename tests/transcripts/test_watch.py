"""ls --watch on the demo fleet: a drain is followed from its creation to its end, line by line."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.transcripts.demo import COMMAND_TIMEOUT_S, Shell

pytestmark = pytest.mark.xdist_group("fleet")


@contextmanager
def watched(shell: Shell, command: str) -> Iterator[Iterator[str]]:
    """Run a command that prints until it is stopped, and give its lines."""
    process = subprocess.Popen(
        ["sh", "-c", f"exec {command}"], env=shell.environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield iter(process.stdout.readline, "")
    finally:
        process.terminate()
        process.wait(COMMAND_TIMEOUT_S)
        process.stdout.close()


def test_an_operation_is_followed_to_its_end(fleet: Shell) -> None:
    first = fleet.succeed("hgr operation create node.cordon iad-1-n25 --wait").lines[0]
    with watched(fleet, "hgr operation ls --watch --target iad-1-n25 -o json") as lines:
        assert json.loads(next(lines))["id"] == first
        drain = fleet.succeed("hgr operation create node.drain iad-1-n25 -q").out.strip()
        phases = list(_phases(drain, lines))
    assert phases[-1] == "succeeded"
    assert set(phases) <= {"pending", "running", "succeeded"}


def _phases(id_: str, lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        record: dict[str, Any] = json.loads(line)
        assert record["id"] == id_
        yield record["phase"]
        if record["result"] is not None:
            return


def test_events_come_in_order_and_none_is_left_out(fleet: Shell) -> None:
    with watched(fleet, "hgr event ls --watch --object iad-1/iad-1-n26 -o json") as lines:
        before = json.loads(next(lines))
        assert before["type"] == "node.added"
        fleet.succeed("hgr operation create node.cordon iad-1-n26 --wait")
        fleet.succeed("hgr operation create node.uncordon iad-1-n26 --wait")
        told = [json.loads(next(lines)) for _ in range(2)]
    assert [each["type"] for each in told] == ["node.cordoned", "node.uncordoned"]
    assert before["rev"] < told[0]["rev"] < told[1]["rev"]


def test_a_node_has_a_line_for_its_cordon(fleet: Shell) -> None:
    with watched(fleet, "hgr node ls --watch --cluster iad-1 --no-headers") as lines:
        seen = [next(lines).split()[0] for _ in range(40)]
        assert "iad-1-n27" in seen
        fleet.succeed("hgr operation create node.cordon iad-1-n27 -q")
        cordoned = next(each for each in map(str.split, lines) if each[0] == "iad-1-n27" and each[3] == "cordoned")
    assert cordoned[1] == "iad-1"

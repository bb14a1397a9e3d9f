"""What people do around operations: ask first, give access, come in, complete words, all on the demo fleet."""

import dataclasses
from pathlib import Path

import pytest

from hangar.wire import plans
from tests.transcripts.demo import Shell

pytestmark = pytest.mark.xdist_group("fleet")


def test_a_dry_run_says_what_would_happen_and_leaves_no_trace(fleet: Shell) -> None:
    before = fleet.succeed("hgr operation ls -q").out
    said = fleet.succeed("hgr operation create node.drain iad-1-n22 --dry-run")
    assert said.lines[0].startswith("node.drain iad-1/iad-1-n22: ")
    assert said.lines[1].split()[:4] == ["POD", "OWNER", "FITS", "WHERE"]
    assert "stays: gpu-operator/dcgm-exporter-" in said.out
    assert said.err == "nothing was changed; without --dry-run it is done\n"
    replicas = fleet.succeed("hgr node get iad-1-n22 -o json").document["replicas"]
    assert len(fleet.succeed("hgr operation create node.drain iad-1-n22 --dry-run -q").lines) == replicas > 0
    assert fleet.succeed("hgr operation ls -q").out == before
    assert "cordoned: false" in fleet.succeed("hgr node get iad-1-n22").lines


def test_a_dry_run_of_what_cannot_succeed_exits_with_11_and_says_why_first(fleet: Shell) -> None:
    said = fleet.run("hgr operation create node.drain iad-1-n08 --dry-run")
    assert said.code == 11
    assert said.lines[1].startswith("would fail: serving/llama-3-405b-rs-00001 ")
    assert said.lines[1].endswith(" (no_capacity)")
    plan = fleet.run("hgr operation create node.drain iad-1-n08 --dry-run -o json").document
    assert list(plan) == [each.name for each in dataclasses.fields(plans.Plan)]
    assert [each["code"] for each in plan["obstructions"]] == ["no_capacity"]


@pytest.mark.parametrize("node", ["iad-1-n02", "iad-1-n08", "fra-1/edge-01"])
@pytest.mark.parametrize("flag", ["--wait", "--wait-timeout 5m"])
def test_a_dry_run_has_no_end_to_wait_for(shell: Shell, node: str, flag: str) -> None:
    said = shell.run(f"hgr operation create node.drain {node} --dry-run {flag}")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: --dry-run begins nothing")


def test_a_token_is_made_comes_in_may_do_what_its_role_may_and_is_revoked(fleet: Shell, shell: Shell) -> None:
    server = fleet.succeed("hgr context current").lines[0].removeprefix("server: ")
    made = fleet.succeed("hgr token create vera --role viewer --expires 1h -o json").document
    home = Path(shell.environment["HOME"])
    (home / "token").write_text(made["secret"], encoding="utf-8")
    said = shell.succeed(f"hgr login {server} --context lab < ~/token")
    assert said.lines == ["name: vera", "role: viewer", f"server: {server}", "context: lab"]
    assert (home / ".config/hgr/config.toml").stat().st_mode & 0o777 == 0o600
    assert shell.succeed("hgr node get iad-1-n22 -o name").out == "iad-1-n22\n"
    refused = shell.run("hgr operation create node.drain iad-1-n22")
    assert (refused.code, refused.out) == (4, "")
    assert "vera has the role viewer, and this takes the role maintainer" in refused.err
    assert made["secret"] not in fleet.succeed("hgr token ls -o json").out
    fleet.succeed(f"hgr token revoke {made['token']['id']}")
    assert shell.run("hgr node ls").code == 4
    assert "revoked" in fleet.succeed("hgr token ls").lines[1]


def test_bash_completes_the_names_of_the_fleet(fleet: Shell) -> None:
    program = (
        'eval "$(hgr completion bash)"; COMP_LINE="hgr node get iad-1-n0"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; '
        '_python_argcomplete hgr; echo "${COMPREPLY[*]}"'
    )
    said = fleet.succeed(f"bash -c '{program}'")
    assert said.out.split() == [f"iad-1-n0{number}" for number in range(1, 10)]

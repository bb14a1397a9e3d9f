"""Completion, for real in bash: words, flags, and the names that a hub has now; silent whatever goes wrong."""

import argparse
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from hangar.cli import complete
from hangar.cli.complete import PHASES, parser_for
from hangar.cli.nouns import COMMANDS, NOUNS, WORDS, verbs_of
from hangar.domain.operation import Phase
from hangar.kinds import KINDS, WORKLOAD_KINDS
from tests.cli.samples import a_cluster, a_deployment, a_node, a_project, a_token, a_workload, an_operation
from tests.cli.scripted import Answer, Request, ScriptedHub, problem

PATIENCE_S = 30
ID = an_operation()["id"]

PROGRAM = """
eval "$(hgr completion bash)"
while IFS= read -r line; do
  COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9 COMPREPLY=()
  _python_argcomplete hgr
  echo "$? ${COMPREPLY[*]}"
done
"""


@pytest.fixture(autouse=True)
def fleet(hub: ScriptedHub) -> None:
    hub.on_list("/v1/nodes", a_node(), a_node(name="n04"), a_node(name="n04", cluster="fra-1"))
    hub.on_list("/v1/clusters", a_cluster(), a_cluster(name="fra-1"))
    hub.on_list("/v1/operations", an_operation())
    hub.on_list("/v1/workloads", a_workload(), a_workload(name="qwen", state="paused"))
    hub.on_list("/v1/deployments", a_deployment(), a_deployment(cluster="ams-1", state="drained", desired=0, ready=0))
    hub.on_list("/v1/projects", a_project())
    hub.on_list("/v1/tokens", a_token(), a_token(id="tok_old", revoked_at="2026-10-27T12:34:56.000Z"))


def completed(hub: ScriptedHub, home: Path, *lines: str) -> list[list[str]]:
    """Return what bash would offer at the end of each line."""
    program = home / "bin" / "hgr"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m hangar.cli "$@"\n')
    program.chmod(0o755)
    environ = {
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "HOME": str(home),
        "HGR_SERVER": hub.url,
    }
    ran = subprocess.run(
        ["bash", "-c", PROGRAM],
        env=environ,
        cwd=home,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert ran.stderr == ""
    answers = [line.split(" ") for line in ran.stdout.splitlines()]
    assert [code for code, *_ in answers] == ["0"] * len(lines)
    return [[word for word in words if word] for _, *words in answers]


def test_nouns_verbs_and_flags_are_offered(hub: ScriptedHub, home: Path) -> None:
    nouns, verbs, flags, kinds, choices, shells = completed(
        hub,
        home,
        "hgr ",
        "hgr operation ",
        "hgr operation create node.drain n04 --on",
        "hgr operation create ",
        "hgr operation create node.drain n04 --on-failure ",
        "hgr completion ",
    )
    assert nouns == [*NOUNS, *COMMANDS, *WORDS]
    assert verbs == list(verbs_of("operation"))
    assert "--on-failure" in flags
    assert sorted(kinds) == sorted([*KINDS, *WORKLOAD_KINDS])
    assert choices == ["keep", "uncordon"]
    assert shells == ["bash", "zsh", "fish"]
    assert hub.requests == []


def test_names_are_those_that_the_hub_has_now(hub: ScriptedHub, home: Path) -> None:
    nodes, targets, cluster, operation, token = completed(
        hub,
        home,
        "hgr node get ",
        "hgr operation create node.uncordon --cluster iad-1 ia",
        "hgr node ls --cluster=f",
        "hgr operation wait ",
        "hgr token revoke ",
    )
    assert nodes == ["iad-1-n03", "iad-1/n04", "fra-1/n04"]
    assert targets == ["iad-1-n03", "iad-1/n04"]
    assert cluster == ["fra-1"]
    assert operation == [ID]
    assert token == [a_token()["id"]]
    asked = [(each.path, each.query.get("cordoned"), each.query.get("phase")) for each in hub.requests]
    assert asked == [
        ("/v1/nodes", None, None),
        ("/v1/nodes", "true", None),
        ("/v1/clusters", None, None),
        ("/v1/operations", None, "running"),
        ("/v1/operations", None, "pending"),
        ("/v1/tokens", None, None),
    ]


def test_workloads_and_the_clusters_that_they_are_on_are_offered(hub: ScriptedHub, home: Path) -> None:
    scaled, resumed, targets, clusters, left, on, state, project, flags, drained = completed(
        hub,
        home,
        "hgr workload scale ",
        "hgr workload resume ",
        "hgr operation create workload.drain q",
        "hgr operation create workload.drain llama-3-8b --cluster ",
        "hgr workload delete llama-3-8b --cluster a",
        "hgr deployment ls --workload llama-3-8b --cluster ",
        "hgr deployment ls --state dr",
        "hgr quota ls --project ",
        "hgr workload scale llama-3-8b --rep",
        "hgr operation create node.drain n04 --cluster ",
    )
    assert scaled == resumed == ["llama-3-8b", "qwen"]
    assert targets == ["qwen"]
    assert clusters == on == ["iad-1", "ams-1"]
    assert left == ["ams-1"]
    assert state == ["drained", "drifted"]
    assert project == ["chat"]
    assert flags == ["--replicas"]
    assert drained == ["iad-1", "fra-1"]
    asked = [(each.path, each.query.get("state"), each.query.get("workload")) for each in hub.requests]
    assert asked == [
        ("/v1/workloads", None, None),
        ("/v1/workloads", "paused", None),
        ("/v1/workloads", None, None),
        *[("/v1/deployments", None, "llama-3-8b")] * 3,
        ("/v1/projects", None, None),
        ("/v1/clusters", None, None),
    ]


def test_contexts_are_offered_without_a_hub_and_files_where_a_file_is_meant(hub: ScriptedHub, home: Path) -> None:
    config = home / ".config" / "hgr" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[contexts."lab"]\nserver = "https://lab.example"\n')
    contexts, files, nothing = completed(
        hub, home, "hgr context use ", f"hgr login --token-file {home}/.con", "hgr operation create x y --reason "
    )
    assert contexts == ["lab"]
    assert [each.rstrip("/") for each in files] == [f"{home}/.config"]
    assert nothing == []
    assert hub.requests == []


def test_whatever_is_wrong_is_silent(hub: ScriptedHub, home: Path) -> None:
    hub.on("GET", "/v1/clusters", problem(401, "unauthenticated", "no"))
    hub.on("GET", "/v1/operations", Answer(document={"items": 1}))
    config = home / ".config" / "hgr" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("no TOML")
    answers = completed(
        hub,
        home,
        "hgr --server http://127.0.0.1:1 node get ",
        "hgr cluster get ",
        "hgr operation get ",
        "hgr operation create node.dran ",
        "hgr context use ",
        'hgr node "get',
    )
    assert answers == [[], [], [], [], [], ["get"]]


def test_a_hub_that_takes_its_time_is_not_waited_for(hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch) -> None:
    parked = threading.Event()

    def takes_its_time(_request: Request) -> Answer:
        parked.wait(PATIENCE_S)
        return Answer(document={"items": [], "next_page_token": None})

    hub.on("GET", "/v1/nodes", takes_its_time)
    monkeypatch.setattr(complete, "LIVE_S", 0.05)
    assert offered(hub, "node", "get") == {}
    parked.set()


def test_a_name_comes_with_what_tells_it_from_others(hub: ScriptedHub) -> None:
    hub.on_list("/v1/nodes", a_node(cordoned=True))
    assert offered(hub, "node", "get") == {"iad-1-n03": "iad-1, cordoned"}
    assert offered(hub, "operation", "get") == {ID: "node.drain iad-1-n02 pending"}
    assert offered(hub, "cluster", "get") == {"iad-1": "online", "fra-1": "online"}
    assert offered(hub, "workload", "get") == {"llama-3-8b": "chat, running", "qwen": "chat, paused"}
    assert offered(hub, "project", "get") == {"chat": "2 workloads"}


def offered(hub: ScriptedHub, noun: str, verb: str) -> Any:
    """Return what the last argument of a verb is completed with, and what is told of each."""
    parser = parser_for([noun, verb], {"HGR_SERVER": hub.url})
    for word in (noun, verb):
        [below] = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
        parser = below.choices[word]
    [positional] = [each for each in parser._actions if not each.option_strings]
    return vars(positional)["completer"](prefix="", parsed_args=argparse.Namespace())


def test_the_phases_are_the_domains() -> None:
    assert set(PHASES) == set(Phase)

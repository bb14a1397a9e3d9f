"""hgr project: listed, shown, applied from a file or from words, removed."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from hangar.cli.project import SHOWN_ONLY
from hangar.wire import shown
from tests.cli.conftest import Hgr
from tests.cli.samples import a_project
from tests.cli.scripted import Answer, ScriptedHub, problem

PROJECTS, PROJECT = "/v1/projects", "/v1/projects/chat"
QUOTAS = {"nvidia.com/gpu": 64, "nvidia.com/mig-1g.10gb": 8}


def test_projects_are_listed_with_their_quotas(hub: ScriptedHub, hgr: Hgr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_793_104_496.0 + 86_400)  # a day after they were made
    hub.on_list(PROJECTS, a_project(quotas=QUOTAS), a_project(name="lab", quotas={}, workloads=0))
    assert hgr("project", "ls").out.splitlines() == [
        "NAME   WORKLOADS   AGE   QUOTAS",
        "chat   2           24h   nvidia.com/gpu=64 nvidia.com/mig-1g.10gb=8",
        "lab    0           24h   -",
    ]
    assert hgr("project", "ls", "-q").out == "chat\nlab\n"


def test_a_project_is_shown_by_key_and_value(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", PROJECT, Answer(document=a_project()))
    lines = hgr("project", "get", "chat").out.splitlines()
    assert {"name: chat", "quotas.nvidia.com/gpu: 64", "workloads: 2"} <= set(lines)
    assert hgr("project", "get", "chat", "-o", "name").out == "chat\n"


def test_a_project_is_applied_by_its_name_and_quotas(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("PUT", PROJECT, Answer(201, a_project()), Answer(200, a_project(quotas={})), Answer(200, a_project()))
    words = [word for resource, limit in QUOTAS.items() for word in ("--quota", f"{resource}={limit}")]
    ran = hgr("project", "apply", "chat", *words)
    assert (ran.code, ran.out) == (0, "project chat created: nvidia.com/gpu=64\n")
    assert hub.requests[0].body == {"quotas": QUOTAS}
    assert hgr("project", "apply", "chat", "--no-quotas").out == "project chat applied: no quotas\n"
    assert hub.requests[1].body == {"quotas": {}}
    assert json.loads(hgr("project", "apply", "chat", "--quota", "cpu=1", "-o", "json").out) == a_project()


def test_what_get_shows_can_be_edited_and_applied(hub: ScriptedHub, hgr: Hgr, tmp_path: Path) -> None:
    hub.on("GET", PROJECT, Answer(document=a_project()))
    hub.on("PUT", PROJECT, Answer(document=a_project()))
    file = tmp_path / "chat.json"
    file.write_text(hgr("project", "get", "chat", "-o", "json").out)
    assert hgr("project", "apply", "-f", str(file)).code == 0
    assert hub.asked("PUT", PROJECT)[0].body == {"quotas": {"nvidia.com/gpu": 64}}
    assert {*SHOWN_ONLY, "name", "quotas"} == {each.name for each in fields(shown.Project)}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "a project is missing"),
        (("chat",), "what may chat use?"),
        (("chat", "--quota", "a=1", "--no-quotas"), "what may chat use?"),
        (("chat", "--quota", "a=1", "--quota", "a=2"), "a resource twice"),
        (("chat", "-f", "x"), "not both"),
        (("chat", "--quota", "64"), "is no RESOURCE=N"),
        (("chat", "--quota", "=64"), "is no RESOURCE=N"),
        (("chat", "--quota", "nvidia.com/gpu=many"), "is no RESOURCE=N"),
        (("chat", "--quota", "nvidia.com/gpu=-1"), "is no RESOURCE=N"),
    ],
)
def test_what_would_leave_the_limits_in_doubt_sends_nothing(
    hub: ScriptedHub, hgr: Hgr, words: tuple[str, ...], said: str
) -> None:
    ran = hgr("project", "apply", *words)
    assert (ran.code, ran.out, hub.requests) == (2, "", [])
    assert said in ran.err
    assert ran.err.endswith("hint: hgr project apply --help\n")


def test_a_project_is_removed_and_what_went_with_it_is_told(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", PROJECT, Answer(document=a_project()))
    hub.on("DELETE", PROJECT, Answer(204, content=b""))
    ran = hgr("project", "delete", "chat")
    assert (ran.code, ran.out) == (0, "project chat is removed, with its quotas nvidia.com/gpu=64\n")
    assert hgr("project", "delete", "chat", "-q").out == "chat\n"


def test_a_project_that_owns_workloads_stays(hub: ScriptedHub, hgr: Hgr) -> None:
    hub.on("GET", PROJECT, Answer(document=a_project()))
    hub.on("DELETE", PROJECT, problem(409, "conflict", "chat owns 2 workloads: remove them first"))
    ran = hgr("project", "delete", "chat")
    assert (ran.code, ran.out, ran.err) == (6, "", "error: chat owns 2 workloads: remove them first\n")

"""hgr login: a token is checked with the hub, and kept in a context that is the user's alone."""

import fcntl
import io
import json
import os
import pty
import subprocess
import sys
import termios
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from hangar.wire import shown
from tests.cli.conftest import Hgr
from tests.cli.scripted import Answer, ScriptedHub, problem

WHOAMI = "/v1/whoami"
PATIENCE_S = 30


def somebody(name: str = "ann", role: str = "maintainer", cluster: str | None = None) -> dict[str, Any]:
    return asdict(shown.Whoami(name=name, role=role, cluster=cluster))


@pytest.fixture(autouse=True)
def ready(hgr: Hgr, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the choice of the hub to the command; the hub knows who comes."""
    monkeypatch.delenv("HGR_SERVER")
    monkeypatch.delenv("HGR_TOKEN")
    monkeypatch.setattr("sys.stdin", io.StringIO("hgr_typed\n" * 9))
    hub.on("GET", WHOAMI, Answer(document=somebody()))


@pytest.fixture
def file(home: Path) -> Path:
    return home / "config" / "hgr" / "config.toml"


def written(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text())


def test_who_one_is_is_said_and_the_token_is_kept(hgr: Hgr, hub: ScriptedHub, file: Path) -> None:
    ran = hgr("login", hub.url)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"name: ann\nrole: maintainer\nserver: {hub.url}\ncontext: 127.0.0.1\n"
    assert hub.requests[0].headers["authorization"] == "Bearer hgr_typed"
    assert written(file) == {
        "current": "127.0.0.1",
        "contexts": {"127.0.0.1": {"server": hub.url, "token": "hgr_typed"}},
    }
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_token_that_the_hub_does_not_know_is_not_kept(hgr: Hgr, hub: ScriptedHub, file: Path) -> None:
    hub.on("GET", WHOAMI, problem(401, "unauthenticated", "this token is not known here, or was revoked"))
    ran = hgr("login", hub.url)
    assert (ran.code, ran.out) == (4, "")
    assert "the token came from stdin; it may be expired, revoked or meant for another hub" in ran.err
    assert "hgr_typed" not in ran.err
    assert not file.exists()


def test_an_operators_token_is_not_for_people(hgr: Hgr, hub: ScriptedHub, file: Path) -> None:
    hub.on("GET", WHOAMI, Answer(document=somebody("op", "operator", "iad-1")))
    ran = hgr("login", hub.url)
    assert (ran.code, ran.err.splitlines()[0]) == (
        4,
        "error: this is the token of the operator of iad-1: it is of no use for people",
    )
    assert not file.exists()


def test_a_hub_that_is_not_there_leaves_everything_as_it_was(hgr: Hgr, hub: ScriptedHub, file: Path) -> None:
    hgr("login", hub.url)
    before = file.read_text()
    assert hgr("login", "http://127.0.0.1:1").code == 7
    assert file.read_text() == before


def test_a_token_file_is_named_and_its_token_not_copied(hgr: Hgr, hub: ScriptedHub, file: Path, home: Path) -> None:
    (home / "token").write_text("hgr_of_file\n")
    assert hgr("login", hub.url, "--token-file", str(home / "token"), "--context", "lab").code == 0
    assert hub.requests[0].headers["authorization"] == "Bearer hgr_of_file"
    assert written(file)["contexts"] == {"lab": {"server": hub.url, "token_file": str(home / "token")}}


def test_a_dash_is_stdin(hgr: Hgr, hub: ScriptedHub, file: Path) -> None:
    assert hgr("login", hub.url, "--token-file", "-").code == 0
    assert written(file)["contexts"]["127.0.0.1"]["token"] == "hgr_typed"


def test_coming_in_again_needs_no_address_and_keeps_the_context(
    hgr: Hgr, hub: ScriptedHub, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hgr("login", hub.url, "--context", "lab")
    monkeypatch.setattr("sys.stdin", io.StringIO("hgr_second\n"))
    assert hgr("login").code == 0
    assert written(file) == {"current": "lab", "contexts": {"lab": {"server": hub.url, "token": "hgr_second"}}}


def test_an_address_that_has_a_context_gets_no_second_one(
    hgr: Hgr, hub: ScriptedHub, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hgr("context", "set", "lab", "--server", f"{hub.url}/")
    hgr("context", "set", "other", "--server", "https://other.example")
    assert "context: lab" in hgr("login", hub.url).out
    assert list(written(file)["contexts"]) == ["lab", "other"]
    assert written(file)["current"] == "lab"


def test_a_name_that_another_hub_has_is_not_taken_from_it(hgr: Hgr, hub: ScriptedHub, file: Path) -> None:
    hgr("context", "set", "127.0.0.1", "--server", "http://127.0.0.1:1")
    port = hub.server.server_address[1]
    assert f"context: 127.0.0.1-{port}" in hgr("login", hub.url).out
    assert written(file)["contexts"]["127.0.0.1"]["server"] == "http://127.0.0.1:1"


def test_the_address_may_come_from_the_environment(hgr: Hgr, hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HGR_SERVER", hub.url)
    ran = hgr("login")
    assert (ran.code, ran.err) == (0, "warning: HGR_SERVER is set, and goes before the context\n")
    quiet = hgr("--server", hub.url, "login", "-q")
    assert (quiet.code, quiet.err) == (0, "")


def test_machines_are_told_who_one_is_too(hgr: Hgr, hub: ScriptedHub) -> None:
    assert json.loads(hgr("login", hub.url, "-o", "json").out)["role"] == "maintainer"
    assert hgr("login", hub.url, "-q").out == "ann\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no hub is known yet: say which one is meant"),
        (("--context", "lab"), "there is no context 'lab' yet: say which one is meant"),
        (("http://a", "--server", "http://b"), "SERVER and --server name two hubs"),
        (("lab.example",), "'lab.example' (from --server) is not the address of a hub"),
        (("http://[", "--context", "lab"), "is not the address of a hub"),
        (("http://127.0.0.1:1", "--context", "a b"), "'a b' cannot be a context's name"),
        (("http://127.0.0.1:1", "--token-file", "/nowhere"), "cannot read the token file /nowhere"),
        (("http://127.0.0.1:1", "--token", "hgr_x"), "unrecognized arguments: --token"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_sent(
    hgr: Hgr, hub: ScriptedHub, file: Path, words: tuple[str, ...], said: str
) -> None:
    ran = hgr("login", *words)
    assert (ran.code, hub.requests) == (2, [])
    assert said in ran.err
    assert not file.exists()


def test_an_address_without_tls_is_warned_about_before_the_token_is_asked_for(
    hgr: Hgr, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    ran = hgr("login", "http://hub.example")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "warning: http://hub.example is not https: the token travels for all to read",
        "error: stdin holds no token: one word of visible ASCII is expected",
    ]


def test_on_a_terminal_the_token_is_asked_for_and_not_shown(hub: ScriptedHub, home: Path, file: Path) -> None:
    ours, theirs = pty.openpty()
    environ = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    process = subprocess.Popen(
        [sys.executable, "-m", "hangar.cli", "login", hub.url],
        env=environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shown_ = b""
    while b"(it is not shown): " not in shown_:
        shown_ += os.read(ours, 4096)
    os.write(ours, b"hgr_secret\n")
    assert process.wait(PATIENCE_S) == 0
    shown_ += os.read(ours, 4096)
    os.close(ours)
    assert b"role: maintainer" in shown_
    assert b"hgr_secret" not in shown_
    assert written(file)["contexts"]["127.0.0.1"]["token"] == "hgr_secret"

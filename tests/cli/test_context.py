"""hgr context: set, chosen, shown and forgotten, in a file that is the user's alone."""

import io
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Hgr
from tests.cli.samples import a_node
from tests.cli.scripted import ScriptedHub


@pytest.fixture(autouse=True)
def unset(hgr: Hgr, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the choice of the hub to contexts."""
    monkeypatch.delenv("HGR_SERVER")
    monkeypatch.delenv("HGR_TOKEN")


@pytest.fixture
def file(home: Path) -> Path:
    return home / "config" / "hgr" / "config.toml"


def written(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text())


def test_the_first_context_becomes_the_current_one(hgr: Hgr, hub: ScriptedHub, file: Path, home: Path) -> None:
    (home / "token").write_text("hgr_lab")
    ran = hgr("context", "set", "lab", "--server", hub.url, "--token-file", str(home / "token"))
    assert (ran.code, ran.out, ran.err) == (0, "", "lab is the current context\n")
    hub.on_list("/v1/nodes", a_node())
    assert hgr("node", "ls", "-q").out == "iad-1-n03\n"
    assert hub.requests[0].headers["authorization"] == "Bearer hgr_lab"


def test_the_file_is_the_users_alone(hgr: Hgr, file: Path) -> None:
    hgr("context", "set", "lab", "--server", "https://lab.example")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    file.chmod(0o644)
    assert "can be read by others" in hgr("context", "set", "b", "--server", "https://b.example").err
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["config.toml"]


def test_a_token_can_be_given_by_stdin_and_is_never_shown(
    hgr: Hgr, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hgr_secret\n"))
    hgr("context", "set", "lab", "--server", "https://lab.example", "--token-stdin")
    assert written(file)["contexts"]["lab"]["token"] == "hgr_secret"
    for form in ("table", "wide", "json", "yaml", "name"):
        assert "hgr_secret" not in hgr("context", "ls", "-o", form).out


def test_a_change_leaves_the_rest_of_a_context_alone(hgr: Hgr, file: Path, home: Path) -> None:
    (home / "t").write_text("x")
    hgr("context", "set", "lab", "--server", "https://lab.example", "--token-file", str(home / "t"))
    hgr("context", "set", "lab", "--ca-file", str(home / 'odd "name'))
    hgr("context", "set", "lab", "--server", "https://new.example")
    assert written(file)["contexts"]["lab"] == {
        "server": "https://new.example",
        "token_file": str(home / "t"),
        "ca_file": str(home / 'odd "name'),
    }


def test_contexts_are_listed_with_the_current_one_marked(hgr: Hgr) -> None:
    hgr("context", "set", "lab", "--server", "https://lab.example")
    hgr("context", "set", "prod.eu-1", "--server", "https://prod.example")
    assert hgr("context", "use", "prod.eu-1").err == "hgr now speaks to https://prod.example\n"
    assert hgr("context", "ls").out.splitlines() == [
        "CURRENT   NAME        SERVER                 TOKEN",
        "-         lab         https://lab.example    -",
        "*         prod.eu-1   https://prod.example   -",
    ]


def test_current_says_which_hub_and_who_says_so(hgr: Hgr, monkeypatch: pytest.MonkeyPatch) -> None:
    hgr("context", "set", "lab", "--server", "https://lab.example")
    assert hgr("context", "current").out == "server: https://lab.example\nsource: context lab\ntoken: none\n"
    monkeypatch.setenv("HGR_SERVER", "https://env.example")
    monkeypatch.setenv("HGR_TOKEN", "secret")
    assert hgr("context", "current").out == "server: https://env.example\nsource: HGR_SERVER\ntoken: from HGR_TOKEN\n"


def test_a_forgotten_context_is_gone(hgr: Hgr, file: Path) -> None:
    hgr("context", "set", "lab", "--server", "https://lab.example")
    assert "choose another" in hgr("context", "rm", "lab").err
    assert written(file) == {}
    assert hgr("context", "current").code == 2


def test_what_is_not_there_exits_5(hgr: Hgr) -> None:
    hgr("context", "set", "lab", "--server", "https://lab.example")
    for verb in ("use", "rm"):
        ran = hgr("context", verb, "prod")
        assert (ran.code, ran.err) == (5, "error: there is no context 'prod'; known contexts: lab\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lab",), "it needs --server"),
        (("two words", "--server", "https://x"), "cannot be a context's name"),
        (("lab", "--server", "lab.example"), "is not the address of a hub"),
        (("lab", "--server", "https://x", "--token-file", "/nowhere"), "cannot read the token file /nowhere"),
        (("lab", "--server", "https://x", "--token-file", "a", "--token-stdin"), "give one of them"),
        (("lab", "--server", "https://x", "--token-stdin"), "stdin holds no token"),
    ],
)
def test_what_cannot_be_a_context_writes_nothing(
    hgr: Hgr, monkeypatch: pytest.MonkeyPatch, file: Path, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    ran = hgr("context", "set", *words)
    assert ran.code == 2
    assert said in ran.err
    assert not file.exists()


def test_an_address_without_tls_is_warned_about_unless_it_is_this_machine(hgr: Hgr) -> None:
    assert "not https" in hgr("context", "set", "a", "--server", "http://hub.example").err
    assert "not https" not in hgr("context", "set", "b", "--server", "http://127.0.0.1:8420").err


def test_a_file_that_cannot_be_written_is_told(hgr: Hgr, home: Path) -> None:
    (home / "config").write_text("no folder")
    ran = hgr("context", "set", "lab", "--server", "https://lab.example")
    assert ran.code in (1, 2)
    assert str(home / "config") in ran.err


def test_a_linked_file_stays_a_link(hgr: Hgr, file: Path, home: Path) -> None:
    file.parent.mkdir(parents=True)
    (home / "kept.toml").touch(mode=0o600)
    file.symlink_to(home / "kept.toml")
    hgr("context", "set", "lab", "--server", "https://lab.example")
    assert file.is_symlink()
    assert "lab" in written(home / "kept.toml")["contexts"]

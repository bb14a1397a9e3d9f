"""Which hub is meant: the order of the sources, and that no token reaches a server it was not given for."""

import os
from argparse import Namespace
from pathlib import Path

import pytest

from hangar import rendezvous
from hangar.cli.failures import UsageError
from hangar.cli.settings import Endpoint, config_path, load_config, resolve

CONFIG = """
current = "lab"
[contexts.lab]
server = "https://lab.example"
token = "lab-token"
ca_file = "/etc/lab.pem"
[contexts.prod]
server = "https://prod.example"
token_file = "{token_file}"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    token_file = tmp_path / "prod.token"
    token_file.write_text("prod-token\n")
    path = Path(config_path(os.environ))
    path.parent.mkdir(parents=True)
    path.touch(mode=0o600)
    path.write_text(CONFIG.format(token_file=token_file))
    return path


def resolved(
    environ: dict[str, str] | None = None,
    server: str | None = None,
    context: str | None = None,
    token_file: str | None = None,
) -> Endpoint:
    args = Namespace(server=server, context=context, token_file=token_file)
    return resolve(args, {**os.environ, **(environ or {})})


def test_the_current_context_is_used_when_nothing_else_is_said(config: Path) -> None:
    endpoint = resolved()
    assert (endpoint.server, endpoint.token, endpoint.ca_file) == ("https://lab.example", "lab-token", "/etc/lab.pem")
    assert endpoint.source == "context lab"


def test_a_flag_beats_the_environment_and_the_environment_beats_the_file(config: Path) -> None:
    both = {"HGR_SERVER": "https://env.example", "HGR_CONTEXT": "prod"}
    assert resolved(both).server == "https://env.example"
    assert resolved({"HGR_CONTEXT": "prod"}).server == "https://prod.example"
    assert resolved(both, server="https://flag.example").server == "https://flag.example"
    assert resolved(both, context="prod").server == "https://prod.example"


def test_a_contexts_token_is_never_sent_to_another_server(config: Path) -> None:
    assert resolved(server="https://other.example").token is None
    assert resolved({"HGR_SERVER": "https://other.example"}).token is None


def test_a_named_contexts_own_token_is_not_replaced_by_the_environments(config: Path) -> None:
    assert resolved({"HGR_TOKEN": "env-token"}, context="prod").token == "prod-token"
    assert resolved({"HGR_TOKEN": "env-token"}).token == "env-token"


def test_a_token_comes_from_the_flag_then_the_environment(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("from-flag\n")
    (tmp_path / "b").write_text("from-file\n")
    environ = {"HGR_SERVER": "http://127.0.0.1:1", "HGR_TOKEN_FILE": str(tmp_path / "b")}
    assert resolved(environ).token == "from-file"
    assert resolved({**environ, "HGR_TOKEN": "direct"}).token == "direct"
    assert resolved({**environ, "HGR_TOKEN": "direct"}, token_file=str(tmp_path / "a")).token == "from-flag"


def test_two_flags_that_name_a_hub_are_refused(config: Path) -> None:
    with pytest.raises(UsageError, match="give one of them"):
        resolved(server="https://a.example", context="prod")


def test_an_unknown_context_names_the_known_ones(config: Path) -> None:
    with pytest.raises(UsageError, match="known contexts: lab, prod"):
        resolved(context="pord")


def test_a_running_demo_is_found_without_any_setting(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text("demo-token")
    demo = rendezvous.Demo("http://127.0.0.1:8420", str(token_file), os.getpid())
    rendezvous.publish(os.environ, demo)
    endpoint = resolved()
    assert (endpoint.server, endpoint.token, endpoint.source) == (demo.server, "demo-token", "the running demo")


def test_a_setting_beats_the_running_demo(config: Path) -> None:
    rendezvous.publish(os.environ, rendezvous.Demo("http://127.0.0.1:8420", "/nowhere", os.getpid()))
    assert resolved().server == "https://lab.example"


def test_without_any_hub_the_ways_to_name_one_are_told() -> None:
    with pytest.raises(UsageError) as raised:
        resolved()
    assert any("hangar-demo" in hint for hint in raised.value.hints)


@pytest.mark.parametrize("content", [b"", b"two words", b"caf\xc3\xa9", b"a\x00b", b"\xff\xfe"])
def test_a_file_that_holds_no_token_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(UsageError, match="holds no token"):
        resolved({"HGR_SERVER": "http://127.0.0.1:1", "HGR_TOKEN_FILE": str(tmp_path / "token")})


def test_a_token_file_that_is_not_there_is_named_with_who_asked_for_it() -> None:
    with pytest.raises(UsageError, match=r"/nowhere \(HGR_TOKEN_FILE\): No such file"):
        resolved({"HGR_SERVER": "http://127.0.0.1:1", "HGR_TOKEN_FILE": "/nowhere"})


def test_a_configuration_that_others_can_read_is_warned_about(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.chmod(0o644)
    load_config(os.environ)
    assert f"chmod 600 {config}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("current = ", "not valid TOML"),
        ("current = 3", "`current` a string"),
        ("[contexts.a]\ntoken = 'x'", "contexts.a needs `server`"),
        ("[contexts.a]\nserver = 3", "contexts.a needs `server`"),
        ("contexts = 3", "`contexts` must be a table"),
    ],
)
def test_a_broken_configuration_is_named_with_its_place(config: Path, content: str, complaint: str) -> None:
    config.write_text(content)
    with pytest.raises(UsageError, match=complaint) as raised:
        load_config(os.environ)
    assert str(config) in raised.value.message


def test_a_configuration_that_is_no_file_is_told(config: Path) -> None:
    config.unlink()
    config.mkdir()
    with pytest.raises(UsageError, match="Is a directory"):
        load_config(os.environ)

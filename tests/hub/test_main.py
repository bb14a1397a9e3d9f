"""hangar-server: what it takes, what it refuses, and the whole process once."""

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hangar.hub.__main__ import main
from hangar.hub.store.lockfile import locked
from hangar.hub.store.store import Store
from hangar.hub.usecases.fleet import list_clusters
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.tokens import digest, find_token
from tests.databases import Databases

SOURCES = str(Path(__file__).parents[2] / "src")


def test_a_token_is_printed_once_and_kept_as_a_digest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hub.db"
    made = ["token", "create", "--db", str(path), "--role", "operator", "--name", "iad-1-operator"]
    assert main([*made, "--cluster", "iad-1", "--expires", "90d"]) == 0
    secret = capsys.readouterr().out.strip()
    assert secret.startswith("hgr_")
    assert secret.encode() not in path.read_bytes()
    store = Store.open(path)
    found = store.read(lambda connection: find_token(connection, digest(secret)))
    assert found is not None
    assert (found.principal.name, found.principal.cluster) == ("iad-1-operator", "iad-1")
    assert found.expires_us is not None
    clusters = store.read(lambda connection: list_clusters(connection, PageRequest())).items
    assert [each.name for each in clusters] == ["iad-1"]
    store.close()


def test_a_token_is_made_beside_a_running_hub(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "hub.db"
    with locked(path):
        store = Store.open(path)
        assert main(["token", "create", "--db", str(path), "--role", "admin", "--name", "admin"]) == 0
        secret = capsys.readouterr().out.strip()
        assert store.read(lambda connection: find_token(connection, digest(secret))) is not None
        store.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--role", "operator", "--name", "x"], "cluster: is missing"),
        (["--role", "viewer", "--name", "x", "--cluster", "iad-1"], "belongs to operators' tokens"),
        (["--role", "viewer", "--name", "a b"], "name: must be letters"),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["token", "create", "--db", str(tmp_path / "hub.db"), *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--listen", "0.0.0.0:8443"], 2, "0.0.0.0:8443 is not loopback"),
        (["--listen", "hub.example:8443"], 2, "--insecure-plain-http"),
        (["--listen", "8443"], 2, "give ADDRESS:PORT"),
        (["--listen", "127.0.0.1:99999"], 2, "give ADDRESS:PORT"),
        (["--tls-cert", "hub.crt"], 2, "belong together"),
        (["--log-format", "xml"], 2, "HANGAR_LOG_FORMAT must be 'json' or 'console'"),
        (["--db", "mysql://hub"], 2, "sqlite:///PATH"),
        (["--db", "postgresql://hub@127.0.0.1:1/hub"], 1, "no connection that takes writes (connection"),
        (["--db", "/nowhere/hub.db"], 1, "No such file or directory"),
        (["--tls-cert", "/nowhere/a", "--tls-key", "/nowhere/b"], 2, "there is no file /nowhere/a"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hangar.hub.__main__.configure_logs", lambda _form, _level: None)
    assert main(["serve", *arguments]) == code
    assert words in capsys.readouterr().err


def test_times_that_would_hand_a_cluster_over_too_early_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANGAR_HAND_OVER_AFTER_S", "12")
    assert main(["serve"]) == 2
    assert "lease_s must be shorter than hand_over_after_s" in capsys.readouterr().err


def test_a_second_hub_on_one_database_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hangar.hub.__main__.configure_logs", lambda _form, _level: None)
    path = tmp_path / "hub.db"
    with locked(path):
        assert main(["serve", "--db", str(path)]) == 1
    assert "in use by process" in capsys.readouterr().err


def test_a_token_is_made_on_a_server_whether_or_not_a_hub_runs(
    postgres: Databases, capsys: pytest.CaptureFixture[str]
) -> None:
    url = postgres.create()
    db = url.render_as_string(hide_password=False)
    for _ in range(2):  # into an empty database, and beside what is there
        assert main(["token", "create", "--db", db, "--role", "admin", "--name", "admin"]) == 0
    secret = capsys.readouterr().out.split()[-1]
    store = Store.open(url)
    assert store.read(lambda connection: find_token(connection, digest(secret))) is not None
    store.close()


def test_a_restored_database_is_taken_up_before_or_beside_a_hub(
    tmp_path: Path, postgres: Databases, capsys: pytest.CaptureFixture[str]
) -> None:
    path, url = tmp_path / "hub.db", postgres.empty()
    for place in (path, url):
        store = Store.open(place)
        before = store.position()
        assert main(["restored", "--db", str(place)]) == 0
        after = store.position()
        assert after.incarnation != before.incarnation
        assert f"from revision {after.rev}" in capsys.readouterr().out
        store.close()


def the_process(db: str, command: list[str], *words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": SOURCES, "HANGAR_LOG_FORMAT": "json", "HANGAR_DB": db}
    return subprocess.Popen(
        [*command, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("kind", ["file", "postgresql"])
def test_the_whole_process_serves_and_stops_when_it_is_told(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    databases: Databases | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    db = str(tmp_path / "hub.db") if databases is None else str(databases.create())
    command = [sys.executable, "-m", "hangar.hub"]
    with the_process(db, command, "token", "create", "--role", "admin", "--name", "admin") as creating:
        secret = creating.communicate()[0].strip()
    with the_process(db, command, "serve", "--listen", "127.0.0.1:0") as hub:
        assert hub.stderr is not None
        serving = json.loads(next(line for line in hub.stderr if '"serving"' in line))
        port = int(serving["address"].rpartition(":")[2])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/v1/nodes", headers={"Authorization": f"Bearer {secret}"})
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["items"]) == (200, [])
        hub.send_signal(signal.SIGTERM)
        assert hub.wait(10) == 0
        assert "Traceback" not in hub.stderr.read()
        connection.close()
    if kind == "file":
        assert json.loads((tmp_path / "hub.db.mark").read_text())["rev"] == 1

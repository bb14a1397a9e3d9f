"""Fixtures: a scripted hub, and hgr run in this process with nothing of the machine's own settings."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest

from hangar.cli import http, wait
from hangar.cli.__main__ import main
from tests.cli.scripted import ScriptedHub


@dataclass(frozen=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str


class Hgr(Protocol):
    """Runs hgr with words."""

    def __call__(self, *words: str) -> Ran:
        """Return what came of it."""


@pytest.fixture
def hub() -> Iterator[ScriptedHub]:
    """Return a hub that answers by script."""
    scripted = ScriptedHub()
    yield scripted
    scripted.close()


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return an empty home; no setting of the machine reaches a test."""
    for name in ("HGR_SERVER", "HGR_TOKEN", "HGR_TOKEN_FILE", "HGR_CONTEXT", "HGR_CA_FILE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    return tmp_path


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the number of tries, drop the time between them."""
    monkeypatch.setattr(http, "RETRY_PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(wait, "PAUSES_S", (0.0,))
    monkeypatch.setattr(wait, "POLL_SHORTEST_S", 0.0)


@pytest.fixture
def time_flies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second go by whenever a wait looks at the clock."""
    monkeypatch.setattr(wait, "Waiting", partial(wait.Waiting, clock=count().__next__))


@pytest.fixture
def hgr(hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hgr:
    """Return a runner of hgr that speaks to the scripted hub."""
    monkeypatch.setenv("HGR_SERVER", hub.url)
    monkeypatch.setenv("HGR_TOKEN", "hgr_secret")

    def run(*words: str) -> Ran:
        capsys.readouterr()
        code = main(words)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run

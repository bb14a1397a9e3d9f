"""The note that a demo leaves: found by its owner alone, trusted only if nobody else could have written it."""

import os
from pathlib import Path

import pytest

from hangar import rendezvous
from hangar.rendezvous import Demo

A_DEMO = Demo("http://127.0.0.1:8420", "/run/token", os.getpid())


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(tmp_path)}


def published(environ: dict[str, str], demo: Demo = A_DEMO) -> Path:
    return Path(rendezvous.publish(environ, demo))


def test_what_was_published_is_found(environ: dict[str, str]) -> None:
    path = published(environ)
    found = rendezvous.find(environ)
    assert found is not None
    assert (found.server, found.token_file, found.pid) == (A_DEMO.server, A_DEMO.token_file, A_DEMO.pid)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["demo.json"]


def test_nothing_is_found_where_nothing_was_published(environ: dict[str, str]) -> None:
    assert rendezvous.find(environ) is None


def test_without_a_run_time_folder_it_is_in_tmp_under_the_users_number() -> None:
    assert rendezvous.folder({}) == f"/tmp/hangar-demo-{os.getuid()}"
    assert rendezvous.folder({"XDG_RUNTIME_DIR": "relative"}) == rendezvous.folder({})


@pytest.mark.parametrize("pid", [0, -1, 2**31 - 1, 2**70])
def test_a_demo_whose_process_is_gone_is_not_found(environ: dict[str, str], pid: int) -> None:
    published(environ, Demo(A_DEMO.server, A_DEMO.token_file, pid))
    assert rendezvous.find(environ) is None


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_can_enter_is_not_trusted(environ: dict[str, str], mode: int) -> None:
    published(environ).parent.chmod(mode)
    assert rendezvous.find(environ) is None
    with pytest.raises(PermissionError, match="remove it"):
        published(environ)


def test_a_note_that_others_can_read_is_not_trusted(environ: dict[str, str]) -> None:
    published(environ).chmod(0o640)
    assert rendezvous.find(environ) is None


def test_a_link_is_not_followed(environ: dict[str, str]) -> None:
    path = published(environ)
    path.rename(path.with_name("elsewhere.json"))
    path.symlink_to(path.with_name("elsewhere.json"))
    assert rendezvous.find(environ) is None


@pytest.mark.parametrize(
    "note",
    [
        "",
        "[]",
        "{}",
        '{"server": 1, "token_file": "x", "pid": 1}',
        '{"server": "http://elsewhere.example", "token_file": "x", "pid": %d}',
    ],
)
def test_a_note_that_is_none_of_ours_is_not_found(environ: dict[str, str], note: str) -> None:
    published(environ).write_text(note.replace("%d", str(os.getpid())))
    assert rendezvous.find(environ) is None


def test_a_demo_withdraws_its_own_note_and_no_other(environ: dict[str, str]) -> None:
    path = published(environ)
    rendezvous.withdraw(environ, os.getpid() + 1)
    assert path.exists()
    rendezvous.withdraw(environ, os.getpid())
    assert not path.exists()
    rendezvous.withdraw(environ, os.getpid())

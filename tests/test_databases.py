"""The PostgreSQL server of tests: there when the first needs it, gone with the last, told of when it cannot be."""

from pathlib import Path

import pytest

from testbed import postgres
from testbed.postgres import PostgresError, programs, server


def test_without_the_programs_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(postgres, "INSTALLED", f"{tmp_path}/*/bin")
    with pytest.raises(PostgresError, match="apt-get install postgresql"):
        programs()
    with pytest.raises(PostgresError):
        server(tmp_path / "postgres")


def test_the_newest_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(postgres, "INSTALLED", f"{tmp_path}/*/bin")
    for version in ("14", "16", "9"):
        (tmp_path / version / "bin").mkdir(parents=True)
        for program in postgres.PROGRAMS:
            (tmp_path / version / "bin" / program).touch()
    assert programs() == tmp_path / "16" / "bin"


def test_a_server_is_shared_and_ends_with_its_last_user(tmp_path: Path) -> None:
    first = server(tmp_path / "postgres")
    second = server(tmp_path / "postgres")
    assert first.folder == second.folder
    first.leave()
    again = server(tmp_path / "postgres")
    assert again.folder == second.folder
    for each in (again, second):
        each.leave()
    while first.folder.exists():
        pass
    third = server(tmp_path / "postgres")
    assert third.folder != first.folder
    third.leave()

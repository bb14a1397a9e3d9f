"""Fixtures: one demo fleet for all transcripts of a test process, and a shell without one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transcripts.demo import Shell, running_demo


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The second shell beside a running demo; tests share it, so each has nodes of its own."""
    with running_demo(tmp_path_factory.mktemp("home")) as shell:
        yield shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell with no demo running."""
    return Shell(tmp_path)

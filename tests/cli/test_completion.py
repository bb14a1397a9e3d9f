"""hgr completion: the scripts of the shells, each read by its shell."""

import shutil
import subprocess

import pytest

from hangar.cli.completion import SHELLS
from tests.cli.conftest import Hgr

PATIENCE_S = 30


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_for_each_shell(hgr: Hgr, shell: str) -> None:
    ran = hgr("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert "_ARGCOMPLETE" in ran.out
    assert "hgr" in ran.out


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_takes_its_script(hgr: Hgr, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = hgr("completion", shell).out
    ran = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_bash_offers_no_files_where_no_name_fits(hgr: Hgr) -> None:
    assert "-o default" not in hgr("completion", "bash").out


def test_another_shell_is_refused(hgr: Hgr) -> None:
    ran = hgr("completion", "csh")
    assert (ran.code, ran.out) == (2, "")
    assert "invalid choice: 'csh'" in ran.err

"""What may import what: the contracts are kept, and each of them bites when a violation is planted."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.tidy.tree import ROOT

PLANTED = {
    "layers": ("hub/planted.py", "from hangar.cli import nouns"),
    "kinds": ("kinds/planted.py", "from hangar.kinds import node_drain"),
    "pure": ("domain/planted.py", "import random"),
    "kubernetes-client": ("hub/planted_too.py", "import lightkube"),
    "adapters": ("hub/planted_three.py", "from hangar.operator.cluster import simulated"),
    "light-cli": ("cli/planted.py", "from hangar.wire import shown"),
}
"""By contract: a file, and the import in it that the contract forbids."""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    command = [sys.executable, "-c", program, "--no-cache", "--config", str(folder / ".importlinter")]
    paths = f"{folder / 'src'}"
    return subprocess.run(command, cwd=folder, env={"PYTHONPATH": paths}, capture_output=True, text=True, check=False)


def verdicts(output: str) -> dict[str, str]:
    """Return KEPT or BROKEN by the name of each contract."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    return dict(re.findall(r"^(\S.*?) (KEPT|BROKEN)$", plain, re.MULTILINE))


def contracts() -> dict[str, str]:
    """Return the name of each contract by its id."""
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter")
    prefix = "importlinter:contract:"
    return {each.removeprefix(prefix): config[each]["name"] for each in config.sections() if each.startswith(prefix)}


def a_copy(folder: Path) -> Path:
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", folder)
    return folder


def test_all_contracts_are_kept() -> None:
    ran = lint(ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert verdicts(ran.stdout) == dict.fromkeys(contracts().values(), "KEPT")


def test_each_contract_breaks_when_it_is_violated(tmp_path: Path) -> None:
    assert PLANTED.keys() == contracts().keys()
    folder = a_copy(tmp_path)
    for path, line in PLANTED.values():
        (folder / "src/hangar" / path).write_text(f'"""Planted."""\n\n{line}\n')
    ran = lint(folder)
    assert ran.returncode == 1
    assert verdicts(ran.stdout) == dict.fromkeys(contracts().values(), "BROKEN")


def test_a_package_without_a_layer_is_refused(tmp_path: Path) -> None:
    folder = a_copy(tmp_path)
    (folder / "src/hangar/utils.py").write_text('"""Planted."""\n')
    ran = lint(folder)
    assert ran.returncode == 1
    assert "hangar.utils" in re.sub(r"\s+", " ", ran.stdout + ran.stderr)

"""Running one mutation: a copy of the product with the fix taken out, and the test that must notice."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutations.catalogue import Mutation
from tests.tidy.tree import ROOT

TIMEOUT_S = 300
"""A test takes a second; a fix that is missing may make it go round in circles."""

PASSED, FAILED = 0, 1
"""What pytest exits with."""


def survives(mutation: Mutation) -> bool:
    """Tell whether a test passes although the fix is not there. Raises ValueError where the text is not found once."""
    with TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
        path = sources / "hangar" / mutation.file
        path.write_text(mutated(mutation, path.read_text(encoding="utf-8")), encoding="utf-8")
        outcome = run([mutation.test], sources)
    if outcome not in (PASSED, FAILED):
        raise RuntimeError(f"{mutation.test} did not run with the mutation of {mutation.case}: pytest exits {outcome}")
    return outcome == PASSED


def mutated(mutation: Mutation, text: str) -> str:
    """Return a module's text without the fix. Raises ValueError where what is to be replaced is not there just once."""
    count = text.count(mutation.before)
    if count != 1:
        raise ValueError(f"{mutation.file} has {mutation.before!r} {count} times, not once")
    return text.replace(mutation.before, mutation.after)


def run(tests: Iterable[str], sources: Path) -> int:
    """Run tests on a copy of the product; return what pytest exits with, and FAILED where it does not end."""
    command = [sys.executable, "-m", "pytest", "-x", "-o", f"pythonpath={sources} {ROOT}"]
    command += [f"tests/{each}" for each in tests]
    environment = {**os.environ, "PYTHONPATH": f"{sources}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        return FAILED
    return done.returncode

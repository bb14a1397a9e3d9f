"""The tree that the rules look at: every file that git tracks or would, and the parsed modules among them."""

import ast
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """One Python file: its path below the root, its text, its syntax tree."""

    path: str
    text: str
    syntax: ast.Module

    @property
    def name(self) -> str:
        """Return the dotted name of a module below src."""
        return self.path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def is_product(self) -> bool:
        """Tell whether it is shipped."""
        return self.path.startswith("src/")

    @property
    def is_test(self) -> bool:
        """Tell whether it belongs to the tests."""
        return self.path.startswith("tests/")


def a_module(text: str, path: str = "src/hangar/x.py") -> Module:
    """Return a module made of a text, for the rules' own tests."""
    return Module(path, text, ast.parse(text))


@cache
def texts() -> dict[str, str]:
    """Return the text of every text file, by its path below the root; what git ignores is not looked at."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    found = {}
    for path in sorted(filter(None, listed)):
        content = (ROOT / path).read_bytes() if (ROOT / path).is_file() else b"\0"
        if b"\0" not in content:
            found[path] = content.decode()
    return found


@cache
def modules() -> tuple[Module, ...]:
    """Return every Python module, in the order of their paths."""
    return tuple(Module(path, text, ast.parse(text, path)) for path, text in texts().items() if path.endswith(".py"))

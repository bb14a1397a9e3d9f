"""The commands of the user's manual, read out of its code blocks exactly as they stand there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MANUAL = ROOT / "docs" / "manual.md"

_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> tuple[str, ...]:
    """Return every command of the manual in its order; one over several lines keeps its line ends."""
    found = []
    for block in _BLOCK.finditer(MANUAL.read_text(encoding="utf-8")):
        if not block["language"]:  # others hold JSON and YAML
            found += re.split(r"(?<!\\)\n", block["text"].rstrip("\n"))
    return tuple(found)

"""The documents as the tests read them: their code blocks, headings and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.tidy.tree import ROOT, texts

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """One fenced block of code, and on which line of which page it begins."""

    page: str
    line: int
    language: str
    body: str


def pages() -> dict[str, str]:
    """Return the text of every Markdown file, by its path below the root."""
    return {path: text for path, text in texts().items() if path.endswith(".md")}


def blocks(page: str, text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found["language"], found["body"])


def prose(text: str) -> str:
    """Return a page without its fenced blocks."""
    return FENCE.sub("", text)


def anchors(text: str) -> set[str]:
    """Return what may follow a `#` in a link to a page: its headings, as they are made into names."""
    found: set[str] = set()
    for heading in HEADING.findall(prose(text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        number = 1
        while (anchor := name if number == 1 else f"{name}-{number - 1}") in found:
            number += 1
        found.add(anchor)
    return found


def read(page: str) -> str:
    """Return the text of one page."""
    return (Path(ROOT) / page).read_text(encoding="utf-8")

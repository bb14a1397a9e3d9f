"""Markdown, as the reference's pages are made of."""

from collections.abc import Iterable, Sequence


def page(title: str, *parts: str) -> str:
    """Return a page: its title, a note that nobody should edit it, its parts."""
    note = "*Written by `make docs` from the code; do not edit.*"
    return "\n\n".join([f"# {title}", note, *(part.strip("\n") for part in parts)]) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def code(text: object) -> str:
    """Return a text as code; an empty one as nothing."""
    return f"`{text}`" if str(text) else ""


def codes(texts: Iterable[object]) -> str:
    """Return several texts as code."""
    return ", ".join(map(code, texts))


def sentence(text: str) -> str:
    """Return a docstring's or help's text on one line, as a sentence."""
    line = " ".join(text.split())
    return line[:1].upper() + line[1:] + ("" if line.endswith((".", ":", "…")) else ".")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""Rules on the text of every tracked file: what must not stand there, whatever the file is."""

import re
from collections.abc import Iterable, Mapping, Sequence

from tests.tidy.finding import Finding, Rule
from tests.tidy.tree import Module, texts

OURSELVES = "tests/tidy/"
"""The rules' own files name what they look for."""

PROMISES = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

PLACES = {
    "a path of one machine": re.compile(r"(?<![\w.$}~-])/(root|work|home/\w+)/|(?<![\w.])/Users/"),
    "a registry's host": re.compile(
        # One letter of each in brackets: the rule itself names none.
        r"\b([p]ypi\.org|[p]ythonhosted\.org|(proxy|sum)\.[g]olang\.org|[c]rates\.io|registry\.[n]pmjs\.org"
        r"|[n]pmjs\.com|repo1?\.[m]aven\.org|deb\.[d]ebian\.org)\b"
    ),
    "a package index": re.compile(r"(?<!no-emit-)\b(extra-)?index[-_]url\b|\bGOPROXY=|\bregistry *= *[\"']?https?:"),
}


def promises(files: Mapping[str, str]) -> Iterable[Finding]:
    """Find notes about what is still to be done."""
    for path, number, line in _lines(files):
        if PROMISES.search(line):
            yield Finding(path, number, f"it leaves something undone: {line.strip()}", path)


def places(files: Mapping[str, str]) -> Iterable[Finding]:
    """Find what is true of one machine only."""
    for path, number, line in _lines(files):
        for what, pattern in PLACES.items():
            if found := pattern.search(line):
                yield Finding(path, number, f"it names {what}: {found[0]}", path)


def _lines(files: Mapping[str, str]) -> Iterable[tuple[str, int, str]]:
    for path, text in files.items():
        if not path.startswith(OURSELVES):
            for number, line in enumerate(text.splitlines(), start=1):
                yield path, number, line


def _in_promises(_modules: Sequence[Module]) -> Iterable[Finding]:
    return promises(texts())


def _in_places(_modules: Sequence[Module]) -> Iterable[Finding]:
    return places(texts())


RULES = (
    Rule(
        "todo", "what is not done is not in the tree; a note about it is read by nobody who could do it", _in_promises
    ),
    Rule(
        "place", "the tree is the same on every machine: paths and hosts of one of them break on all others", _in_places
    ),
)

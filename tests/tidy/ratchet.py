"""The ratchet: today's exceptions to the rules, which may only become fewer and smaller."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.tidy.finding import Finding
from tests.tidy.tree import ROOT

PATH = "tests/tidy/ratchet.toml"
HEAD = """\
# Today's exceptions to the rules of tests/tidy. They may only become fewer and smaller: what is not needed any more
# fails the test, and `python -m tests.tidy` takes it out. A number is how much is allowed, a text why a pattern is."""

Exceptions = Mapping[str, int | str]
"""By key: how much is allowed; or, where the key is a pattern, the reason why all that it matches is."""


@dataclass(frozen=True)
class Verdict:
    """What is left of a rule's findings: the breaches, and the exceptions that have to go."""

    breaches: tuple[str, ...]
    outlived: tuple[str, ...]


def load() -> Mapping[str, Exceptions]:
    """Return the exceptions of each rule."""
    return tomllib.loads((ROOT / PATH).read_text())


def judge(findings: Iterable[Finding], exceptions: Exceptions) -> Verdict:
    """Return what the exceptions do not cover, and what of them is not needed any more."""
    by_key: dict[str, list[Finding]] = {}
    for finding in findings:
        by_key.setdefault(finding.key, []).append(finding)
    breaches, used = [], set()
    for key, found in by_key.items():
        pattern = next((each for each in exceptions if _is_pattern(exceptions, each) and fnmatchcase(key, each)), None)
        allowed = exceptions.get(key, 0)
        if pattern is not None:
            used.add(pattern)
        elif not isinstance(allowed, int) or sum(each.amount for each in found) > allowed:
            breaches += [str(each) for each in found]
            used.add(key)
    return Verdict(tuple(breaches), tuple(_outlived(by_key, exceptions, used)))


def _outlived(by_key: Mapping[str, list[Finding]], exceptions: Exceptions, used: set[str]) -> Iterable[str]:
    for key, allowed in exceptions.items():
        amount = sum(each.amount for each in by_key.get(key, []))
        if key in used:
            continue
        if not isinstance(allowed, int) or amount == 0:
            yield f"{key}: nothing needs it any more; remove it"
        elif amount < allowed:
            yield f"{key}: lower it from {allowed} to {amount}"


def _is_pattern(exceptions: Exceptions, key: str) -> bool:
    return isinstance(exceptions[key], str)

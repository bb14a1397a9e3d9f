"""What a rule finds: where, what, and how much of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.tidy.tree import Module


@dataclass(frozen=True)
class Finding:
    """One breach. `key` is what the ratchet knows it by; findings of one key are added up."""

    path: str
    line: int
    what: str
    key: str
    amount: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True)
class Rule:
    """One rule: its name in the ratchet, why it is there, and what finds its breaches in all modules."""

    name: str
    reason: str
    find: Callable[[Sequence[Module]], Iterable[Finding]]


def each_module(find: Callable[[Module], Iterable[Finding]]) -> Callable[[Sequence[Module]], Iterable[Finding]]:
    """Return the search of all modules, for a search that looks at one at a time."""
    return lambda modules: [finding for module in modules for finding in find(module)]

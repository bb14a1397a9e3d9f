"""The diagram of an operation's phases, drawn from the table of moves."""

import re
from collections.abc import Mapping

from hangar.domain.operation import TERMINAL, TRANSITIONS, Phase

PAGE = "docs/explanation/operations-and-events.md"
MARK = "<!-- drawn by `make docs` -->"
BLOCK = re.compile(re.escape(MARK) + r"\n```mermaid\n.*?```", re.DOTALL)


def diagram(transitions: Mapping[Phase, frozenset[Phase]] = TRANSITIONS) -> str:
    """Return the diagram in mermaid's language."""
    lines = ["stateDiagram-v2", f"    [*] --> {Phase.PENDING.value}"]
    for before in Phase:
        lines += [f"    {before.value} --> {after.value}" for after in Phase if after in transitions[before]]
    lines += [f"    {phase.value} --> [*]" for phase in Phase if phase in TERMINAL]
    return "\n".join(lines) + "\n"


def drawn_in(text: str) -> str:
    """Return a page with the diagram as it is today. Raises ValueError where there is no place for it."""
    drawn, count = BLOCK.subn(f"{MARK}\n```mermaid\n{diagram()}```", text)
    if count != 1:
        raise ValueError(f"the page has {count} places for the diagram, and needs one: {MARK}")
    return drawn

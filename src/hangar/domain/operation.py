"""The life of an operation: its phases, and the one table of moves between them."""

from collections.abc import Mapping
from enum import StrEnum


class Phase(StrEnum):
    """Where an operation is; the set is closed."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


TRANSITIONS: Mapping[Phase, frozenset[Phase]] = {
    # Pending fails when no operator took it in time, or when it was refused by the operator itself.
    Phase.PENDING: frozenset({Phase.RUNNING, Phase.FAILED, Phase.CANCELLED}),
    Phase.RUNNING: frozenset({Phase.SUCCEEDED, Phase.FAILED, Phase.CANCELLED}),
    Phase.SUCCEEDED: frozenset(),
    Phase.FAILED: frozenset(),
    Phase.CANCELLED: frozenset(),
}

TERMINAL = frozenset(phase for phase, following in TRANSITIONS.items() if not following)
OPEN = frozenset(TRANSITIONS) - TERMINAL


class IllegalTransitionError(Exception):
    """A move that TRANSITIONS does not have: a bug of the caller."""


def check_transition(before: Phase, after: Phase) -> None:
    """Raise IllegalTransitionError unless an operation may move from `before` to `after`."""
    if after not in TRANSITIONS[before]:
        raise IllegalTransitionError(f"an operation that is {before} cannot become {after}")

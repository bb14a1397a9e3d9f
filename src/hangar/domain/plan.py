"""Plan: what an operation would do if it began now, and what would stand in its way; it is never a promise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import NO_AMOUNTS


class Fits(StrEnum):
    """Whether there is room elsewhere: for one pod, or for all that a drain moves."""

    YES = "fits"
    NO = "does_not_fit"  # certain, as the cluster is now
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """One pod that would be evicted. `node` is a node that has room for it; the scheduler may choose another.

    `group` names the group that restarts as a whole with it, such as `leaderworkerset default/llama group 0 (4 pods)`.
    `why` says what is in the way, or why it is not known. `component` is that of the graph it is a part of, and
    `workload` what that graph serves; None where it is of none.
    """

    pod: str
    owner: str | None
    fits: Fits
    node: NodeName | None = None
    group: str | None = None
    requests: Mapping[str, int] = field(default_factory=lambda: NO_AMOUNTS)
    why: str | None = None
    workload: str | None = None
    component: str | None = None


@dataclass(frozen=True, slots=True)
class LeftPod:
    """One pod of the node that would not be evicted, and why."""

    pod: str
    why: str


@dataclass(frozen=True, slots=True)
class PlannedBudget:
    """One budget that paces the drain: `pods` of the node under it, `allowed` now.

    So it takes at least `steps`, one after another. `message` says in words and numbers how the budget stands.
    """

    budget: str
    pods: int
    allowed: int
    steps: int
    message: str


@dataclass(frozen=True, slots=True)
class PlannedLoss:
    """One owner of pods that move: `ready` now, `moving` off this node, `lowest` that it may fall to on the way."""

    owner: str
    ready: int
    moving: int
    lowest: int


@dataclass(frozen=True, slots=True)
class Obstruction:
    """What would make the operation fail before it moved anything: the code and message it would fail with."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What would happen. `expected_duration_s` is None where nothing is known to reckon with; `basis` says with what.

    `obstructions` are empty where the operation would begin. `message` says it all in one line.
    """

    message: str
    fits: Fits
    moves: tuple[PlannedMove, ...] = ()
    skipped: tuple[LeftPod, ...] = ()
    obstructions: tuple[Obstruction, ...] = ()
    warnings: tuple[str, ...] = ()
    budgets: tuple[PlannedBudget, ...] = ()
    losses: tuple[PlannedLoss, ...] = ()
    expected_duration_s: int | None = None
    basis: str = ""

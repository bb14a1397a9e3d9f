"""What users see of an operation that is only foreseen, in JSON: as in `shown`, the API's promise."""

from dataclasses import dataclass

from hangar.wire.operator import JsonObject
from hangar.wire.shown import Rival


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMove:
    """One pod that would be evicted. `fits`: fits, does_not_fit or unknown; `node` is one that has room for it.

    `group` names the group of pods that restarts as a whole with it; `why` what is in the way, or not known.
    `workload` and `component` are what it is a replica of, null where it is of none.
    """

    pod: str
    owner: str | None
    fits: str
    node: str | None
    group: str | None
    requests: dict[str, int]
    why: str | None
    workload: str | None = None
    component: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftPod:
    """One pod of the node that would be left where it is, and why."""

    pod: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBudget:
    """One budget that paces the drain: `pods` under it, `allowed` at once now, so at least `steps` in a row."""

    budget: str
    pods: int
    allowed: int
    steps: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLoss:
    """What a workload loses on the way: `ready` now, `moving` off the node, `lowest` that it may fall to."""

    owner: str
    ready: int
    moving: int
    lowest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstruction:
    """What would make the operation fail before it moved anything."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an operation would do if it began now: nothing was changed for it, and it is no promise.

    `fits`: fits, does_not_fit or unknown. `obstructions` are empty where it would begin. `expected_duration_s` is
    null where nothing is known to reckon with; `basis` says what it was reckoned from.
    """

    type: str
    target: str
    cluster: str
    params: JsonObject
    message: str
    fits: str
    moves: list[PlannedMove]
    skipped: list[LeftPod]
    obstructions: list[Obstruction]
    warnings: list[str]
    budgets: list[PlannedBudget]
    losses: list[PlannedLoss]
    expected_duration_s: int | None
    basis: str
    planned_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDeployment:
    """What would become of a deployment: its number `before` and `after`, and how many of it are `ready` now.

    `room` is at most how many replicas more the cluster could run, null where that cannot be told; of an offline
    cluster it and `ready` are as of `last_seen_at`.
    """

    cluster: str
    namespace: str
    graph: str
    before: int
    after: int
    ready: int
    room: int | None
    online: bool
    last_seen_at: str | None
    rivals: list[Rival]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """What an operation on a workload would do if it began now: nothing was changed for it, and it is no promise.

    `cluster` is set for those that are about one. `obstructions` are empty where it would begin.
    """

    type: str
    target: str
    cluster: str | None
    params: JsonObject
    message: str
    deployments: list[PlannedDeployment]
    obstructions: list[Obstruction]
    warnings: list[str]
    planned_at: str

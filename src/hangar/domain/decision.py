"""What a kind decides: the steps it wants taken, what it waits for, or how the operation ends.

The vocabulary of effects is closed: nine steps, and the answers a cluster can give to them. Every
wait names its blocker as a value; sentences are made of them where people read them, and are never
read back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar

from hangar.domain.ids import NodeName, NodeUid, OperationId, WorkloadName
from hangar.domain.operation import Phase
from hangar.domain.snapshot import CordonMark, PodRef
from hangar.domain.workloads.graph import Document, GraphRef

M = TypeVar("M")

# --- steps: all that Wingsmith ever does to a cluster -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cordon:
    """Mark a node unschedulable, and say in its annotation whose mark that is."""

    node: NodeName
    uid: NodeUid
    mark: CordonMark


@dataclass(frozen=True, slots=True)
class Uncordon:
    """Make a node schedulable again and remove our annotation; with `held_by`, only while the cordon is that one's."""

    node: NodeName
    uid: NodeUid
    held_by: OperationId | None = None


@dataclass(frozen=True, slots=True)
class Unmark:
    """Remove our annotation from a node that somebody else has made schedulable again."""

    node: NodeName
    uid: NodeUid


@dataclass(frozen=True, slots=True)
class Evict:
    """Ask the eviction API to end one pod, by its UID; `grace_s` None means the pod's own grace period."""

    pod: PodRef
    grace_s: int | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete one pod by its UID, past its budgets: what `force` allows.

    `grace_s` is at least 1, so that its name is free only once it has ended; 0 only where somebody vouches that its
    node is down, since then nothing there could confirm the end.
    """

    pod: PodRef
    grace_s: int


@dataclass(frozen=True, slots=True)
class Apply:
    """Write the counts of a graph's components, together with the revision of what is desired, in one patch.

    `version` is what the graph was read at: where it has changed since, the write is refused as a conflict. `rev` None
    leaves the revision as it is: where adapters are to be scaled too, it is written last. A component behind an
    adapter is never among the counts.
    """

    graph: GraphRef
    uid: str
    version: str
    rev: int | None
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scale:
    """Write the number of one component to its scaling adapter, `uid` and `version` being the adapter's."""

    graph: GraphRef
    component: str
    adapter: str
    uid: str
    version: str
    replicas: int


@dataclass(frozen=True, slots=True)
class Create:
    """Create a graph from a template, with these counts, the revision, and the mark that it is ours."""

    graph: GraphRef
    rev: int
    counts: Mapping[str, int]
    workload: WorkloadName
    template: Document


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete a graph that is ours, by its UID."""

    graph: GraphRef
    uid: str


Step: TypeAlias = Cordon | Uncordon | Unmark | Evict | Delete | Apply | Scale | Create | Remove


def subject(step: Step) -> str:
    """Return the UID of what a step acts on; the name of what is to be created."""
    match step:
        case Evict(pod=pod) | Delete(pod=pod):
            return pod.uid
        case Cordon() | Uncordon() | Unmark() | Apply() | Scale() | Remove():
            return step.uid
        case Create():
            return str(step.graph)


# --- answers: all that a cluster can say to a step --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accepted:
    """Done, or begun: an accepted eviction has started the pod's deletion."""


@dataclass(frozen=True, slots=True)
class Gone:
    """There is no such object any more."""


@dataclass(frozen=True, slots=True)
class Namesake:
    """The name belongs to another object by now; the one that was meant is gone."""


@dataclass(frozen=True, slots=True)
class BudgetFull:
    """A disruption budget forbids it now. `retry_after_s` is set where the budget's count was only behind."""

    message: str
    retry_after_s: float | None = None


class Trouble(StrEnum):
    """Why a cluster could not take a step now."""

    CONFLICT = "conflict"  # the object changed under the request
    THROTTLED = "throttled"  # the API server's own flow control
    NAMESPACE_TERMINATING = "namespace_terminating"  # the pod goes with its namespace
    WEBHOOK = "webhook"  # an admission webhook could not be called, or said: not now
    CREDENTIALS = "credentials"  # ours have expired, and are being renewed
    BUDGET_CONTROLLER = "budget_controller"  # the budget's own controller lags behind
    UNAVAILABLE = "unavailable"  # the API server, or what stands before it


@dataclass(frozen=True, slots=True)
class Busy:
    """The cluster could not take it now, for a reason that passes."""

    message: str
    retry_after_s: float | None = None
    trouble: Trouble = Trouble.UNAVAILABLE


@dataclass(frozen=True, slots=True)
class Denied:
    """Refused by RBAC or a webhook, or not a valid request: asking again changes nothing by itself.

    `by_webhook`: some webhooks refuse an eviction and move the pod themselves.
    """

    message: str
    by_webhook: bool = False


@dataclass(frozen=True, slots=True)
class SeveralBudgets:
    """More than one budget guards the pod, which the eviction API cannot handle."""

    message: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Sent, and no answer that tells what became of it: it may still land."""

    message: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """Not sent: the gate was closed by the time there was a connection to send it on."""

    message: str


Answer: TypeAlias = Accepted | Gone | Namesake | BudgetFull | Busy | Denied | SeveralBudgets | Unknown | Withheld


@dataclass(frozen=True, slots=True)
class Answered:
    """The last answer to a step. `tries` counts the answers in a row that settled nothing."""

    answer: Answer
    at: datetime
    tries: int = 1


# --- decisions --------------------------------------------------------------------------------------------------------

NO_FACTS: Mapping[str, "Fact"] = MappingProxyType({})
Rows: TypeAlias = list[dict[str, str | int | None]]
Fact: TypeAlias = str | int | float | bool | list[str] | Rows | None


@dataclass(frozen=True, slots=True)
class Blocker:
    """Why an operation waits: a stable code, the subject that holds it up, and the facts in figures.

    Codes and their sentences are in `hangar.domain.blockers`.
    """

    code: str
    subject: str
    facts: Mapping[str, Fact] = field(default_factory=lambda: NO_FACTS)


@dataclass(frozen=True, slots=True)
class Fail:
    """Why something cannot be done: a stable code and one line for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an operation is: `done` of `total` units, and what it is doing in one line."""

    done: int
    total: int
    unit: str
    message: str
    blockers: tuple[Blocker, ...] = ()


@dataclass(frozen=True, slots=True)
class Go(Generic[M]):
    """Take these steps (perhaps none) and decide again on the next event, or at `recheck_at` at the latest.

    Never are steps, blockers and recheck_at all empty: an operation never waits in silence.
    """

    memory: M
    progress: Progress
    steps: tuple[Step, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    recheck_at: datetime | None = None

    def __post_init__(self) -> None:
        if not (self.steps or self.blockers or self.recheck_at):
            raise ValueError("a decision to go on needs a step, a blocker or a time to look again")


@dataclass(frozen=True, slots=True)
class End(Generic[M]):
    """The operation is over: its terminal phase, a stable code, one line for people, and the details as data."""

    phase: Phase
    code: str
    message: str
    memory: M
    progress: Progress
    details: Mapping[str, Fact] = field(default_factory=lambda: NO_FACTS)

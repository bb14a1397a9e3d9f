"""What a type of operation is: its parameters, what it must not forget, and its pure decision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from hangar.domain.decision import End, Fail, Go, Step
from hangar.domain.ids import NodeName, NodeUid, OperationId
from hangar.domain.plan import Plan
from hangar.domain.view import NO_CLAIMS, Claims, View

P = TypeVar("P")
M = TypeVar("M")

NodeNeed = Literal["cordon", "drain"]


@dataclass(frozen=True, slots=True)
class Job(Generic[P, M]):
    """One open operation, as its operator knows it."""

    id: OperationId
    target: NodeName
    target_uid: NodeUid
    params: P
    memory: M
    actor: str
    reason: str | None
    deadline_at: datetime
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Kind(Generic[P, M]):
    """A type of operation.

    `params` is a frozen dataclass: its fields become the API's schema and the CLI's flags (see `param`).
    `memory` is a frozen dataclass whose defaults are the state before anything was done. `needs` is the member of
    the cluster's allowed set without which it is refused. `claims` tells other operations what an open one of
    this kind holds. `foresee` tells what one would do if it began now, or why there is nothing to foresee.
    """

    name: str
    version: int
    title: str
    needs: NodeNeed
    runs_in: Literal["operator", "hub"]
    params: type[P]
    memory: type[M]
    steps: tuple[type[Step], ...]
    decide: Callable[[Job[P, M], View, datetime], Go[M] | End[M]]
    foresee: Callable[[Job[P, M], View, datetime], Plan | Fail]
    claims: Callable[[Job[P, M]], Claims] = field(default=lambda _job: NO_CLAIMS)


def param(text: str, *, least: int | None = None, most: int | None = None) -> Mapping[str, str | int]:
    """Return a parameter's field metadata: what it means, and its bounds."""
    bounds = {"min": least, "max": most}
    return {"help": text} | {name: bound for name, bound in bounds.items() if bound is not None}

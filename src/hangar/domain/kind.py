"""What a type of operation is: its parameters, what it must not forget, and its pure decision."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Generic, Literal, TypeVar

from hangar.domain.decision import End, Fail, Go, Step
from hangar.domain.ids import NodeName, NodeUid, OperationId
from hangar.domain.plan import Plan
from hangar.domain.view import NO_CLAIMS, Claims, View

P = TypeVar("P")
M = TypeVar("M")

NodeNeed = Literal["cordon", "drain", "force"]


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
    the cluster's allowed set without which it is refused (see `needed`). `claims` tells other operations what an open
    one of this kind holds. `foresee` tells what one would do if it began now, or why there is nothing to foresee.
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


def param(
    text: str, *, least: int | None = None, most: int | None = None, needs: NodeNeed | None = None
) -> Mapping[str, str | int]:
    """Return a parameter's field metadata: what it means, its bounds, and what any but its default needs."""
    given = {"min": least, "max": most, "needs": needs}
    return {"help": text} | {name: value for name, value in given.items() if value is not None}


def needed(kind_needs: str, params_type: type[object], params: Mapping[str, object]) -> tuple[str, ...]:
    """Return the members of a cluster's allowed set without which an operation is refused.

    They are its kind's own, and those of the parameters (by name, as recorded) that are not left at their defaults.
    """
    own = [
        each.metadata["needs"]
        for each in fields(params_type)  # type: ignore[arg-type]  # every kind's parameters are a dataclass
        if "needs" in each.metadata and params.get(each.name, each.default) != each.default
    ]
    return tuple(dict.fromkeys((kind_needs, *own)))

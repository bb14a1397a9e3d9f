"""What users see of each object, in JSON: these names and forms are the API's promise.

The domain has its own types; renaming there changes nothing here. Instants are RFC 3339 in UTC: `created_at` of an
operation with whole seconds, all others with milliseconds.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hangar.wire.operator import JsonObject

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """Why an operation waits."""

    code: str
    subject: str
    message: str
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an operation is: `done` of `total`, counted in `unit`."""

    done: int
    total: int
    unit: str
    message: str
    blockers: list[Blocker]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How an operation ended. `duration` is from created to terminal, in whole seconds: "42s"."""

    message: str
    attempts: int
    duration: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReason:
    """Why an operation is as it is, as a stable code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Who asked for the operation to stop, and when."""

    requested_by: str
    requested_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation. `result` is null until a terminal phase; `version` is also the ETag."""

    id: str
    type: str
    target: str
    cluster: str | None
    phase: str
    result: Result | None
    reason: str | None
    created_by: str
    created_at: str
    started_at: str | None
    finished_at: str | None
    deadline_at: str | None
    params: dict[str, Any]
    progress: Progress | None
    status_reason: StatusReason | None
    cancel: Cancel | None
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordon:
    """Whose cordon a node carries; `manager` is the field manager in Kubernetes."""

    operation: str | None
    actor: str | None
    reason: str | None
    manager: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node. `operation` is the id of the open operation that holds it; amounts as in Kubernetes' own units."""

    name: str
    cluster: str
    uid: str
    ready: bool
    cordoned: bool
    cordon: Cordon | None
    replicas: int
    labels: dict[str, str]
    capacity: dict[str, int]
    allocatable: dict[str, int]
    allocated: dict[str, int]
    operation: str | None
    updated_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One resource of one node. `free` is what a new pod could get now: 0 on a cordoned or unready node.

    `source` says who counts: `device plugin` (the node's extended resources) or `driver` (what is published for
    dynamic allocation); one GPU is never counted by both. A null cannot be told: a pool is published in part.
    """

    cluster: str
    node: str
    resource: str
    source: str
    capacity: int | None
    allocatable: int | None
    allocated: int | None
    free: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """One cluster. `allowed` is the set of operations that it lets users do."""

    name: str
    uid: str | None
    online: bool
    last_seen_at: str | None
    allowed: list[str]
    nodes: int
    kubernetes_version: str | None
    operator_version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterBounds:
    """How many replicas one cluster may have; `max` null means any number."""

    min: int
    max: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a workload is placed: `divided` among its clusters, or `duplicated` on each. `bounds` are by cluster."""

    division: str
    weighing: str
    weights: dict[str, int]
    min: int
    max: int | None
    bounds: dict[str, ClusterBounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedComponent:
    """One component of a deployment; `desired` is null where the workload leaves it alone."""

    name: str
    role: str
    desired: int | None
    replicas: int
    ready: int | None
    pods: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """Somebody else who writes numbers of a graph: an autoscaler, a planner, a repository; `component` null: of any."""

    kind: str
    name: str
    component: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A workload on one cluster. `observed` is null where the graph's numbers are no multiple of its shape.

    A graph that no workload is bound to has the state `discovered`, and null as `workload` and `desired`.

    `held` is the number that it is kept at, whatever the placement says; `drained_by` the operation that took its
    cluster out. `changed_by` names who changed what was written, where its state is drifted; `rivals` who may. `drains`
    are the open drains of nodes that move pods of it.
    """

    workload: str | None
    cluster: str
    namespace: str
    graph: str
    state: str
    desired: int | None
    observed: int | None
    ready: int
    held: int | None
    drained_by: str | None
    changed_by: list[str]
    rivals: list[Rival]
    message: str
    shape: dict[str, int] | None
    components: list[DeployedComponent]
    drains: list[str]
    online: bool
    operation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One workload. `replicas` is the global number; `placement` says what it means in all, `ready` what serves.

    `state`: running, paused, reconciling or drifted. `gpus_per_replica` is null where it cannot be counted. `template`
    is what graphs are created from that were not there.
    """

    name: str
    project: str
    state: str
    replicas: int
    placement: str
    desired: int
    ready: int
    paused_at: str | None
    policy: Policy
    shape: dict[str, int] | None
    template: JsonObject | None
    gpus_per_replica: int | None
    operation: str | None
    created_at: str
    deployments: list[Deployment]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedGraph:
    """What becomes of a graph whose deployment was deleted. `fate`: removed, unseen, adopted, kept or missing."""

    cluster: str
    namespace: str
    graph: str
    fate: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """That a workload was deleted, or with `cluster` its deployment there, and what becomes of the graphs."""

    workload: str
    cluster: str | None
    graphs: list[RemovedGraph]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much of a resource a project may use; `used` counts paused workloads too. `used` null: not countable."""

    project: str
    resource: str
    limit: int
    used: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One project: it owns workloads, and has quotas by resource."""

    name: str
    quotas: dict[str, int]
    workloads: int
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventObject:
    """What an event is about."""

    kind: str
    name: str
    cluster: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the append-only feed."""

    rev: int
    at: str
    type: str
    object: EventObject
    operation: str | None
    actor: str | None
    message: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token, without its secret. `cluster` is set for an operator's alone; `created_by` null: on the hub itself."""

    id: str
    name: str
    role: str
    cluster: str | None
    created_by: str | None
    created_at: str
    expires_at: str | None
    revoked_at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that was just made; `secret` is what to send as the bearer, and is shown this once."""

    token: Token
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Whoami:
    """Whose a token is: the principal's name and role; `cluster` is set for an operator's alone."""

    name: str
    role: str
    cluster: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T]):
    """One page of a list. Only a missing `next_page_token` ends it; `as_of` is the feed's revision it was read at."""

    items: list[T]
    next_page_token: str | None
    as_of: int

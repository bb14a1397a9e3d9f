"""The operators' protocol: four calls, all outbound from the cluster, all level-triggered.

`session` asks for the right to act; `sync` brings all open jobs; `report` carries what became of them;
`inventory` tells what the cluster looks like. Both sides tolerate fields they do not know. Instants are
integers, microseconds since 1970, UTC; durations are seconds.
"""

from typing import Any

import msgspec

PROTOCOL_VERSION = 1

JsonObject = dict[str, Any]


class SessionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """POST /v1/operator/session: an operator asks to act for its token's cluster.

    `incarnation` is fresh for each start of the process; `kinds` maps each kind it carries out to its version;
    `allowed` is what its settings allow, cut down by what Kubernetes grants. `held` are the operations that it was
    carrying out when it lost its last session: after a restore the hub goes on with those alone. `has_autoscaler`:
    nodes are added on demand.
    """

    protocol: int
    cluster_uid: str
    incarnation: str
    kinds: dict[str, int]
    allowed: list[str]
    operator_version: str = ""
    kubernetes_version: str = ""
    held: list[str] = []
    has_autoscaler: bool = False


class SessionGrant(msgspec.Struct, frozen=True, kw_only=True):
    """The right to act. The operator stops sending `stop_after_s` after it sent its last acknowledged sync."""

    session: str
    epoch: int
    lease_s: float
    stop_after_s: float
    sync_wait_s: float


class SyncRequest(msgspec.Struct, frozen=True, kw_only=True):
    """POST /v1/operator/sync: answered at once when the jobs changed after revision `seen`, else within `wait_s`."""

    session: str
    epoch: int
    seen: int = 0
    wait_s: float = 0.0


class JobDoc(msgspec.Struct, frozen=True, kw_only=True):
    """One open operation of the cluster. `report_n` is the last number stored.

    `remaining_s` is None before it runs, and negative once its deadline has passed: by how much it has.
    """

    id: str
    type: str
    kind_version: int
    target: str
    target_uid: str
    phase: str
    params: JsonObject
    memory: JsonObject | None
    reason: str | None
    created_by: str
    created_us: int
    started_us: int | None
    deadline_s: float
    remaining_s: float | None
    cancel: bool
    report_n: int


class QuestionDoc(msgspec.Struct, frozen=True, kw_only=True):
    """What would an operation do? To be answered with the next report; nobody waits for it longer than seconds."""

    id: str
    type: str
    kind_version: int
    target: str
    target_uid: str
    params: JsonObject
    asked_by: str


class DesiredDoc(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph is to run: the count of each component, written iff the graph's own revision is older than `rev`.

    `template` is what to create where there is no such graph; None: it is waited for.
    """

    workload: str
    namespace: str
    graph: str
    rev: int
    counts: dict[str, int]
    template: JsonObject | None = None


class RemovalDoc(msgspec.Struct, frozen=True, kw_only=True):
    """A graph to be deleted, one that Wingsmith had created; told until the inventory says that it is gone."""

    namespace: str
    graph: str
    uid: str


class SyncAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """All open jobs, oldest first, all open questions, and all that is desired of the cluster's graphs.

    `seen` is the revision they were read at.
    """

    seen: int
    jobs: list[JobDoc]
    questions: list[QuestionDoc] = []
    desired: list[DesiredDoc] = []
    removals: list[RemovalDoc] = []


class BlockerDoc(msgspec.Struct, frozen=True, kw_only=True):
    """Why an operation waits: code, subject, facts, and the sentence made of them."""

    code: str
    subject: str
    message: str
    facts: JsonObject = {}


class ProgressDoc(msgspec.Struct, frozen=True, kw_only=True):
    """How far an operation is."""

    done: int
    total: int
    unit: str
    message: str
    blockers: list[BlockerDoc] = []


class ResultDoc(msgspec.Struct, frozen=True, kw_only=True):
    """How an operation ended: a stable code, one line, the details."""

    code: str
    message: str
    details: JsonObject = {}


class ReportDoc(msgspec.Struct, frozen=True, kw_only=True):
    """One report. `n` rises strictly within an operation and an epoch; `memory` None leaves the stored one.

    `phase` is `running`, or the terminal phase together with `result`.
    """

    id: str
    n: int
    phase: str
    memory: JsonObject | None = None
    progress: ProgressDoc | None = None
    result: ResultDoc | None = None


class AnswerDoc(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question: a plan (the fields of `hangar.domain.plan.Plan`), or `refusal`: why there is none."""

    id: str
    plan: JsonObject | None = None
    refusal: str | None = None


class ReportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """POST /v1/operator/report: what became of operations, and answers to questions."""

    session: str
    epoch: int
    reports: list[ReportDoc]
    answers: list[AnswerDoc] = []


class Ack(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a report.

    `stored`; `duplicate` (n was seen before: stored already); `ended` (the operation is over: forget it);
    `unknown` (no such operation in this cluster). A fenced session is told by the whole call's 409.
    """

    id: str
    n: int
    outcome: str
    cancel: bool = False


class ReportAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One acknowledgement a report, in their order."""

    acks: list[Ack]


class CordonDoc(msgspec.Struct, frozen=True, kw_only=True):
    """Whose cordon a node carries."""

    operation: str | None
    actor: str | None
    reason: str | None
    manager: str | None = None


class DeviceDoc(msgspec.Struct, frozen=True, kw_only=True):
    """How many devices of a kind drivers publish on a node; None where it cannot be told."""

    resource: str
    capacity: int | None
    allocatable: int | None
    allocated: int | None
    free: int | None


class NodeDoc(msgspec.Struct, frozen=True, kw_only=True):
    """One node as the console and `hgr node` show it.

    `devices` are those that drivers publish, beside the extended resources among the amounts; where GPUs are among
    them, the node's extended resources of NVIDIA are the same GPUs again.
    """

    name: str
    uid: str
    ready: bool
    cordoned: bool
    cordon: CordonDoc | None = None
    labels: dict[str, str] = {}
    capacity: dict[str, int] = {}
    allocatable: dict[str, int] = {}
    allocated: dict[str, int] = {}
    replicas: int = 0
    devices: list[DeviceDoc] | None = None


class ComponentDoc(msgspec.Struct, frozen=True, kw_only=True):
    """One component of a graph: what is asked for, and what its operator counts (None: it has not counted yet).

    `adapter` is the name of its scaling adapter, None where it has none, or where that is missing (`has_adapter`).
    """

    name: str
    role: str
    replicas: int
    counted: int | None = None
    updated: int | None = None
    ready: int | None = None
    pods: int = 0
    node_count: int = 1
    gpus_per_pod: int | None = None
    has_adapter: bool = False
    adapter: str | None = None
    written_by: str | None = None


class RivalDoc(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody else who writes numbers of a graph; `component` None: of any."""

    kind: str
    name: str
    component: str | None = None


class UnwrittenDoc(msgspec.Struct, frozen=True, kw_only=True):
    """Why a revision of what is desired is not on a graph yet, or why a graph is not removed yet (`rev` 0)."""

    namespace: str
    graph: str
    rev: int
    code: str
    why: str


class GraphDoc(msgspec.Struct, frozen=True, kw_only=True):
    """One DynamoGraphDeployment, of either API version.

    `drains` are the open node drains that move pods of it.
    """

    namespace: str
    name: str
    uid: str
    api_version: str
    components: list[ComponentDoc] = []
    applied_rev: int | None = None
    is_observed: bool = True
    rollout: str = ""
    unready: str | None = None
    is_paused: bool = False
    is_ours: bool = False
    rivals: list[RivalDoc] = []
    drains: list[str] = []


class GraphKey(msgspec.Struct, frozen=True, kw_only=True):
    """Which graph is gone."""

    namespace: str
    name: str


class InventoryRequest(msgspec.Struct, frozen=True, kw_only=True):
    """POST /v1/operator/inventory: whole documents of nodes and graphs that changed.

    `n` rises by one a call within a session; a `complete` one replaces all that is known. `graphs` None says
    nothing of graphs, not even in a complete one: the operator cannot read them now. `unwritten` is all that is desired
    and not written, whenever any of it changes; None: as it was told last.
    """

    session: str
    epoch: int
    n: int
    complete: bool
    nodes: list[NodeDoc]
    gone: list[str] = []
    graphs: list[GraphDoc] | None = None
    gone_graphs: list[GraphKey] = []
    unwritten: list[UnwrittenDoc] | None = None


class InventoryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`resync` asks for a complete one: a number was skipped or the hub knows nothing yet."""

    resync: bool


class ReleaseRequest(msgspec.Struct, frozen=True, kw_only=True):
    """POST /v1/operator/session:release: a clean end; the next session need not wait for the lease."""

    session: str
    epoch: int

"""Documents as the hub sends them, made from the API's own dataclasses, so that a renamed field fails here."""

from dataclasses import asdict, replace
from typing import Any

from hangar.wire import plans, shown

OPERATION = shown.Operation(
    id="op_01JC0000000000000000000001",
    type="node.drain",
    target="iad-1-n02",
    cluster="iad-1",
    phase="pending",
    result=None,
    reason="firmware upgrade",
    created_by="admin",
    created_at="2026-10-27T12:34:56Z",
    started_at=None,
    finished_at=None,
    deadline_at=None,
    params={},
    progress=None,
    status_reason=None,
    cancel=None,
    version=1,
)
NODE = shown.Node(
    name="iad-1-n03",
    cluster="iad-1",
    uid="uid-n03",
    ready=True,
    cordoned=False,
    cordon=None,
    replicas=3,
    labels={"zone": "a"},
    capacity={"nvidia.com/gpu": 8},
    allocatable={"nvidia.com/gpu": 8},
    allocated={"nvidia.com/gpu": 6},
    operation=None,
    updated_at="2026-10-27T12:34:56.000Z",
)
CORDON = shown.Cordon(operation=OPERATION.id, actor="admin", reason="faulty GPU", manager="hangar-operator")

DEPLOYMENT = shown.Deployment(
    workload="llama-3-8b",
    cluster="iad-1",
    namespace="serving",
    graph="llama",
    state="ready",
    desired=2,
    observed=2,
    ready=2,
    held=None,
    drained_by=None,
    changed_by=[],
    rivals=[],
    message="",
    shape={"worker": 1},
    components=[
        shown.DeployedComponent(name="frontend", role="frontend", desired=None, replicas=1, ready=1, pods=1),
        shown.DeployedComponent(name="worker", role="worker", desired=2, replicas=2, ready=2, pods=2),
    ],
    drains=[],
    online=True,
    operation=None,
)


def an_operation(**changes: Any) -> dict[str, Any]:
    """Return an operation, pending unless told otherwise."""
    return asdict(replace(OPERATION, **changes))


def running(version: int, done: int = 0, message: str = "evicting", *blockers: str) -> dict[str, Any]:
    """Return the operation in the middle of its work."""
    waits = [shown.Blocker(code="budget_spent", subject="pod", message=text, facts={}) for text in blockers]
    progress = shown.Progress(done=done, total=3, unit="replicas", message=message, blockers=waits)
    return an_operation(phase="running", version=version, progress=progress)


def ended(version: int, phase: str = "succeeded", message: str = "evicted_replicas=3") -> dict[str, Any]:
    """Return the operation at its end."""
    result = shown.Result(message=message, attempts=1, duration="42s", details={})
    return an_operation(phase=phase, version=version, result=result)


def a_node(**changes: Any) -> dict[str, Any]:
    """Return a node, ready and uncordoned unless told otherwise."""
    return asdict(replace(NODE, **changes))


def a_device(**changes: Any) -> dict[str, Any]:
    """Return a row of devices."""
    device = shown.Device(
        cluster="iad-1",
        node="iad-1-n03",
        resource="nvidia.com/gpu",
        source="device plugin",
        capacity=8,
        allocatable=8,
        allocated=6,
        free=2,
    )
    return asdict(replace(device, **changes))


def a_cluster(**changes: Any) -> dict[str, Any]:
    """Return a cluster whose operator is online."""
    cluster = shown.Cluster(
        name="iad-1",
        uid="uid-1",
        online=True,
        last_seen_at="2026-10-27T12:34:56.000Z",
        allowed=["cordon", "drain"],
        nodes=4,
        kubernetes_version="v1.37.2",
        operator_version="0.1.0",
    )
    return asdict(replace(cluster, **changes))


def a_deployment(**changes: Any) -> dict[str, Any]:
    """Return a workload's deployment on one cluster, ready."""
    return asdict(replace(DEPLOYMENT, **changes))


def a_workload(*deployments: shown.Deployment, **changes: Any) -> dict[str, Any]:
    """Return a workload that runs on one cluster, unless told otherwise."""
    workload = shown.Workload(
        name="llama-3-8b",
        project="chat",
        state="running",
        replicas=4,
        placement="4 divided among 2 clusters",
        desired=4,
        ready=3,
        paused_at=None,
        policy=shown.Policy(division="divided", weighing="static", weights={}, min=0, max=None, bounds={}),
        shape=None,
        template=None,
        gpus_per_replica=2,
        operation=None,
        created_at="2026-10-27T12:34:56.000Z",
        deployments=list(deployments or [DEPLOYMENT]),
    )
    return asdict(replace(workload, **changes))


def a_quota(**changes: Any) -> dict[str, Any]:
    """Return a project's quota of GPUs."""
    return asdict(replace(shown.Quota(project="chat", resource="nvidia.com/gpu", limit=64, used=48), **changes))


def a_project(**changes: Any) -> dict[str, Any]:
    """Return a project with one quota."""
    project = shown.Project(
        name="chat", quotas={"nvidia.com/gpu": 64}, workloads=2, created_at="2026-10-27T12:34:56.000Z"
    )
    return asdict(replace(project, **changes))


def an_event(**changes: Any) -> dict[str, Any]:
    """Return an event about a node."""
    event = shown.Event(
        rev=12,
        at="2026-10-27T12:34:56.000Z",
        type="node.cordoned",
        object=shown.EventObject(kind="node", name="iad-1-n03", cluster="iad-1"),
        operation=OPERATION.id,
        actor="admin",
        message="cordoned: faulty GPU",
        data={},
    )
    return asdict(replace(event, **changes))


def a_move(pod: str = "serving/llama-0", **changes: Any) -> plans.PlannedMove:
    """Return a pod that would move to a node with room for it."""
    move = plans.PlannedMove(
        pod=pod,
        owner="deployment serving/llama",
        fits="fits",
        node="iad-1-n04",
        group=None,
        requests={"cpu": 4000, "nvidia.com/gpu": 2},
        why=None,
    )
    return replace(move, **changes)


def a_plan(*moves: plans.PlannedMove, **changes: Any) -> dict[str, Any]:
    """Return the plan of a drain that would begin."""
    plan = plans.Plan(
        type="node.drain",
        target="iad-1-n02",
        cluster="iad-1",
        params={},
        message=f"{len(moves)} pods would move",
        fits="fits",
        moves=list(moves),
        skipped=[],
        obstructions=[],
        warnings=[],
        budgets=[],
        losses=[],
        expected_duration_s=None,
        basis="",
        planned_at="2026-10-27T12:34:56.000Z",
    )
    return asdict(replace(plan, **changes))


def a_token(**changes: Any) -> dict[str, Any]:
    """Return a maintainer's token that is good until it is revoked."""
    token = shown.Token(
        id="tok_01JC0000000000000000000001",
        name="ann",
        role="maintainer",
        cluster=None,
        created_by="admin",
        created_at="2026-10-27T12:34:56.000Z",
        expires_at=None,
        revoked_at=None,
    )
    return asdict(replace(token, **changes))

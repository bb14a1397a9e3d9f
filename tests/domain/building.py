"""Small values that tests of decisions begin from: everything has a default, and names make UIDs."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from hangar.domain.decision import Answer, Answered, Evict, Step
from hangar.domain.devices import DeviceClaim, DeviceSlice
from hangar.domain.ids import BudgetUid, NodeName, NodeUid, OperationId, OwnerUid, PodUid, WorkloadName
from hangar.domain.index import ClusterIndex
from hangar.domain.kind import Job, M, P
from hangar.domain.placing import Quota, Requirement, SelectorOp, Volume, VolumeClaim
from hangar.domain.snapshot import (
    Budget,
    CordonMark,
    Node,
    Owner,
    OwnerRef,
    Pod,
    PodPhase,
    PodRef,
    Snapshot,
)
from hangar.domain.view import Claims, StepKey, View, key_of
from hangar.domain.workloads.graph import Adapter, Component, Desired, Graph, GraphRef, Role

NOON = datetime(2026, 10, 27, 12, tzinfo=UTC)
OP = OperationId("op_01")
OTHER_OP = OperationId("op_02")
GPU = "nvidia.com/gpu"
API = OwnerRef("Deployment", "api", OwnerUid("api"))
LLAMA = GraphRef("serving", "llama")
CHAT = WorkloadName("chat")
Object: TypeAlias = Node | Pod | Owner | Budget | VolumeClaim | Volume | Quota | Graph | DeviceSlice | DeviceClaim


def at(seconds: float) -> datetime:
    """Return the instant so many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def a_node(
    name: str = "n1",
    *,
    uid: str | None = None,
    cordoned: bool = False,
    ready: bool = True,
    gpus: int = 8,
    **fields: Any,
) -> Node:
    """Return a node with room for 110 pods; its UID is NAME-uid."""
    amounts = {"allocatable": {GPU: gpus, "cpu": 64_000, "memory": 1 << 38, "pods": 110}}
    return Node(NodeName(name), NodeUid(uid or f"{name}-uid"), ready, cordoned, **(amounts | fields))


def a_mark(operation: OperationId = OP, *, prior: bool = False, reason: str | None = None) -> CordonMark:
    """Return our annotation on a node, put there by alice."""
    return CordonMark(operation, "alice", reason, prior)


def our_node(name: str = "n1", operation: OperationId = OP, **fields: Any) -> Node:
    """Return a node that an operation of ours has cordoned."""
    return a_node(
        name, cordoned=True, mark=a_mark(operation), cordon_manager="hangar-operator", cordon_is_ours=True, **fields
    )


def an_owner(
    name: str = "api",
    desired: int | None = 3,
    *,
    kind: str = "Deployment",
    parent: OwnerRef | None = None,
    failure: str | None = None,
) -> Owner:
    """Return a controller; its UID is its name."""
    return Owner(OwnerRef(kind, name, OwnerUid(name)), "default", desired, parent, failure)


def a_ref(name: str, namespace: str = "default", uid: str | None = None) -> PodRef:
    """Return a pod's reference; its UID is its name, unless one is given."""
    return PodRef(namespace, name, PodUid(uid or name))


def a_pod(
    name: str = "a",
    *,
    on: str | None = "n1",
    owner: OwnerRef | None = API,
    ready: bool = True,
    phase: PodPhase = PodPhase.RUNNING,
    namespace: str = "default",
    uid: str | None = None,
    **fields: Any,
) -> Pod:
    """Return a running, ready pod of the Deployment api, labelled app=api; its UID is its name, unless one is given."""
    node = NodeName(on) if on is not None else None
    given: dict[str, Any] = {"created_at": at(-3600), "labels": {"app": "api"}, "controller": owner}
    return Pod(a_ref(name, namespace, uid), node, phase, ready, **(given | fields))


def a_member(name: str, group: int = 0, *, on: str | None = "n1", **fields: Any) -> Pod:
    """Return a pod of a group of the LeaderWorkerSet llama."""
    labels = {
        "app": "api",
        "leaderworkerset.sigs.k8s.io/name": "llama",
        "leaderworkerset.sigs.k8s.io/group-index": str(group),
    }
    keeper = OwnerRef("StatefulSet", f"llama-{group}", OwnerUid(f"llama-{group}"))
    given: dict[str, Any] = {"labels": labels, "owner": keeper}
    return a_pod(name, on=on, **(given | fields))


def terminating(name: str, *, on: str = "n1", seconds: float = 30, **fields: Any) -> Pod:
    """Return a pod whose deletion ends so many seconds after noon."""
    return a_pod(name, on=on, deletion_at=at(seconds), **fields)


def pending(name: str, *, on: str | None = None, **fields: Any) -> Pod:
    """Return a pod that has not started."""
    return a_pod(name, on=on, ready=False, phase=PodPhase.PENDING, **fields)


def a_budget(
    name: str = "api", *, healthy: int = 3, needs: int = 2, allowed: int | None = None, **fields: Any
) -> Budget:
    """Return a budget over app=api that expects as many pods as are healthy, and allows what these numbers say."""
    given: dict[str, Any] = {
        "selector": (Requirement("app", SelectorOp.IN, frozenset({"api"})),),
        "expected": healthy,
        "healthy": healthy,
        "desired_healthy": needs,
        "allowed": max(0, healthy - needs) if allowed is None else allowed,
        "version": "1",
    }
    return Budget("default", name, BudgetUid(name), **(given | fields))


def a_component(name: str = "decode", replicas: int = 2, **fields: Any) -> Component:
    """Return a component that decodes, each pod on one GPU."""
    given: dict[str, Any] = {"role": Role.DECODE, "gpus_per_pod": 1}
    return Component(name, replicas=replicas, **(given | fields))


def behind_adapter(name: str = "decode", replicas: int = 2, given: int | None = None, **fields: Any) -> Component:
    """Return a component whose adapter, of UID NAME-adapter, was given this number, the component's own by default."""
    number = replicas if given is None else given
    adapter = Adapter(f"llama-{name}", f"{name}-adapter", "1", number)
    return a_component(name, replicas, has_adapter=True, **({"adapter": adapter} | fields))


def a_graph(*components: Component, ref: GraphRef = LLAMA, version: str = "1", **fields: Any) -> Graph:
    """Return a graph that nothing was written to, of one component decode if none is given; its UID is NAME-uid."""
    given: dict[str, Any] = {"uid": f"{ref.name}-uid", "api_version": "nvidia.com/v1beta1"}
    return Graph(ref, version=version, components=components or (a_component(),), **(given | fields))


def desired(rev: int = 7, *, ref: GraphRef = LLAMA, **counts: int) -> Desired:
    """Return what is wanted of a graph, 3 of decode if nothing else is said."""
    return Desired(ref, rev, counts or {"decode": 3})


def a_snapshot(*objects: Object, unreadable: tuple[str, ...] = ()) -> Snapshot:
    """Return a cluster of these objects."""
    index = ClusterIndex()
    for each in objects:
        match each:
            case Node():
                index.put_node(each)
            case Pod():
                index.put_pod(each)
            case Owner():
                index.put_owner(each)
            case Budget():
                index.put_budget(each)
            case VolumeClaim():
                index.put_claim(each)
            case Volume():
                index.put_volume(each)
            case Quota():
                index.put_quota(each)
            case Graph():
                index.put_graph(each)
            case DeviceSlice():
                index.put_device_slice(each)
            case DeviceClaim():
                index.put_device_claim(each)
    return index.snapshot(unreadable)


def a_view(*objects: Object, unreadable: tuple[str, ...] = (), **fields: Any) -> View:
    """Return a view of a cluster of these objects."""
    return View(a_snapshot(*objects, unreadable=unreadable), **fields)


def owned_view(*objects: Object, **fields: Any) -> View:
    """Return a view in which the Deployment api is there, and nobody knows how many pods it wants."""
    return a_view(an_owner(desired=None), *objects, **fields)


def draining(*nodes: str, baselines: Mapping[str, int] | None = None) -> dict[OperationId, Claims]:
    """Return the claims of open drains of these nodes, the first of which remembers how many pods were ready."""
    claims = {}
    for number, name in enumerate(nodes, start=1):
        before = {OwnerUid(owner): count for owner, count in (baselines or {}).items()} if number == 1 else {}
        claims[OperationId(f"op_{number:02d}")] = Claims((NodeName(name), NodeUid(f"{name}-uid")), before)
    return claims


def a_job(
    params: P, memory: M, operation: OperationId = OP, *, deadline_s: float = 60, is_cancelled: bool = False
) -> Job[P, M]:
    """Return an open operation of alice's on n1."""
    return Job(
        operation, NodeName("n1"), NodeUid("n1-uid"), params, memory, "alice", "firmware", at(deadline_s), is_cancelled
    )


def an_answer(
    to: str | Step, answer: Answer, *, seconds: float = 0, tries: int = 1, operation: OperationId = OP
) -> dict[StepKey, Answered]:
    """Return what the cluster answered to a step, or the eviction of a pod by its name, so many seconds after noon."""
    step = Evict(a_ref(to)) if isinstance(to, str) else to
    return {key_of(operation, step): Answered(answer, at(seconds), tries)}


def uids(*names: str) -> frozenset[PodUid]:
    """Return the UIDs of pods by their names."""
    return frozenset(PodUid(name) for name in names)

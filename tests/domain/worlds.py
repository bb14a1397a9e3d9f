"""Small random clusters in the middle of drains, for the properties of the fit."""

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from hangar.domain.placing import (
    HOST_NAME,
    NAME_FIELD,
    Demands,
    HostPort,
    NodeOp,
    NodeRequirement,
    PodTerm,
    Requirement,
    SelectorOp,
    Spread,
    Volume,
    VolumeClaim,
)
from hangar.domain.snapshot import Node, Pod, Taint, Toleration
from hangar.domain.view import View
from tests.domain.building import GPU, a_node, a_pod, at, draining, owned_view
from tests.domain.reference_scheduler import Place

ZONE = "zone"
APPS = ("x", "y")
OTHERS = ("n2", "n3", "n4")
KEYS = st.sampled_from((HOST_NAME, ZONE))
EVERYTHING = Toleration("", "Exists", "", "")
RED = Taint("red", "", "NoSchedule")


def selects(app: str | None) -> tuple[Requirement, ...]:
    """Return a selector of the pods of an app; None: of all."""
    return (Requirement("app", SelectorOp.IN, frozenset({app})),) if app is not None else ()


SELECTORS = st.sampled_from((*APPS, None)).map(selects)
TERMS = st.builds(PodTerm, KEYS, SELECTORS, st.sampled_from((frozenset({"default"}), None)))
SPREADS = st.builds(
    Spread,
    KEYS,
    st.sampled_from((1, 1, 2)),
    SELECTORS,
    st.sampled_from((1, 1, 3)),
    honors_affinity=st.booleans(),
    honors_taints=st.booleans(),
)
NODE_TERMS = st.sampled_from(
    (
        (NodeRequirement(ZONE, NodeOp.IN, ("a",)),),
        (NodeRequirement(ZONE, NodeOp.NOT_IN, ("b",)),),
        (NodeRequirement(NAME_FIELD, NodeOp.IN, ("n1", "n2")),),
        (NodeRequirement("rank", NodeOp.GREATER, ("1",)),),
        (NodeRequirement("rank", NodeOp.LESS, ("2",)), NodeRequirement(ZONE, NodeOp.EXISTS)),
        (NodeRequirement(ZONE, NodeOp.DOES_NOT_EXIST),),
    )
)


def few(each: st.SearchStrategy[Any], most: int = 1) -> st.SearchStrategy[tuple[Any, ...]]:
    """Return mostly nothing, so that most pods are plain and some are hard."""
    return st.one_of(st.just(()), st.just(()), st.lists(each, max_size=most).map(tuple))


DEMANDS = st.builds(
    Demands,
    node_terms=few(NODE_TERMS, 2),
    apart_from=few(TERMS),
    near=few(TERMS),
    spread=few(SPREADS, 2),
    host_ports=few(st.sampled_from((HostPort(80), HostPort(80, address="10.0.0.1"), HostPort(80, address="10.0.0.2")))),
    claims=few(st.sampled_from(("data", "free"))).map(frozenset),
)
CLAIMS = (VolumeClaim("default", "data", "pv", once=False), VolumeClaim("default", "free", None, once=False))
PV = Volume("pv", ((NodeRequirement(ZONE, NodeOp.IN, ("a",)),),))


@st.composite
def pods(draw: st.DrawFn, name: str, on: str | None) -> Pod:
    """Draw a pod of one of two apps."""
    return a_pod(
        name,
        on=on,
        labels={"app": draw(st.sampled_from(APPS))},
        requests={GPU: draw(st.integers(0, 3)), "cpu": 1},
        demands=draw(DEMANDS),
        tolerations=draw(few(st.sampled_from((EVERYTHING, Toleration("red", "Exists", "", ""))))),
        priority=draw(st.sampled_from((0, 0, 5))),
    )


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """Draw a node with a few GPUs in one of two zones, or in none."""
    zone = draw(st.sampled_from(({ZONE: "a"}, {ZONE: "b"}, {})))
    return a_node(
        name,
        ready=draw(st.sampled_from((True, True, True, False))),
        cordoned=draw(st.sampled_from((False, False, False, True))),
        labels={HOST_NAME: name, "rank": name[1:], **zone},
        taints=draw(few(st.just(RED))),
        allocatable={GPU: draw(st.integers(0, 4)), "cpu": 100, "pods": draw(st.integers(0, 4))},
    )


@dataclass(frozen=True)
class World:
    """A cluster in which n1 is drained, and perhaps another node; `loose` are pods that may not stay where they are."""

    view: View
    moving: tuple[Pod, ...]
    loose: tuple[Pod, ...]

    def place(self) -> Place:
        """Return the cluster as the scheduler sees it, with the cordons that its drains put on."""
        snapshot = self.view.snapshot
        bound = tuple(each for each in snapshot.pods.values() if each.node is not None)
        return Place(snapshot.nodes, bound, snapshot.claims, snapshot.volumes)


@st.composite
def worlds(draw: st.DrawFn, *, moving_max: int = 3) -> World:
    """Draw a cluster of three nodes besides n1."""
    drained = draw(st.sampled_from((("n1",), ("n1",), ("n1", "n4"))))
    others = [draw(nodes(name)) for name in OTHERS]
    first = a_node("n1", labels={HOST_NAME: "n1", "rank": "1", ZONE: "a"}, gpus=9)
    moving = tuple(draw(pods(f"m{each}", "n1")) for each in range(draw(st.integers(1, moving_max))))
    most = max(each.priority for each in moving)
    others_pods = [draw(bystanders(f"s{number}", drained)) for number in range(draw(st.integers(0, 4)))]
    leaving = {pod.ref.uid for pod, leaves in others_pods if leaves}
    loose = [
        pod
        for pod, leaves in others_pods
        if leaves or pod.node in (None, *drained) or pod.is_terminating or pod.priority < most
    ]
    cordoned = [replace(each, unschedulable=True) if each.name in drained else each for each in (first, *others)]
    view = owned_view(
        *cordoned,
        *moving,
        *(pod for pod, _ in others_pods),
        *CLAIMS,
        PV,
        claims=draining(*drained),
        leaving=frozenset(leaving),
    )
    return World(view, moving, tuple(loose))


@st.composite
def bystanders(draw: st.DrawFn, name: str, drained: tuple[str, ...]) -> tuple[Pod, bool]:
    """Draw a pod off n1, and whether an eviction of it is on its way."""
    pod = draw(pods(name, draw(st.sampled_from((*OTHERS, OTHERS[0], None)))))
    sort = draw(st.sampled_from(("stays", "stays", "stays", "terminates", "leaves")))
    if pod.node is None or sort == "stays":
        return pod, False
    return (replace(pod, deletion_at=at(30)), False) if sort == "terminates" else (pod, True)

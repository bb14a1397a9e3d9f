"""The index against what it is an index of: every bucket is what a look at all objects would find."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.ids import BudgetUid, NodeName, OwnerUid, PodUid
from hangar.domain.index import ClusterIndex
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import (
    Budget,
    Owner,
    OwnerRef,
    Pod,
    PodPhase,
    PodRef,
    Snapshot,
)
from hangar.domain.workloads.graph import Component, Graph, GraphRef, Role
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL

NOON = datetime(2026, 10, 27, 12, tzinfo=UTC)

UIDS = st.sampled_from("abcdef")
NAMESPACES = st.sampled_from(("one", "two"))
LABELS = st.dictionaries(st.sampled_from(("app", "tier", GRAPH_LABEL, COMPONENT_LABEL)), st.sampled_from(("x", "y")))
OWNERS = st.sampled_from(("o", "p", "q"))


def owner_ref(uid: str) -> OwnerRef:
    return OwnerRef("Deployment", uid, OwnerUid(uid))


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    uid = draw(UIDS)
    owner = draw(st.none() | OWNERS)
    return Pod(
        # A pod's UID has one namespace for ever.
        PodRef("one" if uid < "d" else "two", f"pod-{uid}", PodUid(uid)),
        draw(st.none() | st.sampled_from((NodeName("n1"), NodeName("n2")))),
        draw(st.sampled_from((PodPhase.RUNNING, PodPhase.SUCCEEDED))),
        ready=draw(st.booleans()),
        created_at=NOON,
        labels=draw(LABELS),
        controller=owner_ref(owner) if owner is not None else None,
    )


@st.composite
def budgets(draw: st.DrawFn) -> Budget:
    uid = draw(UIDS)
    key = st.sampled_from(("app", "tier"))
    values = st.frozensets(st.sampled_from(("x", "y")), max_size=2)
    requirements = st.builds(Requirement, key, st.sampled_from(list(SelectorOp)), values)
    selector = tuple(draw(st.lists(requirements, max_size=2)))
    return Budget("one" if uid < "d" else "two", f"budget-{uid}", BudgetUid(uid), selector, 0, 0, 0, 0, "1")


@st.composite
def owners(draw: st.DrawFn) -> Owner:
    uid, parent = draw(OWNERS), draw(st.none() | OWNERS)
    return Owner(owner_ref(uid), "one", 1, owner_ref(parent) if parent is not None and parent > uid else None)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    ref = GraphRef(draw(NAMESPACES), draw(st.sampled_from(("x", "y"))))
    return Graph(ref, "u", "1", "v1", (Component("x", Role.WORKER, 1), Component("z", Role.WORKER, 1)))


Change: TypeAlias = Pod | Budget | Owner | Graph | tuple[str, str]
DROPS = (
    st.tuples(st.just("pod"), UIDS)
    | st.tuples(st.just("budget"), UIDS)
    | st.tuples(st.just("owner"), OWNERS)
    | st.tuples(st.just("graph"), st.sampled_from(("x", "y")))
)


def apply(index: ClusterIndex, change: Change) -> None:
    match change:
        case Pod():
            index.put_pod(change)
        case Budget():
            index.put_budget(change)
        case Owner():
            index.put_owner(change)
        case Graph():
            index.put_graph(change)
        case ("graph", name):
            index.drop_graph(GraphRef("one", name))
        case ("pod", uid):
            index.drop_pod(PodUid(uid))
        case ("budget", uid):
            index.drop_budget(BudgetUid(uid))
        case (_, uid):
            index.drop_owner(OwnerUid(uid))


def assert_in_step(shown: Snapshot) -> None:
    for node in ("n1", "n2"):
        assert set(shown.pods_by_node.get(NodeName(node), ())) == {
            uid for uid, pod in shown.pods.items() if pod.node == node
        }
    for owner in ("o", "p", "q"):
        assert set(shown.pods_by_controller.get(OwnerUid(owner), ())) == {
            uid for uid, pod in shown.pods.items() if pod.controller == owner_ref(owner)
        }
        assert set(shown.owners_by_parent.get(OwnerUid(owner), ())) == {
            uid for uid, each in shown.owners.items() if each.parent == owner_ref(owner)
        }
    for uid, pod in shown.pods.items():
        guards = sorted((each for each in shown.budgets.values() if each.guards(pod)), key=lambda each: each.name)
        assert shown.budgets_by_pod.get(uid, ()) == tuple(each.uid for each in guards)
    for budget_uid, budget in shown.budgets.items():
        assert set(shown.pods_by_budget.get(budget_uid, ())) == {
            uid for uid, pod in shown.pods.items() if budget.guards(pod)
        }
    for ref, graph in shown.graphs.items():
        assert [each.pods for each in graph.components] == [
            sum(
                pod.ref.namespace == ref.namespace
                and not pod.is_finished
                and (pod.labels.get(GRAPH_LABEL), pod.labels.get(COMPONENT_LABEL)) == (ref.name, each.name)
                for pod in shown.pods.values()
            )
            for each in graph.components
        ]
    assert shown.budgets_by_pod.keys() <= shown.pods.keys()
    assert shown.pods_by_budget.keys() <= shown.budgets.keys()


@given(st.lists(pods() | budgets() | owners() | graphs() | DROPS, max_size=30))
def test_after_any_changes_every_bucket_is_in_step(changes: list[Change]) -> None:
    index = ClusterIndex()
    for change in changes:
        apply(index, change)
        assert_in_step(index.snapshot())


def test_a_snapshot_stays_as_it_was_taken() -> None:
    index = ClusterIndex()
    pod = Pod(PodRef("one", "p", PodUid("a")), NodeName("n1"), PodPhase.RUNNING, ready=True, created_at=NOON)
    index.put_pod(pod)
    before = index.snapshot()
    index.put_pod(replace(pod, node=NodeName("n2")))
    index.drop_pod(PodUid("a"))
    assert list(before.pods_on(NodeName("n1"))) == [pod]
    assert index.snapshot().pods == {}


def test_terminating_pods_count_and_what_a_graph_says_of_its_pods_does_not() -> None:
    index = ClusterIndex()
    labels = {GRAPH_LABEL: "chat", COMPONENT_LABEL: "decode"}
    ref = PodRef("one", "p", PodUid("a"))
    pod = Pod(ref, None, PodPhase.RUNNING, ready=True, created_at=NOON, labels=labels, deletion_at=NOON)
    graph = Graph(GraphRef("one", "chat"), "u", "1", "v1", (Component("decode", Role.DECODE, 0, pods=9),))
    index.put_pod(pod)
    index.put_graph(graph)
    before = index.snapshot()
    assert [each.pods for each in before.graphs[graph.ref].components] == [1]
    index.put_pod(replace(pod, phase=PodPhase.FAILED))
    assert [each.pods for each in index.snapshot().graphs[graph.ref].components] == [0]
    assert [each.pods for each in before.graphs[graph.ref].components] == [1]

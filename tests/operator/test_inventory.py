"""The inventory: whole documents of what changed, and what people wait to see at once."""

from dataclasses import replace

import msgspec
import pytest

from hangar.domain.devices import Device, DeviceClaim, DeviceId, DeviceSlice
from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Node, PodPhase, Snapshot
from hangar.domain.view import Claims
from hangar.domain.workloads.graph import Adapter, Counts, Graph, GraphRef, Rival, RivalKind, Role, Unwritten
from hangar.domain.workloads.members import COMPONENT_LABEL, GRAPH_LABEL, Part
from hangar.operator.inventory import (
    Changes,
    Documents,
    News,
    changes,
    documents,
    drains_of,
    flipped,
    graphs_flipped,
    told,
)
from hangar.wire.operator import ComponentDoc, CordonDoc, DeviceDoc, GraphDoc, GraphKey, NodeDoc, RivalDoc, UnwrittenDoc
from tests.domain.building import (
    API,
    GPU,
    LLAMA,
    OP,
    OTHER_OP,
    Object,
    a_component,
    a_graph,
    a_mark,
    a_node,
    a_pod,
    a_snapshot,
    an_owner,
    behind_adapter,
    draining,
    our_node,
    terminating,
)

AGENT = an_owner("agent", kind="DaemonSet")
BY_HAND = a_node(cordoned=True, cordon_manager="kubectl-cordon")


def the_document(*objects: Object) -> NodeDoc:
    return documents(a_snapshot(*objects)).nodes[NodeName("n1")]


def test_a_document_says_all_that_is_shown_of_a_node() -> None:
    node = a_node(labels={"zone": "a"}, capacity={GPU: 8}, allocatable={GPU: 7})
    assert the_document(node) == NodeDoc(
        name="n1",
        uid="n1-uid",
        ready=True,
        cordoned=False,
        labels={"zone": "a"},
        capacity={GPU: 8},
        allocatable={GPU: 7},
    )


def test_what_runs_or_ends_is_allocated_and_only_what_a_drain_would_touch_is_a_replica() -> None:
    document = the_document(
        a_node(),
        AGENT,
        a_pod("a", requests={GPU: 2, "cpu": 100}),
        terminating("b", requests={GPU: 1}),
        a_pod("c", owner=AGENT.ref, requests={"cpu": 10}),
        a_pod("d", phase=PodPhase.SUCCEEDED, requests={GPU: 4}),
        a_pod("e", on="n2", requests={GPU: 4}),
        a_pod("f", owner=None),
    )
    assert document.allocated == {GPU: 3, "cpu": 110, "pods": 4}
    assert document.replicas == 3


@pytest.mark.parametrize(
    ("node", "cordon"),
    [
        (a_node(), None),
        (a_node(mark=a_mark()), None),
        (
            replace(our_node(), mark=a_mark(reason="disk")),
            CordonDoc(operation=OP, actor="alice", reason="disk", manager="hangar-operator"),
        ),
        (BY_HAND, CordonDoc(operation=None, actor=None, reason=None, manager="kubectl-cordon")),
        (
            replace(BY_HAND, mark=a_mark()),
            CordonDoc(operation=None, actor=None, reason=None, manager="kubectl-cordon"),
        ),
        (
            replace(BY_HAND, mark=a_mark(prior=True)),
            CordonDoc(operation=OP, actor="alice", reason=None, manager="kubectl-cordon"),
        ),
    ],
    ids=["none", "lifted", "ours", "by hand", "by hand under an old mark", "ours over one by hand"],
)
def test_a_cordon_is_told_with_whose_it_is(node: Node, cordon: CordonDoc | None) -> None:
    """C45: who cordoned a node, and why, is shown."""
    document = the_document(node)
    assert (document.cordon, document.cordoned) == (cordon, node.unschedulable)


def test_only_what_changed_is_told_and_what_is_gone_by_name() -> None:
    before = documents(a_snapshot(a_node("n1"), a_node("n2"), a_node("n3"), a_node("n0")))
    after = documents(a_snapshot(a_node("n1"), a_node("n2"), a_node("n4"), a_pod(on="n2")))
    change = changes(before, after)
    assert [doc.name for doc in change.nodes] == ["n2", "n4"]
    assert change.gone == ["n0", "n3"]
    assert not change.is_empty
    assert changes(after, after).is_empty


@pytest.mark.parametrize(
    ("after", "is_flip"),
    [
        (a_node(), False),
        (a_node(labels={"zone": "b"}, gpus=7), False),
        (a_node(ready=False), True),
        (a_node(cordoned=True), True),
        (a_node(uid="another"), True),
        (a_node(mark=a_mark()), True),
        (None, True),
    ],
    ids=["same", "other facts", "not ready", "cordoned", "replaced", "marked", "gone"],
)
def test_what_people_wait_to_see_is_a_flip(after: Node | None, is_flip: bool) -> None:
    shown = {after.name: after} if after is not None else {}
    assert flipped({NodeName("n1"): a_node()}, shown) is is_flip


def test_a_node_that_is_new_is_a_flip() -> None:
    assert flipped({}, {NodeName("n1"): a_node()})


# --- graphs -----------------------------------------------------------------------------------------------------------

OTHER = GraphRef("serving", "other")
LABELS = {GRAPH_LABEL: "llama", COMPONENT_LABEL: "decode"}


def blind(*objects: Object) -> Snapshot:
    """Return a cluster that cannot tell of graphs any more."""
    return replace(a_snapshot(*objects), graphs_unreadable="forbidden")


def test_a_document_says_all_that_is_known_of_a_graph() -> None:
    counted = a_component(
        "decode", 3, node_count=2, gpus_per_pod=None, has_adapter=True, counts=Counts(3, 2, 1), written_by="kubectl"
    )
    graph = a_graph(
        counted,
        a_component("Frontend", 1, role=Role.FRONTEND),
        applied_rev=7,
        is_observed=False,
        rollout="InProgress",
        unready="pods_not_ready",
        is_paused=True,
        is_ours=True,
        rivals=(Rival(RivalKind.HPA, "decode", "decode"), Rival(RivalKind.GITOPS, "argocd")),
    )
    news = News({LLAMA: (OP,), OTHER: (OTHER_OP,)})
    assert documents(a_snapshot(graph), None, news).graphs == {
        LLAMA: GraphDoc(
            namespace="serving",
            name="llama",
            uid="llama-uid",
            api_version="nvidia.com/v1beta1",
            components=[
                ComponentDoc(
                    name="decode",
                    role="decode",
                    replicas=3,
                    counted=3,
                    updated=2,
                    ready=1,
                    node_count=2,
                    gpus_per_pod=None,
                    has_adapter=True,
                    written_by="kubectl",
                ),
                ComponentDoc(name="Frontend", role="frontend", replicas=1, gpus_per_pod=1),
            ],
            applied_rev=7,
            is_observed=False,
            rollout="InProgress",
            unready="pods_not_ready",
            is_paused=True,
            is_ours=True,
            rivals=[
                RivalDoc(kind="HorizontalPodAutoscaler", name="decode", component="decode"),
                RivalDoc(kind="GitOps", name="argocd"),
            ],
            drains=[OP],
        )
    }


def test_a_number_behind_an_adapter_was_written_by_whoever_wrote_the_adapter() -> None:
    adapter = Adapter("llama-decode", "u", "1", 3, written_by="hpa")
    shown = a_graph(
        behind_adapter("decode", adapter=adapter, written_by="dynamo"),
        behind_adapter("prefill", written_by="dynamo"),
        a_component("lost", has_adapter=True, written_by="dynamo"),
    )
    graphs = documents(a_snapshot(shown)).graphs
    assert graphs is not None
    told_of = [(each.has_adapter, each.adapter, each.written_by) for each in graphs[LLAMA].components]
    assert told_of == [(True, "llama-decode", "hpa"), (True, "llama-prefill", None), (True, None, "dynamo")]


def test_only_graphs_that_changed_are_told_and_those_that_are_gone_by_their_keys() -> None:
    before = documents(a_snapshot(a_graph(), a_graph(ref=OTHER)))
    after = documents(a_snapshot(a_graph(unready="pods_not_ready")))
    change = changes(before, after)
    assert [doc.unready for doc in change.graphs or []] == ["pods_not_ready"]
    assert change.gone_graphs == [GraphKey(namespace="serving", name="other")]
    assert not change.is_empty
    assert changes(after, after) == Changes(False, [], [], [], [])


def test_the_first_word_is_complete_and_a_cluster_without_graphs_says_so() -> None:
    nodes_only = documents(a_snapshot(a_node()))
    change = changes(None, nodes_only)
    assert (change.is_complete, [doc.name for doc in change.nodes], change.graphs) == (True, ["n1"], [])
    assert not changes(None, documents(a_snapshot())).is_empty


def test_nothing_is_said_of_graphs_that_cannot_be_read_and_none_of_them_is_gone() -> None:
    before = documents(a_snapshot(a_node(), a_graph()))
    after = documents(blind(a_node("n2")))
    change = changes(before, after)
    assert (change.gone, change.graphs, change.gone_graphs) == (["n1"], None, [])
    assert told(before, after) == Documents(after.nodes, before.graphs)
    seen_again = documents(a_snapshot(a_node("n2"), a_graph(ref=OTHER)))
    change = changes(told(before, after), seen_again)
    assert (change.is_complete, change.nodes) == (False, [])
    assert [doc.name for doc in change.graphs or []] == ["other"]
    assert [key.name for key in change.gone_graphs] == ["llama"]


def test_graphs_that_can_be_read_for_the_first_time_are_told_in_a_complete_inventory() -> None:
    """What the hub knows of them is from an earlier session: only a complete one takes away what is gone since."""
    first = documents(blind(a_node()))
    assert changes(None, first).graphs is None
    before = told(None, first)
    assert changes(before, first).is_empty
    change = changes(before, documents(a_snapshot(a_node(), a_graph())))
    assert change.is_complete
    assert [doc.name for doc in change.graphs or []] == ["llama"]


@pytest.mark.parametrize(
    ("after", "is_flip"),
    [
        (a_graph(), False),
        (a_graph(version="2", unready="pods_not_ready"), False),
        (a_graph(a_component(written_by="kubectl")), False),
        (a_graph(applied_rev=7), True),
        (a_graph(a_component(replicas=3)), True),
        (a_graph(a_component(counts=Counts(2, 2, 1))), True),
        (a_graph(is_observed=False), True),
        (a_graph(rollout="InProgress"), True),
        (a_graph(is_paused=True), True),
        (a_graph(uid="another"), True),
        (a_graph(ref=OTHER), True),
        (a_graph(is_ours=True), True),
        (a_graph(rivals=(Rival(RivalKind.HPA, "decode"),)), True),
        (a_graph(a_component(has_adapter=True)), True),
        (a_graph(behind_adapter()), True),
    ],
    ids=[
        "same",
        "other facts",
        "other writer",
        "written",
        "replicas",
        "counts",
        "not observed",
        "rollout",
        "paused",
        "replaced",
        "another",
        "ours",
        "a rival",
        "its adapter is missing",
        "an adapter",
    ],
)
def test_what_people_follow_a_graph_by_is_a_flip(after: Graph, is_flip: bool) -> None:
    before = a_snapshot(a_graph()).graphs
    assert graphs_flipped(before, a_snapshot(after)) is is_flip
    assert not graphs_flipped(before, blind(after))


def test_the_last_pod_of_a_component_is_a_flip_and_any_other_is_not() -> None:
    def shown(pods: int) -> Snapshot:
        members = (a_pod(f"p{number}", namespace="serving", labels=LABELS) for number in range(pods))
        return a_snapshot(a_graph(), *members)

    assert not graphs_flipped(shown(3).graphs, shown(1))
    assert graphs_flipped(shown(1).graphs, shown(0))


def published(*taken: str) -> Snapshot:
    parts = DeviceSlice(
        "s", "gpu.nvidia.com", "n1", 1, 1, NodeName("n1"), (Device("gpu-0", "gpu"), Device("gpu-1", "gpu"))
    )
    devices = frozenset(DeviceId("gpu.nvidia.com", "n1", each) for each in taken)
    nics = DeviceSlice("t", "nic.example", "n1", 1, 1, NodeName("n1"), (Device("nic"),))
    return a_snapshot(a_node(capacity={GPU: 2}), parts, nics, DeviceClaim("serving", "c", devices))


def test_gpus_that_a_driver_publishes_are_told_of_once_claims_have_some() -> None:
    def told_of(snapshot: Snapshot) -> list[DeviceDoc] | None:
        return documents(snapshot).nodes[NodeName("n1")].devices

    nic = DeviceDoc(resource="nic.example", capacity=1, allocatable=1, allocated=0, free=1)
    gpus = DeviceDoc(resource="gpu.nvidia.com", capacity=2, allocatable=2, allocated=1, free=1)
    assert told_of(a_snapshot(a_node(capacity={GPU: 2}))) is None
    assert told_of(published()) == [nic]
    assert told_of(published("gpu-0")) == [gpus, nic]
    unknown = msgspec.structs.replace(nic, allocated=None, free=None)
    assert told_of(replace(published("gpu-0"), device_claims=None)) == [unknown]


# --- what the operator itself says of graphs --------------------------------------------------------------------------

WHY = Unwritten(7, "graph_paused", "somebody paused it")
SAID = [UnwrittenDoc(namespace="serving", graph="llama", rev=7, code="graph_paused", why="somebody paused it")]


def test_what_is_not_written_is_told_whole_whenever_any_of_it_changes() -> None:
    snapshot = a_snapshot(a_graph())
    unheard, written, not_written = (
        documents(snapshot, None, News(unwritten=unwritten)) for unwritten in (None, {}, {LLAMA: WHY})
    )
    assert changes(unheard, not_written).unwritten == SAID
    assert changes(None, not_written).unwritten == SAID, "and a new session is told anew"
    assert changes(not_written, not_written).is_empty
    over = changes(not_written, written)
    assert (over.unwritten, over.is_empty) == ([], False)
    assert changes(unheard, written).unwritten == [], "an earlier session may have said otherwise"
    assert changes(not_written, documents(blind(), None, News(unwritten={}))).unwritten == []


def test_a_graph_is_touched_by_the_drains_that_moved_pods_of_it_and_by_those_whose_node_has_some() -> None:
    on_n1 = a_pod("p1", namespace="serving", labels=LABELS)
    snapshot = a_snapshot(a_node("n1"), a_node("n2"), a_node("n3"), a_graph(), on_n1)
    first, second, third = draining("n1", "n2", "n3").items()
    moved = replace(second[1], parts={API.uid: Part(LLAMA, "decode")})
    assert drains_of(dict([third, (second[0], moved), first]), snapshot) == {LLAMA: (first[0], second[0])}
    assert drains_of({OP: Claims()}, snapshot) == {}


def test_pods_that_have_finished_and_those_of_another_node_of_that_name_do_not_count() -> None:
    done = a_pod("p1", namespace="serving", labels=LABELS, phase=PodPhase.SUCCEEDED)
    assert drains_of(draining("n1"), a_snapshot(a_node("n1"), a_graph(), done)) == {}
    there = a_pod("p1", namespace="serving", labels=LABELS)
    assert drains_of(draining("n1"), a_snapshot(a_node("n1", uid="another"), a_graph(), there)) == {}

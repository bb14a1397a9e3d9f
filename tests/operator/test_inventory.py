"""The inventory: whole documents of what changed, and what people wait to see at once."""

from dataclasses import replace

import pytest

from hangar.domain.ids import NodeName
from hangar.domain.snapshot import Node, PodPhase
from hangar.operator.inventory import changes, documents, flipped
from hangar.wire.operator import CordonDoc, NodeDoc
from tests.domain.building import (
    GPU,
    OP,
    Object,
    a_mark,
    a_node,
    a_pod,
    a_snapshot,
    an_owner,
    our_node,
    terminating,
)

AGENT = an_owner("agent", kind="DaemonSet")
BY_HAND = a_node(cordoned=True, cordon_manager="kubectl-cordon")


def the_document(*objects: Object) -> NodeDoc:
    return documents(a_snapshot(*objects))[NodeName("n1")]


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
    told = the_document(
        a_node(),
        AGENT,
        a_pod("a", requests={GPU: 2, "cpu": 100}),
        terminating("b", requests={GPU: 1}),
        a_pod("c", owner=AGENT.ref, requests={"cpu": 10}),
        a_pod("d", phase=PodPhase.SUCCEEDED, requests={GPU: 4}),
        a_pod("e", on="n2", requests={GPU: 4}),
        a_pod("f", owner=None),
    )
    assert told.allocated == {GPU: 3, "cpu": 110, "pods": 4}
    assert told.replicas == 3


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
    told = the_document(node)
    assert (told.cordon, told.cordoned) == (cordon, node.unschedulable)


def test_only_what_changed_is_told_and_what_is_gone_by_name() -> None:
    before = documents(a_snapshot(a_node("n1"), a_node("n2"), a_node("n3"), a_node("n0")))
    after = documents(a_snapshot(a_node("n1"), a_node("n2"), a_node("n4"), a_pod(on="n2")))
    told = changes(before, after)
    assert [doc.name for doc in told.nodes] == ["n2", "n4"]
    assert told.gone == ["n0", "n3"]
    assert changes(after, after).nodes == []


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

"""What a node says to a pod by itself: taints, labels, name, volumes, and whether it is open at all."""

import pytest

from hangar.domain.fit.node_rules import (
    Objection,
    is_made_anew,
    meets_one,
    objection_of,
    open_nodes,
    passes_cordons,
    reach_of,
    repelling_taint,
    suits,
    takes,
)
from hangar.domain.placing import NAME_FIELD, Demands, NodeOp, NodeRequirement, Volume, VolumeClaim
from hangar.domain.snapshot import Node, Taint, Toleration
from tests.domain.building import a_node, a_pod, a_snapshot, a_view, draining

TOLERATES_ALL = (Toleration("", "Exists", "", ""),)


def test_taints_are_passed_by_tolerations_and_soft_ones_by_all() -> None:
    hard, soft = Taint("team", "red", "NoExecute"), Taint("team", "red", "PreferNoSchedule")
    assert not takes(a_node(taints=(hard,)), a_pod())
    assert takes(a_node(taints=(soft,)), a_pod())
    assert takes(a_node(taints=(hard, soft)), a_pod(tolerations=(Toleration("team", "Equal", "red", ""),)))
    assert not takes(a_node(taints=(hard,)), a_pod(tolerations=(Toleration("team", "Equal", "blue", ""),)))
    assert repelling_taint(a_node(taints=(soft, hard)), a_pod()) is hard


RANKED = a_node("n7", labels={"rank": "7", "zone": "a", "odd": "1_0"})
CASES = [
    (NodeRequirement("zone", NodeOp.IN, ("a", "b")), True),
    (NodeRequirement("zone", NodeOp.IN, ("c",)), False),
    (NodeRequirement("none", NodeOp.IN, ("c",)), False),
    (NodeRequirement("zone", NodeOp.NOT_IN, ("a",)), False),
    (NodeRequirement("none", NodeOp.NOT_IN, ("a",)), True),
    (NodeRequirement("zone", NodeOp.EXISTS), True),
    (NodeRequirement("none", NodeOp.EXISTS), False),
    (NodeRequirement("none", NodeOp.DOES_NOT_EXIST), True),
    (NodeRequirement("rank", NodeOp.GREATER, ("6",)), True),
    (NodeRequirement("rank", NodeOp.GREATER, ("7",)), False),
    (NodeRequirement("rank", NodeOp.LESS, ("8",)), True),
    (NodeRequirement("rank", NodeOp.LESS, ("-8",)), False),
    (NodeRequirement("rank", NodeOp.LESS), False),
    (NodeRequirement("rank", NodeOp.GREATER), False),
    (NodeRequirement("zone", NodeOp.GREATER, ("1",)), False),
    (NodeRequirement("odd", NodeOp.GREATER, ("1",)), False),
    (NodeRequirement("none", NodeOp.LESS, ("1",)), False),
    (NodeRequirement(NAME_FIELD, NodeOp.IN, ("n7",)), True),
    (NodeRequirement(NAME_FIELD, NodeOp.NOT_IN, ("n7",)), False),
]


@pytest.mark.parametrize(("wanted", "met"), CASES)
def test_node_affinity_follows_kubernetes(wanted: NodeRequirement, met: bool) -> None:
    assert meets_one(RANKED, ((wanted,),)) is met


def test_one_of_the_terms_must_hold_in_all_its_parts_and_an_empty_one_never_does() -> None:
    zone, rank = NodeRequirement("zone", NodeOp.IN, ("a",)), NodeRequirement("rank", NodeOp.IN, ("8",))
    assert meets_one(RANKED, ())
    assert not meets_one(RANKED, ((),))
    assert not meets_one(RANKED, ((zone, rank),))
    assert meets_one(RANKED, ((), (zone, rank), (zone,)))


def test_selector_and_affinity_must_both_hold() -> None:
    here = Demands(node_terms=((NodeRequirement("zone", NodeOp.IN, ("a",)),),))
    assert suits(RANKED, a_pod(node_selector={"rank": "7"}, demands=here))
    assert not suits(RANKED, a_pod(node_selector={"rank": "8"}, demands=here))
    assert not suits(a_node(labels={"rank": "7"}), a_pod(node_selector={"rank": "7"}, demands=here))


ZONE_A = ((NodeRequirement("zone", NodeOp.IN, ("a",)),),)


def test_a_pod_can_go_where_each_of_its_volumes_can_be_mounted() -> None:
    snapshot = a_snapshot(
        VolumeClaim("default", "data", "pv-1", once=True),
        VolumeClaim("default", "anywhere", "pv-2", once=True),
        VolumeClaim("default", "later", None, once=True),
        Volume("pv-1", ZONE_A),
        Volume("pv-2"),
    )
    reach = reach_of(a_pod(demands=Demands(claims=frozenset({"data", "anywhere", "later", "unseen"}))), snapshot)
    assert (reach.claims, reach.unknown) == (("data",), ("later", "unseen"))
    assert reach.includes(RANKED)
    assert not reach.includes(a_node(labels={"zone": "b"}))
    assert reach_of(a_pod(), snapshot).includes(a_node())


CLOSED = [
    (a_node(labels={"zone": "b"}, cordoned=True), Objection.LABELS),
    (a_node("n9", labels={"zone": "a"}, cordoned=True), Objection.DRAINED),
    (a_node(labels={"zone": "a"}, cordoned=True, ready=False), Objection.CORDONED),
    (a_node(labels={"zone": "a"}, ready=False), Objection.NOT_READY),
    (a_node(labels={"zone": "a"}, taints=(Taint("a", "b", "NoSchedule"),)), Objection.TAINT),
    (a_node(labels={"zone": "a"}), None),
]


@pytest.mark.parametrize(("node", "objection"), CLOSED, ids=[str(each) for _, each in CLOSED])
def test_a_node_objects_for_the_reason_that_lasts_longest(node: Node, objection: Objection | None) -> None:
    pod, snapshot = a_pod(node_selector={"zone": "a"}), a_snapshot()
    assert objection_of(node, pod, reach_of(pod, snapshot), frozenset({a_node("n9").name})) is objection


def test_a_volume_out_of_reach_is_an_objection() -> None:
    snapshot = a_snapshot(VolumeClaim("default", "data", "pv-1", once=True), Volume("pv-1", ZONE_A))
    pod = a_pod(demands=Demands(claims=frozenset({"data"})))
    assert objection_of(a_node(), pod, reach_of(pod, snapshot), frozenset()) is Objection.VOLUME


def test_a_cordon_is_passed_by_who_tolerates_its_taint() -> None:
    assert passes_cordons(a_pod(tolerations=TOLERATES_ALL))
    assert not passes_cordons(a_pod())
    pod = a_pod(tolerations=TOLERATES_ALL)
    assert objection_of(a_node(cordoned=True), pod, reach_of(pod, a_snapshot()), frozenset()) is None


def test_open_are_ready_nodes_that_are_neither_cordoned_nor_drained() -> None:
    view = a_view(
        a_node("n1"), a_node("n2"), a_node("n3", cordoned=True), a_node("n4", ready=False), claims=draining("n1")
    )
    assert [each.name for each in open_nodes(view)] == ["n2"]


def test_a_volume_that_goes_with_its_pod_binds_no_other_pod() -> None:
    """An ephemeral volume's claim is named after the pod; what comes in the pod's place has one of its own."""
    snapshot = a_snapshot(VolumeClaim("default", "a-scratch", "pv-1", once=True), Volume("pv-1", ZONE_A))
    pod = a_pod(demands=Demands(claims=frozenset({"a-scratch"})))
    assert is_made_anew(pod, "a-scratch")
    reach = reach_of(pod, snapshot)
    assert (reach.terms, reach.unknown) == ((), ("a-scratch",))

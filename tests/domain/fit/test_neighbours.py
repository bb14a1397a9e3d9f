"""Neighbours: what other pods bar a pod from, for certain and as things are."""

from typing import Any

import pytest

from hangar.domain.fit.crowd import Crowd
from hangar.domain.fit.neighbours import (
    DomainRule,
    Surroundings,
    certain_rules,
    company_of,
    is_its_own_company,
    shape_of,
)
from hangar.domain.fit.node_rules import Objection
from hangar.domain.fit.scene import Scene
from hangar.domain.ids import NodeName, OwnerUid
from hangar.domain.placing import (
    HOST_NAME,
    Demands,
    NodeOp,
    NodeRequirement,
    PodTerm,
    Requirement,
    SelectorOp,
    Spread,
)
from hangar.domain.snapshot import Node, OwnerRef, Pod, Taint, Toleration
from tests.domain.building import Object, a_node, a_pod, a_view, draining, pending, terminating

API = (Requirement("app", SelectorOp.IN, frozenset({"api"})),)
WEB = (Requirement("app", SelectorOp.IN, frozenset({"web"})),)
HERE = frozenset({"default"})
ZONE = "zone"
APART = Demands(apart_from=(PodTerm(ZONE, API, HERE),))
NEAR_WEB = Demands(near=(PodTerm(ZONE, WEB, HERE),))
NEAR_API = Demands(near=(PodTerm(ZONE, API, HERE),))
EVERYTHING = (Toleration("", "Exists", "", ""),)


def node(name: str, zone: str | None = None, **fields: Any) -> Node:
    return a_node(name, labels={HOST_NAME: name, **({ZONE: zone} if zone else {})}, **fields)


N1, N2, N3, N4 = node("n1", "a"), node("n2", "a"), node("n3", "b"), node("n4")
NODES = (N1, N2, N3, N4)


def web(name: str, on: str, **fields: Any) -> Pod:
    return a_pod(name, on=on, labels={"app": "web"}, **fields)


def barred(pod: Pod, *objects: Object, nodes: tuple[Node, ...] = NODES, drained: tuple[str, ...] = ("n1",)) -> str:
    """Return the nodes that are certainly out of the question for a pod, which moves alone."""
    moving = [each for each in objects if isinstance(each, Pod) and each.node == "n1"]
    scene = Scene((pod, *moving), a_view(*nodes, pod, *objects, claims=draining(*drained)))
    rules = certain_rules(pod, scene)
    return " ".join(each.name for each in nodes if each.name not in drained and any(rule.bars(each) for rule in rules))


def open_to(pod: Pod, *objects: Object, placed: tuple[Pod, ...] = (), promised: tuple[Pod, ...] = ()) -> str:
    """Return the nodes that take a pod as things are, beside pods that were given a place."""
    moving = [each for each in objects if isinstance(each, Pod) and each.node == "n1"]
    scene = Scene((pod, *moving), a_view(*NODES, pod, *objects, claims=draining("n1")))
    rules = Surroundings(pod, scene).rules(Crowd(placed), Crowd(promised))
    return " ".join(each.name for each in NODES if each is not N1 and not any(rule.bars(each) for rule in rules))


def test_a_rule_bars_by_the_value_of_a_label() -> None:
    assert DomainRule(Objection.APART, ZONE, frozenset({"a"})).bars(N1)
    assert not DomainRule(Objection.APART, ZONE, frozenset({"a"})).bars(N3)
    assert not DomainRule(Objection.APART, ZONE, frozenset({"a"})).bars(N4)
    assert DomainRule(Objection.NEAR, ZONE, only=frozenset({"a"}), is_needed=True).bars(N3)
    assert DomainRule(Objection.NEAR, ZONE, is_needed=True).bars(N4)


# --- apart ------------------------------------------------------------------------------------------------------------


def test_a_pod_is_kept_out_of_the_domains_of_pods_that_it_must_be_apart_from() -> None:
    assert barred(a_pod(demands=APART), a_pod("b", on="n3")) == "n3"
    assert barred(a_pod(demands=APART), a_pod("b", on="n4")) == "", "a node without the label is in no domain"
    assert barred(a_pod(demands=APART), web("b", "n3")) == ""


def test_a_pod_is_kept_out_of_the_domains_of_pods_that_must_be_apart_from_it() -> None:
    assert barred(a_pod(), web("b", "n3", demands=APART)) == "n3"
    assert barred(a_pod(namespace="far"), web("b", "n3", demands=APART)) == ""


@pytest.mark.parametrize(
    "other",
    [a_pod("b", on="n1"), terminating("b", on="n3"), a_pod("b", on="n3", priority=-1), a_pod("b", on="gone")],
    ids=["moves as well", "terminates", "may have to give way", "on a node that is gone"],
)
def test_a_pod_that_may_leave_keeps_nobody_away_for_certain(other: Pod) -> None:
    assert barred(a_pod(demands=APART), other) == ""


def test_as_things_are_a_pod_that_is_there_or_placed_keeps_others_away() -> None:
    mine = a_pod(demands=APART)
    assert open_to(mine, terminating("b", on="n3")) == "n2 n4"
    assert open_to(mine, a_pod("b", on="n1")) == "n2 n3 n4"
    assert open_to(mine, placed=(a_pod("b", on="n3"),)) == "n2 n4"
    assert open_to(mine, promised=(a_pod("b", on="n2"),)) == "n3 n4"


# --- near -------------------------------------------------------------------------------------------------------------


def test_a_pod_that_must_be_near_others_stays_in_their_domains() -> None:
    assert barred(a_pod(demands=NEAR_WEB), web("b", "n3")) == "n2 n4"


@pytest.mark.parametrize("other", [web("c", "n1"), terminating("c", on="n3", labels={"app": "web"})])
def test_where_its_company_may_move_only_the_label_is_certain(other: Pod) -> None:
    assert barred(a_pod(demands=NEAR_WEB), web("b", "n3"), other) == "n4"


def test_without_company_nothing_is_certain_but_the_label() -> None:
    """Its company may be between two lives at this moment."""
    assert barred(a_pod(demands=NEAR_WEB)) == "n4"
    assert barred(a_pod(demands=NEAR_API)) == "n4"


def test_company_that_is_in_no_domain_lets_the_first_of_its_sort_go_anywhere() -> None:
    assert barred(a_pod(demands=NEAR_API), a_pod("b", on="n4")) == "n4"
    assert barred(a_pod(demands=NEAR_WEB), web("b", "n4")) == "n2 n3 n4"


def test_company_matches_all_the_terms_at_once() -> None:
    both = Demands(near=(PodTerm(ZONE, API, HERE), PodTerm(HOST_NAME, (), None)))
    crowd = Crowd([a_pod("b"), a_pod("far", namespace="far"), web("c", "n2")])
    assert [each.ref.name for each in company_of(a_pod(demands=both), crowd)] == ["b"]
    assert company_of(a_pod(), crowd) == []
    assert is_its_own_company(a_pod(demands=both))
    assert not is_its_own_company(a_pod(demands=NEAR_WEB))


def test_as_things_are_a_pod_goes_where_company_stays_or_was_placed_with_it() -> None:
    assert open_to(a_pod(demands=NEAR_WEB), web("b", "n3"), web("c", "n2", priority=-1)) == "n3"
    assert open_to(a_pod(demands=NEAR_WEB), placed=(web("b", "n2"),)) == "n2"
    assert open_to(a_pod(demands=NEAR_WEB), promised=(web("b", "n2"),)) == "", "nothing is built on a promise"
    assert open_to(a_pod(demands=NEAR_WEB)) == ""


def test_as_things_are_the_first_of_its_sort_may_go_anywhere_with_the_label() -> None:
    assert open_to(a_pod(demands=NEAR_API)) == "n2 n3"
    assert open_to(a_pod(demands=NEAR_API), a_pod("b", on="n1")) == "n2 n3"
    assert open_to(a_pod(demands=NEAR_API), promised=(a_pod("b", on="n2"),)) == ""
    assert open_to(a_pod(demands=NEAR_API), terminating("b", on="n3")) == ""


# --- spread -----------------------------------------------------------------------------------------------------------


def spread(key: str = HOST_NAME, skew: int = 1, **fields: Any) -> Demands:
    return Demands(spread=(Spread(key, skew, API, **fields),))


def test_a_drained_node_stays_a_domain_that_empties_so_that_no_other_takes_one_more() -> None:
    """One replica a node with a skew of one: the cordoned node counts 0 for ever, and each other already has one."""
    mine = a_pod(demands=spread())
    assert barred(mine, *(a_pod(f"b{each}", on=each) for each in ("n2", "n3", "n4"))) == "n2 n3 n4"
    assert barred(mine, a_pod("b", on="n2")) == "n2"
    assert barred(a_pod(demands=spread(skew=2)), a_pod("b", on="n2")) == ""


def test_where_taints_are_honoured_a_drained_node_is_no_domain() -> None:
    others = [a_pod(f"b{each}", on=each) for each in ("n2", "n3", "n4")]
    assert barred(a_pod(demands=spread(honors_taints=True)), *others) == ""
    tolerant = a_pod(demands=spread(honors_taints=True), tolerations=EVERYTHING)
    assert barred(tolerant, *others) == "n2 n3 n4", "who passes cordons counts the node that he may come back to"


def test_of_several_alike_the_last_to_move_finds_the_node_empty() -> None:
    """The first could still move while the second is there; the last cannot, and all of them must."""
    mine = a_pod(demands=spread())
    twin = a_pod("twin", demands=spread())
    assert barred(mine, twin, *(a_pod(f"b{each}", on=each) for each in ("n2", "n3", "n4"))) == "n2 n3 n4"


def test_of_several_unlike_each_may_move_while_the_others_are_there() -> None:
    free = a_pod("free")
    assert barred(a_pod(demands=spread()), free, *(a_pod(f"b{each}", on=each) for each in ("n2", "n3", "n4"))) == ""


def test_a_twin_that_another_controller_has_may_be_the_last_to_move() -> None:
    stranger = a_pod("twin", demands=spread(), owner=OwnerRef("Deployment", "other", OwnerUid("other")))
    others = [a_pod(f"b{each}", on=each) for each in ("n2", "n3", "n4")]
    assert barred(a_pod(demands=spread()), stranger, *others) == ""


@pytest.mark.parametrize(
    "other",
    [pending("c"), a_pod("c", on="n3", priority=-1), terminating("c", on="n3")],
    ids=["has no place", "may have to give way", "terminates"],
)
def test_a_pod_without_a_settled_place_may_fill_the_emptiest_domain(other: Pod) -> None:
    zones = a_pod(demands=spread(ZONE))
    assert barred(zones, a_pod("b", on="n2"), a_pod("b2", on="n2")) == "n2 n4"
    assert barred(zones, a_pod("b", on="n2"), a_pod("b2", on="n2"), other) == "n2 n4"
    assert barred(zones, a_pod("b", on="n2"), other) == "n4"


def test_a_shut_domain_is_filled_only_by_who_passes_cordons() -> None:
    mine = a_pod(demands=spread())
    others = [a_pod(f"b{each}", on=each) for each in ("n2", "n3", "n4")]
    assert barred(mine, *others, pending("c")) == "n2 n3 n4"
    assert barred(mine, *others, pending("c", tolerations=EVERYTHING)) == ""


def test_too_few_domains_count_as_an_empty_one_beside_them() -> None:
    two = a_pod("b", on="n2"), a_pod("c", on="n3")
    assert barred(a_pod(demands=spread(ZONE)), *two) == "n4"
    assert barred(a_pod(demands=spread(ZONE, min_domains=3)), *two) == "n2 n3 n4"


def test_nodes_that_a_pod_cannot_go_to_are_no_domains_where_its_affinity_is_honoured() -> None:
    bound = ((NodeRequirement(ZONE, NodeOp.IN, ("b",)),),)
    honours = Demands(node_terms=bound, spread=(Spread(ZONE, 1, API),))
    ignores = Demands(node_terms=bound, spread=(Spread(ZONE, 1, API, honors_affinity=False),))
    assert barred(a_pod(demands=honours), a_pod("b", on="n3")) == "n4"
    assert barred(a_pod(demands=ignores), a_pod("b", on="n3")) == "n3 n4"


def test_tainted_nodes_are_no_domains_where_taints_are_honoured() -> None:
    red = node("n4", "c", taints=(Taint("red", "", "NoSchedule"),))
    nodes, others = (N1, N2, N3, red), (a_pod("b", on="n2"), a_pod("c", on="n3"))
    assert barred(a_pod(demands=spread(ZONE)), *others, nodes=nodes) == "n2 n3"
    assert barred(a_pod(demands=spread(ZONE, honors_taints=True)), *others, nodes=nodes) == ""


def test_every_constraint_needs_its_label() -> None:
    both = Demands(spread=(Spread(HOST_NAME, 9, API), Spread(ZONE, 9, API)))
    assert barred(a_pod(demands=both)) == "n4"


def test_a_pod_that_its_own_constraint_does_not_count_adds_nothing() -> None:
    demands = Demands(spread=(Spread(HOST_NAME, 1, API),))
    one_each = [a_pod(f"b{each}", on=each) for each in ("n2", "n3", "n4")]
    assert barred(web("w", "n1", demands=demands), *one_each) == ""


def test_as_things_are_the_spread_is_reckoned_with_what_was_placed() -> None:
    mine = a_pod(demands=spread(ZONE))
    assert open_to(mine) == "n2 n3"
    assert open_to(mine, placed=(a_pod("b", on="n2"),)) == "n3"
    assert open_to(mine, a_pod("c", on="n2"), placed=(a_pod("b", on="n3"),)) == "n2 n3"
    assert open_to(mine, a_pod("c", on="n2"), promised=(a_pod("b", on="n3"),)) == "", (
        "a promise fills, but does not help"
    )
    assert open_to(mine, a_pod("c", on="n2"), terminating("b", on="n3")) == "n3", "what terminates is not counted"


def test_pods_are_of_one_shape_where_all_is_alike_but_their_names() -> None:
    assert shape_of(a_pod("a", demands=spread())) == shape_of(a_pod("b", demands=spread()))
    assert shape_of(a_pod("a")) != shape_of(a_pod("a", labels={}))
    assert shape_of(a_pod("a")) != shape_of(a_pod("a", namespace="far"))
    assert NodeName("n1") in shape_of(a_pod("a"))

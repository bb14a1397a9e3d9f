"""Crossed budgets: seen from both sides, and only the younger drain waits."""

from hangar.domain.blockers import sentence
from hangar.domain.drain.crossing import crossed_by
from hangar.domain.ids import NodeName, NodeUid, OwnerUid, PodUid
from hangar.domain.placing import Requirement, SelectorOp
from hangar.domain.snapshot import OwnerRef
from hangar.domain.view import Claims, View
from tests.domain.building import NOON, OP, OTHER_OP, a_budget, a_node, a_pod, a_view, an_owner

P, Q = (OwnerRef("Deployment", name, OwnerUid(name)) for name in "pq")


def holding(node: str, owner: OwnerRef, sent: str) -> Claims:
    """Return what a drain of a node holds that has evicted a pod of an owner which does not serve elsewhere yet."""
    claimed = (NodeName(node), NodeUid(f"{node}-uid"))
    return Claims(claimed, {P.uid: 2, Q.uid: 2}, {PodUid(sent): NOON}, frozenset({owner.uid}))


def a_crossing(*, second_waits: bool = True) -> View:
    """Return two drains: that of n1 has moved a p and waits for q, that of n2 has moved a q and waits for p (C26)."""
    budgets = [
        a_budget(
            name,
            healthy=1,
            needs=1,
            allowed=0,
            expected=2,
            selector=(Requirement("app", SelectorOp.IN, frozenset({name})),),
        )
        for name in "pq"
    ]
    pods = [a_pod("q1", on="n1", owner=Q, labels={"app": "q"})]
    if second_waits:
        pods.append(a_pod("p2", on="n2", owner=P, labels={"app": "p"}))
    else:
        pods.append(a_pod("p2", on="n3", owner=P, labels={"app": "p"}))
    owners = [an_owner(name, 2) for name in "pq"]
    claims = {OP: holding("n1", P, "p1"), OTHER_OP: holding("n2", Q, "q2")}
    nodes = [a_node(name) for name in ("n1", "n2", "n3")]
    return a_view(*nodes, *budgets, *pods, *owners, claims=claims)


def test_the_younger_of_two_that_cross_waits_and_names_the_older() -> None:
    told = crossed_by(OTHER_OP, a_crossing())
    assert told is not None
    assert sentence(told) == (
        "waiting for op_01, the older drain: it holds pdb default/p, and waits for a budget that this one holds"
    )
    assert crossed_by(OP, a_crossing()) is None


def test_waiting_for_an_older_drain_that_waits_for_nobody_is_no_crossing() -> None:
    assert crossed_by(OTHER_OP, a_crossing(second_waits=False)) is None

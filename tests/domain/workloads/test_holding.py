"""Which reductions wait for a node drain, and which must not."""

from collections.abc import Mapping
from typing import Any

import pytest

from hangar.domain.ids import NodeName, NodeUid, OwnerUid, PodUid
from hangar.domain.limits import STUCK_AFTER_S
from hangar.domain.snapshot import Pod
from hangar.domain.view import Claims
from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.holding import held
from hangar.domain.workloads.members import Part
from tests.domain.building import (
    API,
    LLAMA,
    NOON,
    OP,
    OTHER_OP,
    a_member,
    a_pod,
    a_view,
    an_owner,
    at,
    desired,
    pending,
    terminating,
    uids,
)

DECODE = Part(LLAMA, "decode")
STAY = (a_pod("b", on="n2"), a_pod("c", on="n2"), a_pod("d", on="n2"))


def claims(*sent: str, part: Part = DECODE, owner: OwnerUid = API.uid, ready: int = 4, node: str = "n1") -> Claims:
    """Return what a drain holds that has evicted these pods of an owner which had so many ready."""
    at_noon = {PodUid(name): NOON for name in sent}
    draining = (NodeName(node), NodeUid(f"{node}-uid"))
    return Claims(draining, {owner: ready}, at_noon, frozenset({owner}), parts={owner: part})


def code(
    *pods: Pod,
    count: int = 2,
    fewer: int = 2,
    of: Claims | None = None,
    owner: Mapping[str, Any] | None = None,
    seconds: float = 0,
    **fields: Any,
) -> str | None:
    view = a_view(an_owner(**({"desired": 4} | dict(owner or {}))), *pods, claims={OP: of or claims("a")}, **fields)
    why = held(desired(7, decode=count), {"decode": fewer}, view, at(seconds))
    return why.code if why is not None else None


@pytest.mark.parametrize(
    "pods",
    [
        (terminating("a"),),
        (pending("e", on="n2"),),
        (terminating("a"), a_pod("e", on="n2")),
        (),
    ],
    ids=["ending", "loading", "ending, though its replacement serves", "between two pods"],
)
def test_a_reduction_waits_while_a_replica_is_ending_or_its_replacement_loads(pods: tuple[Pod, ...]) -> None:
    assert code(*pods, *STAY) == "draining"


def test_it_waits_from_the_moment_that_the_eviction_is_decided() -> None:
    assert code(a_pod("a"), *STAY, leaving=uids("a")) == "draining"


def test_it_waits_no_longer_once_all_serves_elsewhere() -> None:
    assert code(a_pod("e", on="n2"), *STAY) is None


def test_a_component_that_is_to_have_none_does_not_wait() -> None:
    """Nothing is left to protect, and a pause must not hang on a drain that has no room for the replacements."""
    assert code(terminating("a"), *STAY, count=0, fewer=4) is None


def test_what_takes_no_more_than_what_is_missing_does_not_wait() -> None:
    """It says that the evicted ones are not wanted any more, which is what may let the drain end."""
    assert code(pending("e", on="n2"), *STAY, count=3, fewer=1) is None
    assert code(pending("e", on="n2"), *STAY, count=2, fewer=2) == "draining"


@pytest.mark.parametrize(
    ("pods", "owner"),
    [
        ((pending("e", unschedulable_since=NOON),), {}),
        ((), {"failure": "exceeded quota"}),
    ],
    ids=["no place", "not created"],
)
def test_it_does_not_wait_for_what_may_never_come(pods: tuple[Pod, ...], owner: Mapping[str, Any]) -> None:
    assert code(*pods, *STAY, owner=owner) is None


def test_it_does_not_wait_for_a_pod_that_is_overdue_to_end() -> None:
    ends = (terminating("a", seconds=30), a_pod("e", on="n2"), *STAY)
    assert code(*ends, seconds=30 + STUCK_AFTER_S - 0.1) == "draining"
    assert code(*ends, seconds=30 + STUCK_AFTER_S) is None


def test_one_of_two_that_comes_is_waited_for() -> None:
    pods = (pending("e", unschedulable_since=NOON), pending("f", on="n2"), a_pod("c", on="n2"), a_pod("d", on="n2"))
    assert code(*pods, of=claims("a", "b"), count=1, fewer=3) == "draining"
    assert code(*pods, of=claims("a", "b"), count=2, fewer=2) is None
    failing = {"failure": "exceeded quota"}
    assert code(*pods, of=claims("a", "b"), count=1, fewer=3, owner=failing) == "draining"


@pytest.mark.parametrize(
    "of",
    [
        claims("a", part=Part(LLAMA, "prefill")),
        claims("a", part=Part(GraphRef("serving", "other"), "decode")),
        Claims((NodeName("n1"), NodeUid("n1-uid")), {API.uid: 4}, parts={API.uid: DECODE}),
    ],
    ids=["of another component", "of another graph", "nothing is evicted yet"],
)
def test_what_is_not_moved_of_the_component_does_not_hold_it(of: Claims) -> None:
    assert code(pending("e", on="n2"), *STAY, of=of) is None


def test_a_group_counts_once_however_many_pods_it_has() -> None:
    keeper = OwnerUid("LeaderWorkerSet/default/llama")
    stay = [a_member(f"m{number}", number // 2, on="n2") for number in range(2, 6)]
    loading = [a_member("m0", 0, on="n2", ready=False), a_member("m1", 0, on="n2", ready=False)]
    of = claims("x", "y", owner=keeper, ready=3)
    assert code(*loading, *stay, of=of, fewer=2, count=1) == "draining"
    assert code(*loading, *stay, of=of, fewer=1, count=2) is None


def test_every_drain_that_is_waited_for_is_named_with_its_node() -> None:
    both = {OP: claims("a"), OTHER_OP: claims("f", node="n3")}
    view = a_view(an_owner(desired=4), terminating("a"), terminating("f", on="n3"), *STAY[:2], claims=both)
    why = held(desired(7, decode=1), {"decode": 3}, view, NOON)
    assert why is not None
    assert why.rev == 7
    assert why.why == (
        "decode is lowered to 1 once the replicas that op_01 (node n1) and op_02 (node n3) evicted have ended "
        "and serve elsewhere"
    )

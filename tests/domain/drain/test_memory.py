"""A drain's memory: what each look at the cluster adds, and what it takes back."""

from dataclasses import replace

import pytest

from hangar.domain.decision import (
    Accepted,
    Answer,
    BudgetFull,
    Busy,
    Delete,
    Denied,
    Gone,
    Namesake,
    Unknown,
    Withheld,
)
from hangar.domain.drain.memory import DrainMemory, remember, vanishing_at
from hangar.domain.drain.moves import TrackedPod
from hangar.domain.ids import OwnerUid, PodUid
from hangar.domain.limits import OWNER_GONE_S
from hangar.domain.snapshot import Node, OwnerRef
from hangar.domain.view import View
from tests.domain.building import (
    API,
    NOON,
    OP,
    OTHER_OP,
    a_mark,
    a_node,
    a_pod,
    a_ref,
    a_view,
    an_answer,
    an_owner,
    at,
    draining,
    our_node,
)

BEGUN = DrainMemory(cordoned_at=NOON)


def learnt(memory: DrainMemory, view: View, node: Node | None, seconds: float = 0) -> DrainMemory:
    return remember(memory, OP, node, view, at(seconds))


def sent(name: str, seconds: float = 0) -> DrainMemory:
    """Return the memory of a drain that sent one eviction, so many seconds after noon."""
    tracked = TrackedPod(a_ref(name), API, sent_at=at(seconds))
    return replace(BEGUN, pods={PodUid(name): tracked})


@pytest.mark.parametrize(
    "node",
    [a_node(), a_node(cordoned=True, cordon_manager="kubectl"), our_node(operation=OTHER_OP)],
    ids=["schedulable", "cordoned by hand", "cordoned by another operation"],
)
def test_before_its_cordon_is_seen_it_learns_nothing(node: Node) -> None:
    assert learnt(DrainMemory(), a_view(node, a_pod(), an_owner()), node) == DrainMemory()


def test_the_moment_its_cordon_is_seen_it_knows_pods_and_owners() -> None:
    node = our_node()
    view = a_view(node, a_pod("a", has_disk_empty_dir=True), a_pod("b", on="n2"), an_owner())
    memory = learnt(DrainMemory(), view, node, 5)
    assert memory.cordoned_at == at(5)
    assert not memory.was_cordoned_before
    assert memory.pods == {PodUid("a"): TrackedPod(a_ref("a"), API, has_disk_empty_dir=True)}
    assert memory.baselines == {API.uid: 2}
    assert learnt(memory, view, node, 99) == memory, "and the same look again adds nothing"


def test_a_cordon_from_before_is_remembered_as_such() -> None:
    node = a_node(cordoned=True, mark=a_mark(prior=True), cordon_manager="kubectl")
    assert learnt(DrainMemory(), a_view(node), node).was_cordoned_before


def test_a_pod_that_arrives_late_is_found_and_its_owner_counted_once() -> None:
    node = our_node()
    first = learnt(BEGUN, a_view(node, a_pod("a"), an_owner()), node)
    late = learnt(first, a_view(node, a_pod("a"), a_pod("b"), an_owner()), node)
    assert set(late.pods) == {"a", "b"}
    assert late.baselines == {API.uid: 1}


def test_pods_that_are_left_where_they_are_are_not_remembered() -> None:
    node = our_node()
    daemons = an_owner("agent", kind="DaemonSet")
    view = a_view(node, daemons, a_pod("a", owner=daemons.ref), a_pod("b", owner=None), a_pod("c", is_mirror=True))
    memory = learnt(BEGUN, view, node)
    assert (memory.pods, memory.baselines) == ({}, {})


def test_a_node_that_is_gone_adds_nothing_and_loses_nothing() -> None:
    known = replace(sent("a"), orphaned_at={PodUid("x"): NOON})
    assert learnt(known, a_view(a_pod("b", on="n1")), None) == replace(known, orphaned_at={})


@pytest.mark.parametrize(
    "answer", [BudgetFull("x"), Busy("x"), Denied("x"), Withheld("x"), Gone(), Namesake()], ids=repr
)
def test_an_eviction_that_certainly_was_not_ours_is_struck_out(answer: Answer) -> None:
    view = a_view(our_node(), a_pod("a"), answers=an_answer("a", answer, seconds=1))
    assert learnt(sent("a"), view, our_node()).pods[PodUid("a")].sent_at is None


@pytest.mark.parametrize("answer", [Accepted(), Unknown("timed out")], ids=repr)
def test_an_eviction_that_landed_or_may_have_is_remembered(answer: Answer) -> None:
    view = a_view(our_node(), a_pod("a"), answers=an_answer("a", answer, seconds=1))
    assert learnt(sent("a"), view, our_node()).pods[PodUid("a")].sent_at == NOON


def test_an_answer_to_an_earlier_try_says_nothing_of_this_one() -> None:
    view = a_view(our_node(), a_pod("a"), answers=an_answer("a", Busy("conflict"), seconds=1))
    assert learnt(sent("a", seconds=2), view, our_node()).pods[PodUid("a")].sent_at == at(2)


def test_an_owner_that_cannot_create_pods_is_remembered_until_it_can() -> None:
    node, failing = our_node(), an_owner(desired=1, failure="exceeded quota")
    known = replace(sent("a"), baselines={API.uid: 1})
    claims = draining("n1", baselines={"api": 1})
    memory = learnt(known, a_view(node, failing, claims=claims), node, 3)
    assert memory.failing_at == {API.uid: at(3)}
    assert learnt(memory, a_view(node, failing, claims=claims), node, 9).failing_at == {API.uid: at(3)}
    assert learnt(memory, a_view(node, an_owner(desired=1), claims=claims), node, 9).failing_at == {}


def test_since_when_its_node_is_replaced_is_remembered_until_it_is_not() -> None:
    memory = DrainMemory(cordoned_at=NOON)
    replaced = remember(memory, OP, None, a_view(), at(3), is_replaced=True)
    assert replaced.replaced_at == at(3)
    assert remember(replaced, OP, None, a_view(), at(9), is_replaced=True).replaced_at == at(3)
    assert remember(replaced, OP, None, a_view(), at(9)).replaced_at is None


def test_what_is_forced_counts_as_ours_whatever_was_said_to_its_eviction_before() -> None:
    forced = replace(sent("a"), pods={PodUid("a"): TrackedPod(a_ref("a"), API, sent_at=NOON, forced_at=at(2))})
    answers = an_answer("a", Busy("conflict"), seconds=3) | an_answer(Delete(a_ref("a"), 1), Accepted(), seconds=3)
    assert learnt(forced, a_view(our_node(), a_pod("a"), answers=answers), our_node()).pods == forced.pods


def test_what_is_not_read_is_taken_to_be_gone_after_a_while_and_what_is_read_at_once() -> None:
    foreign = OwnerRef("PodClique", "decode", OwnerUid("decode"))
    pods = {PodUid(name): TrackedPod(a_ref(name), owner, sent_at=NOON) for name, owner in (("a", API), ("b", foreign))}
    memory = learnt(replace(BEGUN, pods=pods), a_view(our_node()), our_node(), 5)
    assert memory.absent_at == {API.uid: at(5), foreign.uid: at(5)}
    assert memory.vanished == {API.uid}
    assert vanishing_at(memory, at(5)) == at(5 + OWNER_GONE_S)
    later = learnt(memory, a_view(our_node()), our_node(), 5 + OWNER_GONE_S)
    assert later.vanished == {API.uid, foreign.uid}
    assert vanishing_at(later, at(5 + OWNER_GONE_S)) is None
    back = learnt(memory, a_view(our_node(), a_pod("c", on="n2", owner=foreign)), our_node(), 9)
    assert back.absent_at == {API.uid: at(5)}

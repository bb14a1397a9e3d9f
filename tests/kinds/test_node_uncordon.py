"""node.uncordon: it lifts anybody's cordon, and says whose it was."""

from dataclasses import replace

import pytest

from hangar.domain.decision import Accepted, Answered, End, Go, Uncordon
from hangar.domain.ids import NodeName, NodeUid
from hangar.domain.operation import Phase
from hangar.domain.snapshot import Node
from hangar.domain.view import View, key_of
from hangar.kinds.node_uncordon import KIND, Decision, UncordonMemory, UncordonParams, decide
from tests.domain.building import NOON, OP, OTHER_OP, a_job, a_mark, a_node, a_view, at, our_node

NEW = UncordonMemory()
STEP = Uncordon(NodeName("n1"), NodeUid("n1-uid"))
BY_HAND = a_node(cordoned=True, cordon_manager="kubectl-cordon")


def decided(view: View, memory: UncordonMemory = NEW, seconds: float = 0, *, is_cancelled: bool = False) -> Decision:
    return decide(a_job(UncordonParams(), memory, is_cancelled=is_cancelled), view, at(seconds))


def over(decision: Decision) -> tuple[Phase, str, str]:
    assert isinstance(decision, End)
    return decision.phase, decision.code, decision.message


@pytest.mark.parametrize(
    ("node", "whose"),
    [
        (BY_HAND, "kubectl-cordon"),
        (replace(our_node(operation=OTHER_OP), mark=a_mark(OTHER_OP, reason="disk")), "alice (disk)"),
    ],
    ids=["by hand", "by another operation"],
)
def test_a_cordon_is_lifted_and_whose_it_was_is_remembered_and_said(node: Node, whose: str) -> None:
    """C46: who lifts another's cordon is told whose it was."""
    decision = decided(a_view(node))
    assert isinstance(decision, Go)
    assert (decision.steps, decision.memory) == ((STEP,), UncordonMemory(whose))
    ended = decided(a_view(a_node()), decision.memory)
    assert over(ended) == (Phase.SUCCEEDED, "uncordoned", f"uncordoned; it was cordoned by {whose}")


def test_whose_cordon_it_was_is_not_learnt_anew_on_the_way() -> None:
    decision = decided(a_view(replace(BY_HAND, cordon_manager="somebody-else")), UncordonMemory("kubectl-cordon"))
    assert decision.memory == UncordonMemory("kubectl-cordon")


def test_a_schedulable_node_needs_nothing() -> None:
    assert over(decided(a_view(a_node()))) == (Phase.SUCCEEDED, "already_schedulable", "already schedulable")


def test_a_mark_that_somebody_left_behind_goes_too_and_is_nobodys_cordon() -> None:
    decision = decided(a_view(a_node(mark=a_mark(OTHER_OP))))
    assert isinstance(decision, Go)
    assert (decision.steps, decision.memory) == ((STEP,), UncordonMemory(None))


def test_what_was_accepted_is_not_done_before_it_is_seen() -> None:
    """C43: an uncordon is read back."""
    view = a_view(BY_HAND, answers={key_of(OP, STEP): Answered(Accepted(), NOON)})
    decision = decided(view)
    assert isinstance(decision, Go)
    assert [each.code for each in decision.blockers] == ["awaiting_confirmation"]
    assert over(decided(view, seconds=10))[:2] == (Phase.FAILED, "not_confirmed")


@pytest.mark.parametrize("is_late", [False, True], ids=["cancelled", "at its deadline"])
def test_it_stops_when_cancelled_or_at_its_deadline_unless_it_is_done(is_late: bool) -> None:
    def at_the_end(node: Node) -> Decision:
        return decided(a_view(node), seconds=60 if is_late else 0, is_cancelled=not is_late)

    stopped = (Phase.FAILED, "deadline_exceeded") if is_late else (Phase.CANCELLED, "cancelled")
    assert over(at_the_end(BY_HAND))[:2] == stopped
    assert over(at_the_end(a_node()))[:2] == (Phase.SUCCEEDED, "already_schedulable")


def test_another_node_of_the_name_is_not_touched() -> None:
    assert over(decided(a_view(a_node(uid="another", cordoned=True))))[1] == "node_replaced"
    assert over(decided(a_view()))[1] == "node_not_found"


@pytest.mark.parametrize("nodes", [(), (a_node(),), (BY_HAND,)], ids=["none", "schedulable", "cordoned"])
def test_nothing_is_concluded_while_the_cluster_cannot_be_read(nodes: tuple[Node, ...]) -> None:
    decision = decided(a_view(*nodes, unreadable=("nodes: no reply",)))
    assert isinstance(decision, Go)
    assert [each.code for each in decision.blockers] == ["unreadable"]
    assert over(decided(a_view(*nodes, unreadable=("nodes: no reply",)), seconds=60))[1] == "deadline_exceeded"


def test_the_kind_is_what_the_contract_says() -> None:
    assert (KIND.name, KIND.needs, KIND.steps) == ("node.uncordon", "cordon", (Uncordon,))

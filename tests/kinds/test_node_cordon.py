"""node.cordon: it is done when the node is seen cordoned, and says whose cordon that is."""

from dataclasses import replace

import pytest

from hangar.domain.decision import Accepted, Answer, Answered, Cordon, Denied, End, Go, Unknown
from hangar.domain.ids import NodeName, NodeUid
from hangar.domain.limits import DENIED_TRIES_MAX
from hangar.domain.operation import Phase
from hangar.domain.snapshot import Node
from hangar.domain.view import View, key_of
from hangar.kinds.node_cordon import KIND, CordonMemory, CordonParams, Decision, decide
from tests.domain.building import NOON, OP, OTHER_OP, a_job, a_mark, a_node, a_view, at, our_node

NEW, BEGUN = CordonMemory(), CordonMemory(began=True)
MARK = a_mark(reason="firmware")
STEP = Cordon(NodeName("n1"), NodeUid("n1-uid"), MARK)
BY_HAND = a_node(cordoned=True, cordon_manager="kubectl-cordon")


def decided(view: View, memory: CordonMemory = NEW, seconds: float = 0, *, is_cancelled: bool = False) -> Decision:
    return decide(a_job(CordonParams(), memory, is_cancelled=is_cancelled), view, at(seconds))


def over(decision: Decision) -> tuple[Phase, str, str]:
    assert isinstance(decision, End)
    return decision.phase, decision.code, decision.message


def answered(answer: Answer, *, tries: int = 1) -> View:
    return a_view(a_node(), answers={key_of(OP, STEP): Answered(answer, NOON, tries)})


def test_a_schedulable_node_is_cordoned_under_our_mark_and_that_it_began_is_remembered() -> None:
    decision = decided(a_view(a_node()))
    assert isinstance(decision, Go)
    assert (decision.steps, decision.memory) == ((STEP,), BEGUN)


def test_it_is_done_when_the_node_is_seen_cordoned_by_it() -> None:
    assert over(decided(a_view(our_node()), BEGUN)) == (Phase.SUCCEEDED, "cordoned", "cordoned")
    after_a_crash = decided(a_view(our_node()))
    assert over(after_a_crash) == (Phase.SUCCEEDED, "cordoned", "cordoned")


@pytest.mark.parametrize(
    ("node", "whose"),
    [
        (BY_HAND, "kubectl-cordon"),
        (replace(our_node(operation=OTHER_OP), mark=a_mark(OTHER_OP, reason="disk")), "alice (disk)"),
    ],
    ids=["by hand", "by another operation"],
)
def test_a_node_that_is_cordoned_already_is_left_as_it_is(node: Node, whose: str) -> None:
    assert over(decided(a_view(node))) == (Phase.SUCCEEDED, "already_cordoned", f"already cordoned by {whose}")


def test_a_cordon_by_hand_that_overtook_it_is_taken_under_its_mark_too() -> None:
    decision = decided(a_view(BY_HAND), BEGUN)
    assert isinstance(decision, Go)
    (step,) = decision.steps
    assert isinstance(step, Cordon)
    assert step.mark == a_mark(prior=True, reason="firmware")
    seen = replace(BY_HAND, mark=a_mark(prior=True))
    assert over(decided(a_view(seen), BEGUN)) == (Phase.SUCCEEDED, "cordoned", "cordoned")


def test_what_was_accepted_is_not_done_before_it_is_seen() -> None:
    decision = decided(answered(Accepted()), BEGUN)
    assert isinstance(decision, Go)
    assert [each.code for each in decision.blockers] == ["awaiting_confirmation"]
    assert over(decided(answered(Accepted()), BEGUN, 10))[1] == "not_confirmed"


def test_a_refusal_that_stays_is_the_end() -> None:
    phase, code, message = over(decided(answered(Denied("403"), tries=DENIED_TRIES_MAX), BEGUN, 5))
    assert (phase, code, message) == (Phase.FAILED, "forbidden", "the cluster refused to have node n1 cordoned: 403")


@pytest.mark.parametrize("is_late", [False, True], ids=["cancelled", "at its deadline"])
def test_it_stops_when_cancelled_or_at_its_deadline_unless_it_is_done(is_late: bool) -> None:
    def at_the_end(node: Node) -> Decision:
        return decided(a_view(node), BEGUN, 60 if is_late else 0, is_cancelled=not is_late)

    stopped = (Phase.FAILED, "deadline_exceeded") if is_late else (Phase.CANCELLED, "cancelled")
    assert over(at_the_end(a_node()))[:2] == stopped
    assert over(at_the_end(our_node()))[:2] == (Phase.SUCCEEDED, "cordoned")


def test_another_node_of_the_name_is_not_touched() -> None:
    assert over(decided(a_view(a_node(uid="another"))))[1] == "node_replaced"
    assert over(decided(a_view()))[1] == "node_not_found"


@pytest.mark.parametrize("nodes", [(), (a_node(),), (our_node(),)], ids=["none", "schedulable", "cordoned"])
def test_nothing_is_concluded_while_the_cluster_cannot_be_read(nodes: tuple[Node, ...]) -> None:
    decision = decided(a_view(*nodes, unreadable=("nodes: no reply",)), BEGUN)
    assert isinstance(decision, Go)
    assert [each.code for each in decision.blockers] == ["unreadable"]
    assert decision.recheck_at == at(60)
    assert over(decided(a_view(*nodes, unreadable=("nodes: no reply",)), BEGUN, 60))[1] == "deadline_exceeded"


def test_an_unknown_outcome_is_tried_again() -> None:
    decision = decided(answered(Unknown("timed out")), BEGUN, 1)
    assert isinstance(decision, Go)
    assert decision.steps == (STEP,)


def test_the_kind_is_what_the_contract_says() -> None:
    assert (KIND.name, KIND.needs, KIND.steps) == ("node.cordon", "cordon", (Cordon,))

"""Decisions as documents: sentences are made here, once."""

from hangar.domain.blockers import blocker
from hangar.domain.decision import End, Fail, Progress
from hangar.domain.operation import Phase
from hangar.domain.plan import Fits, Plan, PlannedMove
from hangar.domain.snapshot import NO_AMOUNTS
from hangar.operator.documents import answer_doc, result_doc
from hangar.wire.documents import progress_doc
from hangar.wire.operator import BlockerDoc, ProgressDoc, ResultDoc


def test_a_progress_carries_its_blockers_as_data_and_as_sentences() -> None:
    waits = blocker("budget_spent", "pdb default/api", pods=["default/a"], needs=2, has=1)
    assert progress_doc(Progress(1, 3, "pods", "evicted 1/3", (waits,))) == ProgressDoc(
        done=1,
        total=3,
        unit="pods",
        message="evicted 1/3",
        blockers=[
            BlockerDoc(
                code="budget_spent",
                subject="pdb default/api",
                message="pdb default/api holds back default/a: needs 2 has 1; "
                "it may count an earlier eviction, for two minutes",
                facts={"pods": ["default/a"], "needs": 2, "has": 1},
            )
        ],
    )


def test_an_answer_carries_the_plan_or_why_there_is_none() -> None:
    move = PlannedMove("default/a", None, Fits.YES, requests=NO_AMOUNTS)
    answer = answer_doc("q_1", Plan("1 pod(s) would be evicted", Fits.YES, moves=(move,)))
    assert answer.plan is not None
    assert (answer.plan["fits"], answer.plan["moves"][0]["requests"]) == ("fits", {})
    assert answer_doc("q_1", Fail("node_not_found", "node n1 does not exist any more")).refusal == (
        "node n1 does not exist any more"
    )


def test_a_result_carries_code_message_and_details() -> None:
    end: End[object] = End(Phase.FAILED, "no_capacity", "no room", None, Progress(0, 1, "pods", ""), {"moved": []})
    assert result_doc(end) == ResultDoc(code="no_capacity", message="no room", details={"moved": []})

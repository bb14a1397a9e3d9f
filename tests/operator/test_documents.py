"""Decisions as documents: sentences are made here, once."""

from hangar.domain.blockers import blocker
from hangar.domain.decision import End, Progress
from hangar.domain.operation import Phase
from hangar.operator.documents import progress_doc, result_doc
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
                message="pdb default/api holds back default/a: needs 2 has 1",
                facts={"pods": ["default/a"], "needs": 2, "has": 1},
            )
        ],
    )


def test_a_result_carries_code_message_and_details() -> None:
    end: End[object] = End(Phase.FAILED, "no_capacity", "no room", None, Progress(0, 1, "pods", ""), {"moved": []})
    assert result_doc(end) == ResultDoc(code="no_capacity", message="no room", details={"moved": []})

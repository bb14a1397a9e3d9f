"""Questions to the operator: answered once, on what the cluster is like, whatever else goes on."""

from typing import Any

from hangar.domain.kind import Kind
from hangar.operator.questions import Questions
from hangar.wire.operator import AnswerDoc, QuestionDoc
from tests.domain.building import NOON, a_view
from tests.operator.scripted import Script


def a_question(id_: str = "q_1", **fields: Any) -> QuestionDoc:
    given: dict[str, Any] = {
        "type": "test.step",
        "kind_version": 1,
        "target": "n1",
        "target_uid": "n1-uid",
        "params": {"deadline_s": 60},
        "asked_by": "alice",
    }
    return QuestionDoc(id=id_, **(given | fields))


def made() -> Questions:
    kinds: dict[str, Kind[Any, Any]] = {"test.step": Script().kind()}
    return Questions(kinds)


def test_a_question_is_answered_with_the_kinds_plan_until_it_is_acknowledged() -> None:
    questions = made()
    questions.heard([a_question()])
    questions.answer(a_view(), NOON)
    (answer,) = questions.outbox()
    assert answer.plan is not None
    assert (answer.id, answer.plan["message"]) == ("q_1", "would empty n1")
    assert questions.outbox() == [answer]
    questions.acked([answer])
    assert questions.outbox() == []


def test_a_sync_that_was_under_way_does_not_put_it_again() -> None:
    questions = made()
    questions.heard([a_question()])
    questions.answer(a_view(), NOON)
    questions.heard([a_question()])
    questions.acked(questions.outbox())
    questions.heard([a_question()])
    questions.answer(a_view(), NOON)
    assert questions.outbox() == []


def refusal(*docs: QuestionDoc, **view: Any) -> str | None:
    questions = made()
    questions.heard(docs)
    questions.answer(a_view(**view), NOON)
    return questions.outbox()[0].refusal


def test_what_cannot_be_told_is_refused_in_words() -> None:
    assert refusal(a_question(), unreadable=("pods: 403",)) == "it cannot read pods: 403"
    assert refusal(a_question(kind_version=9)) == "this operator does not know test.step version 9"
    assert "does not understand the parameters" in (refusal(a_question(params={"deadline_s": "soon"})) or "")


def test_before_the_cluster_is_read_the_answer_is_that_it_is_not() -> None:
    questions = made()
    questions.heard([a_question()])
    questions.refuse("it has not read the cluster yet")
    assert questions.outbox() == [AnswerDoc(id="q_1", refusal="it has not read the cluster yet")]


def test_a_new_session_begins_with_nothing_to_say() -> None:
    questions = made()
    questions.heard([a_question()])
    questions.answer(a_view(), NOON)
    questions.begin_session()
    assert questions.outbox() == []

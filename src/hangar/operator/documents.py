"""Decisions as the documents that go to the hub."""

import msgspec

from hangar.domain.decision import End, Fail
from hangar.domain.plan import Plan
from hangar.wire.operator import AnswerDoc, ResultDoc


def answer_doc(question: str, foreseen: Plan | Fail) -> AnswerDoc:
    """Return the answer to a question: the plan, or why there is none."""
    if isinstance(foreseen, Fail):
        return AnswerDoc(id=question, refusal=foreseen.message)
    # What a pod asks for may be a read-only view of a mapping, which the encoder does not know.
    return AnswerDoc(id=question, plan=msgspec.to_builtins(foreseen, enc_hook=dict))


def result_doc(end: End[object]) -> ResultDoc:
    """Return how an operation ended."""
    return ResultDoc(code=end.code, message=end.message, details=dict(end.details))

"""Decisions as the documents that go to the hub."""

from hangar.domain.blockers import sentence
from hangar.domain.decision import End, Progress
from hangar.wire.operator import BlockerDoc, ProgressDoc, ResultDoc


def progress_doc(progress: Progress) -> ProgressDoc:
    """Return a progress with its blockers' sentences made."""
    blockers = [
        BlockerDoc(code=each.code, subject=each.subject, message=sentence(each), facts=dict(each.facts))
        for each in progress.blockers
    ]
    return ProgressDoc(
        done=progress.done, total=progress.total, unit=progress.unit, message=progress.message, blockers=blockers
    )


def result_doc(end: End[object]) -> ResultDoc:
    """Return how an operation ended."""
    return ResultDoc(code=end.code, message=end.message, details=dict(end.details))

"""Decisions as the documents that cross a process and are stored."""

from hangar.domain.blockers import sentence
from hangar.domain.decision import Progress
from hangar.wire.operator import BlockerDoc, ProgressDoc


def progress_doc(progress: Progress) -> ProgressDoc:
    """Return a progress with its blockers' sentences made."""
    blockers = [
        BlockerDoc(code=each.code, subject=each.subject, message=sentence(each), facts=dict(each.facts))
        for each in progress.blockers
    ]
    return ProgressDoc(
        done=progress.done, total=progress.total, unit=progress.unit, message=progress.message, blockers=blockers
    )

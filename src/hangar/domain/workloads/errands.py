"""Errands: under which ids the writes of what is desired are in flight and answered, and what became of each so far.

No operation carries these writes. The revision is part of the id, so that trouble with an older one does not hold up
a newer one, and so that whatever is written is written once a revision: what others change after us is not fought.
"""

from dataclasses import dataclass
from datetime import datetime

from hangar.domain.decision import (
    Accepted,
    Answer,
    BudgetFull,
    Busy,
    Denied,
    Gone,
    Namesake,
    SeveralBudgets,
    Step,
    Unknown,
    Withheld,
)
from hangar.domain.ids import OperationId
from hangar.domain.view import View, key_of, retry_at
from hangar.domain.workloads.graph import Desired, Removal, Unwritten


def errand(of: Desired | Removal) -> OperationId:
    """Return the id of the writes of one revision, or of a graph's removal."""
    match of:
        case Desired():
            return OperationId(f"desired:{of.ref}@{of.rev}")
        case Removal():
            return OperationId(f"removal:{of.ref}@{of.uid}")


def reductions(desired: Desired) -> OperationId:
    """Return the id of what is written of a revision before the rest: the counts that fall."""
    return OperationId(f"{errand(desired)}:reductions")


def errands(of: Desired | Removal) -> frozenset[OperationId]:
    """Return all ids of what is written."""
    return frozenset({errand(of), reductions(of)} if isinstance(of, Desired) else {errand(of)})


@dataclass(frozen=True, slots=True)
class Attempts:
    """What a view knows of the writes that were tried."""

    view: View
    now: datetime

    def again_at(self, operation: OperationId, step: Step) -> datetime | None:
        """Return until when a step pauses, None where it need not.

        One that was accepted pauses too: its sight may be a moment behind.
        """
        answered = self.view.answers.get(key_of(operation, step))
        until = retry_at(answered) if answered is not None else self.now
        return until if until > self.now else None

    def accepted_at(self, operation: OperationId, step: Step) -> datetime | None:
        """Return when a step was accepted, None where its last answer was another, or there is none."""
        answered = self.view.answers.get(key_of(operation, step))
        return answered.at if answered is not None and isinstance(answered.answer, Accepted) else None

    def is_undone(self, operation: OperationId, step: Step) -> bool:
        """Tell whether a step that is still to be taken was taken: then somebody has put back what it wrote."""
        return self.accepted_at(operation, step) is not None and self.again_at(operation, step) is None

    def trouble(self, operation: OperationId, step: Step, rev: int) -> Unwritten | None:
        """Return why the last try of a step did not succeed, None where there is nothing to say."""
        answered = self.view.answers.get(key_of(operation, step))
        return _trouble(answered.answer, rev) if answered is not None else None


def _trouble(answer: Answer, rev: int) -> Unwritten | None:
    match answer:
        case Accepted():
            return None
        case Denied(message=message):
            return Unwritten(rev, "refused", message)
        case Busy(message=message) | Unknown(message=message) | Withheld(message=message):
            return Unwritten(rev, "retry", message)
        case BudgetFull(message=message) | SeveralBudgets(message=message):
            return Unwritten(rev, "retry", message)
        case Gone() | Namesake():
            return Unwritten(rev, "retry", "it is not there any more as it was seen, and is looked at again")

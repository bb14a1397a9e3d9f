"""A cordon that somebody else put on is never taken off, unless somebody asks for just that."""

from dataclasses import dataclass, field

from hangar.domain.decision import Accepted, Answer, Step, Uncordon
from hangar.domain.ids import NodeName
from tests.simulation.checkers.truth import Holders, ViolationError


@dataclass
class ForeignCordons:
    """The nodes that people have cordoned, and the steps that an operation for just that has sent to undo it."""

    holders: Holders
    by_hand: set[NodeName] = field(default_factory=set)
    asked_for: set[Uncordon] = field(default_factory=set)

    def sent(self, step: Step) -> None:
        """A step leaves; it may land when its operation is over."""
        if isinstance(step, Uncordon):
            holder = self.holders.by_node().get(step.uid)
            if holder is not None and holder.type == "node.uncordon":
                self.asked_for.add(step)

    def before(self, step: Step) -> None:
        """An uncordon of another's cordon must be an operation of its own."""
        if isinstance(step, Uncordon) and step.node in self.by_hand and step not in self.asked_for:
            raise ViolationError(f"the cordon of {step.node} was somebody else's, and was undone")

    def after(self, step: Step, answer: Answer) -> None:
        """What was taken off on demand is nobody's cordon any more."""
        if isinstance(step, Uncordon) and isinstance(answer, Accepted):
            self.by_hand.discard(step.node)

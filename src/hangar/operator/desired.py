"""What is desired of a cluster's graphs: what the hub said last, and why some of it is not written yet."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from hangar.domain.decision import Apply, Create, Remove, Scale
from hangar.domain.ids import OperationId, WorkloadName
from hangar.domain.view import View
from hangar.domain.workloads.converge import Converging, converge
from hangar.domain.workloads.errands import errands
from hangar.domain.workloads.graph import Desired, GraphRef, Removal, Unwritten
from hangar.wire.operator import DesiredDoc, SyncAnswer

OnGraph = Apply | Scale | Create | Remove


class WhatIsDesired:
    """The newest row of each graph, the graphs to be removed, and what stands in the way.

    Attributes:
        unwritten: Why each graph is not as desired that is not, as of the last turn.
        is_heard: Whether the hub has said in this session what is desired.
    """

    def __init__(self, allowed: frozenset[str]) -> None:
        self._allowed = allowed
        self._rows: Mapping[GraphRef, Desired] = {}
        self._removals: Mapping[GraphRef, Removal] = {}
        self.unwritten: Mapping[GraphRef, Unwritten] = {}
        self.is_heard = False

    def begin_session(self) -> None:
        """Want nothing until the hub has said it again."""
        self._rows, self._removals, self.unwritten = {}, {}, {}
        self.is_heard = False

    def heard(self, answer: SyncAnswer) -> None:
        """Take in all that is desired. A graph that something is desired of is not removed, whatever else was said."""
        self._rows = _newest(answer.desired)
        refs = {GraphRef(each.namespace, each.graph): each.uid for each in answer.removals}
        self._removals = {ref: Removal(ref, uid) for ref, uid in refs.items() if ref not in self._rows}
        self.is_heard = True

    @property
    def workloads(self) -> Mapping[GraphRef, WorkloadName]:
        """Return the workload that each graph serves."""
        return {ref: each.workload for ref, each in self._rows.items() if each.workload is not None}

    @property
    def errands(self) -> frozenset[OperationId]:
        """Return the ids under which anything can be written now."""
        known: list[Desired | Removal] = [*self._rows.values(), *self._removals.values()]
        return frozenset(operation for each in known for operation in errands(each))

    def why_withheld(self, operation: OperationId, step: OnGraph) -> str | None:
        """Return why a step must not leave any more, None where it is still what is desired of its graph."""
        wanted = self._rows.get(step.graph) or self._removals.get(step.graph)
        if wanted is None or operation not in errands(wanted):
            return "something else is desired of the graph by now"
        return None

    def converge(self, view: View, now: datetime) -> Converging:
        """Return what to write now, and keep why the rest is not."""
        converging = converge(self._rows.values(), self._removals.values(), self._allowed, view, now)
        self.unwritten = converging.unwritten
        return converging


def _newest(documents: Iterable[DesiredDoc]) -> dict[GraphRef, Desired]:
    """Return what is desired of each graph; of several the newest, so that two never take turns on one graph."""
    rows = (
        Desired(GraphRef(each.namespace, each.graph), each.rev, each.counts, WorkloadName(each.workload), each.template)
        for each in documents
    )
    return {each.ref: each for each in sorted(rows, key=lambda row: row.rev)}

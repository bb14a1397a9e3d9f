"""Converge: which graphs are to be written now, so that each is asked for what the hub wants of it.

It is decided in the same turn as the operations. A graph that carries the newest revision is left alone, whatever its
numbers are by now: what others change after us is shown, not fought.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from hangar.domain.decision import Apply
from hangar.domain.ids import OperationId
from hangar.domain.view import StepName, View, key_of, retry_at
from hangar.domain.workloads.graph import Desired, Graph


@dataclass(frozen=True, slots=True)
class Converging:
    """What to write now, each under its errand's id, and when to look again at the latest (None: no need to)."""

    steps: tuple[tuple[OperationId, Apply], ...] = ()
    recheck_at: datetime | None = None


def errand(desired: Desired) -> OperationId:
    """Return the id under which the writes of one revision are in flight and answered: no operation carries them.

    The revision is part of it, so that trouble with an older one does not hold up a newer one.
    """
    return OperationId(f"desired:{desired.ref}@{desired.rev}")


def converge(rows: Iterable[Desired], view: View, now: datetime) -> Converging:
    """Return what to write of what is desired; one row a graph at most.

    Nothing is written while anything cannot be read: what is known of the graphs may be old.
    """
    snapshot = view.snapshot
    if snapshot.unreadable or snapshot.graphs_unreadable is not None:
        return Converging()
    written = {key.subject for key in view.in_flight if key.step is StepName.APPLY}
    steps: list[tuple[OperationId, Apply]] = []
    times: list[datetime] = []
    for desired in rows:
        graph = snapshot.graphs.get(desired.ref)
        if graph is None or graph.uid in written or not _is_to_be_written(graph, desired):
            continue
        step = Apply(graph.ref, graph.uid, graph.version, desired.rev, desired.counts)
        answered = view.answers.get(key_of(errand(desired), step))
        again_at = retry_at(answered) if answered is not None else now
        if again_at > now:
            times.append(again_at)
        else:
            steps.append((errand(desired), step))
    return Converging(tuple(steps), min(times, default=None))


def _is_to_be_written(graph: Graph, desired: Desired) -> bool:
    """Tell whether a graph lacks a revision, and is one that we may write.

    A component behind a scaling adapter is not: its number is the adapter's, and a write past it is refused.
    """
    if graph.is_paused or (graph.applied_rev is not None and graph.applied_rev >= desired.rev):
        return False
    components = [graph.component(name) for name in desired.counts]
    return all(each is not None and not each.has_adapter for each in components)

"""Converge: what is to be written to graphs now, so that each is asked for what the hub wants of it.

It is decided in the same turn as the operations, after them and on what they leave. A graph that carries the newest
revision is left alone, whatever its numbers are by now: what others change after us is shown, not fought.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hangar.domain.decision import Create, Remove
from hangar.domain.limits import CREATED_AGAIN_S
from hangar.domain.view import StepName, View
from hangar.domain.workloads.errands import Attempts, errand
from hangar.domain.workloads.graph import Desired, Graph, GraphRef, Removal, Unwritten
from hangar.domain.workloads.holding import held
from hangar.domain.workloads.stages import Errands, next_stage, takes

ON_GRAPHS = frozenset({StepName.APPLY, StepName.SCALE, StepName.CREATE, StepName.REMOVE})
"""The steps that are taken on graphs, or on what belongs to them."""


@dataclass(frozen=True, slots=True)
class Converging:
    """What to write now, each step under its errand's id; when to look again at the latest (None: no need to).

    `unwritten` says of each graph that is not as desired, and is not just being written, why that is so.
    """

    steps: Errands = ()
    recheck_at: datetime | None = None
    unwritten: Mapping[GraphRef, Unwritten] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What becomes of one graph."""

    steps: Errands = ()
    recheck_at: datetime | None = None
    why: Unwritten | None = None


def converge(
    rows: Iterable[Desired], removals: Iterable[Removal], allowed: frozenset[str], view: View, now: datetime
) -> Converging:
    """Return what to write of what is desired; one row or removal a graph at most.

    Nothing is written while anything cannot be read: what is known of the graphs may be old.
    """
    attempts = Attempts(view, now)
    outcomes = {each.ref: _removed(each, allowed, attempts) for each in removals}
    outcomes |= {each.ref: _written(each, allowed, attempts) for each in rows}
    times = [each.recheck_at for each in outcomes.values() if each.recheck_at is not None]
    return Converging(
        tuple(step for each in outcomes.values() for step in each.steps),
        min(times, default=None),
        {ref: each.why for ref, each in sorted(outcomes.items()) if each.why is not None},
    )


def _written(desired: Desired, allowed: frozenset[str], attempts: Attempts) -> _Outcome:
    view = attempts.view
    graph = view.snapshot.graphs.get(desired.ref)
    if graph is not None and graph.applied_rev is not None and graph.applied_rev >= desired.rev:
        return _Outcome()
    if (blind := _unreadable(view)) is not None:
        return _Outcome(why=Unwritten(desired.rev, "unreadable", blind))
    if graph is None:
        return _created(desired, allowed, attempts)
    if "scale" not in allowed:
        return _Outcome(why=_not_allowed("scale", desired.rev))
    stage = next_stage(graph, desired, attempts.is_undone)
    if isinstance(stage, Unwritten):
        return _Outcome(why=stage)
    if (waits := held(desired, takes(graph, (step for _, step in stage)), view, attempts.now)) is not None:
        return _Outcome(why=waits)
    return _taken(stage, desired.rev, set(_subjects(graph)), attempts)


def _created(desired: Desired, allowed: frozenset[str], attempts: Attempts) -> _Outcome:
    """Create a graph that has a template, once anything of it is to run; without one it is the hub that says so.

    One that is lost is created again, though not at once where it was created a moment ago: whoever deletes it then
    would do so each time.
    """
    if desired.template is None or desired.workload is None or not any(desired.counts.values()):
        return _Outcome()
    if "deploy" not in allowed:
        return _Outcome(why=_not_allowed("deploy", desired.rev))
    step = Create(desired.ref, desired.rev, desired.counts, desired.workload, desired.template)
    created_at = attempts.accepted_at(errand(desired), step)
    if created_at is not None and attempts.is_undone(errand(desired), step):
        again_at = created_at + timedelta(seconds=CREATED_AGAIN_S)
        if attempts.now < again_at:
            why = f"it was created, and somebody has deleted it since: it is created again at {again_at:%H:%M:%S} UTC"
            return _Outcome(recheck_at=again_at, why=Unwritten(desired.rev, "reverted", why))
    return _taken(((errand(desired), step),), desired.rev, {str(desired.ref)}, attempts)


def _removed(removal: Removal, allowed: frozenset[str], attempts: Attempts) -> _Outcome:
    graph = attempts.view.snapshot.graphs.get(removal.ref)
    if graph is None or graph.uid != removal.uid:
        return _Outcome()
    if (blind := _unreadable(attempts.view)) is not None:
        return _Outcome(why=Unwritten(0, "unreadable", blind))
    if not graph.is_ours:
        why = "it does not carry the mark of what Wingsmith has created, and is left alone"
        return _Outcome(why=Unwritten(0, "not_ours", why))
    if "deploy" not in allowed:
        return _Outcome(why=_not_allowed("deploy", 0))
    step = Remove(graph.ref, graph.uid)
    if attempts.is_undone(errand(removal), step):
        why = "its deletion was accepted, and it is still there: its finalizers, or its operator, hold it"
        return _Outcome(why=Unwritten(0, "removing", why))
    return _taken(((errand(removal), step),), 0, set(_subjects(graph)), attempts)


def _taken(steps: Errands, rev: int, subjects: set[str], attempts: Attempts) -> _Outcome:
    """Take steps whose pauses are over, unless another is under way on the same graph; say what troubled the last."""
    troubles = [why for operation, step in steps if (why := attempts.trouble(operation, step, rev)) is not None]
    why = min(troubles, key=lambda each: each.code, default=None)  # refused before retry
    if any(key.step in ON_GRAPHS and key.subject in subjects for key in attempts.view.in_flight):
        return _Outcome(why=why)
    pauses = [(each, attempts.again_at(*each)) for each in steps]
    times = [until for _, until in pauses if until is not None]
    return _Outcome(tuple(each for each, until in pauses if until is None), min(times, default=None), why)


def _subjects(graph: Graph) -> Iterator[str]:
    """Yield what steps on a graph act on, by the names that their keys have."""
    yield graph.uid
    yield str(graph.ref)
    yield from (each.adapter.uid for each in graph.components if each.adapter is not None)


def _unreadable(view: View) -> str | None:
    snapshot = view.snapshot
    if snapshot.unreadable:
        return f"the cluster cannot be read: {'; '.join(snapshot.unreadable)}"
    if snapshot.graphs_unreadable is not None:
        return f"graphs cannot be read: {snapshot.graphs_unreadable}"
    return None


def _not_allowed(needs: str, rev: int) -> Unwritten:
    why = (
        f"this cluster does not allow {needs!r}: cluster.workloads of the operator's chart leaves it out, "
        "or Kubernetes does not grant it"
    )
    return Unwritten(rev, "not_allowed", why)

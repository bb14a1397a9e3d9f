"""One turn: every open operation of the cluster decided on one view, oldest first.

It is pure. What an operation decided is assumed done before the next one is asked. That fold is the ledger that keeps
several drains from spending one budget twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from hangar.domain.blockers import blocker
from hangar.domain.decision import Accepted, Answered, End, Go, Unknown
from hangar.domain.ids import OperationId, PodUid, WorkloadName
from hangar.domain.kind import Job, Kind
from hangar.domain.limits import HELD_MAX_S, LANDING_MAX_S
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import Claims, ClusterSettings, StepKey, StepName, View
from hangar.domain.workloads.graph import GraphRef
from hangar.operator.pace import Pace

ENDING = frozenset({StepName.EVICT, StepName.DELETE})
"""The steps that end a pod."""

Decision: TypeAlias = Go[object] | End[object]


@dataclass(frozen=True, slots=True)
class OpenJob:
    """An open operation together with its kind."""

    kind: Kind[object, object]
    job: Job[object, object]


def turn(jobs: Iterable[OpenJob], view: View, now: datetime) -> tuple[list[tuple[OperationId, Decision]], View]:
    """Return the decision of each operation, oldest first (ids sort by their time), and the view that they leave."""
    decided: list[tuple[OperationId, Decision]] = []
    for each in sorted(jobs, key=lambda open_job: open_job.job.id):
        decision = each.kind.decide(each.job, view, now)
        match decision:
            case End():
                decision = _not_before_answers(each.job, decision, view)
            case Go(memory=memory, steps=steps, recheck_at=recheck_at):
                if recheck_at is not None and recheck_at <= now:
                    raise ValueError(
                        f"{each.kind.name} asks to look again at {recheck_at}, and it is {now}: a busy loop"
                    )
                holds = each.kind.claims(replace(each.job, memory=memory))
                view = view.assuming(steps).claiming(each.job.id, holds)
        decided.append((each.job.id, decision))
    return decided, view


def _not_before_answers(job: Job[object, object], decision: End[object], view: View) -> Decision:
    """Hold an end back while calls of the operation are unanswered: nothing may land after its last word."""
    count = sum(1 for key in view.in_flight if key.operation == job.id)
    if not count:
        return decision
    waits = (blocker("in_flight", f"operation {job.id}", steps=count),)
    return Go(decision.memory, replace(decision.progress, blockers=waits), blockers=waits)


def view_of(
    snapshot: Snapshot,
    jobs: Iterable[OpenJob],
    in_flight: frozenset[StepKey],
    answers: Mapping[StepKey, Answered],
    landing: Mapping[PodUid, datetime],
    pace: Pace,
    settings: ClusterSettings,
    now: datetime,
    workloads: Mapping[GraphRef, WorkloadName],
) -> View:
    """Put a snapshot together with all that is under way on it.

    `landing` are evictions of operations that may be over, by when they were accepted, or their outcome became unknown;
    they count until the snapshot shows them. `workloads` are those that graphs serve.
    """
    claims: dict[OperationId, Claims] = {each.job.id: each.kind.claims(each.job) for each in jobs}
    leaving = {uid for uid, at in landing.items() if _is_unseen(uid, snapshot) and _may_land(at, now)}
    for operation, claim in claims.items():
        for uid, sent_at in claim.sent.items():
            answered = _last_answer([answers.get(StepKey(operation, step, uid)) for step in ENDING])
            if _is_unseen(uid, snapshot) and _is_leaving(answered, sent_at, now):
                leaving.add(uid)
    leaving |= {PodUid(key.subject) for key in in_flight if key.step in ENDING}
    left, again_at = pace.left(settings.evictions_per_minute_max, now)
    return View(snapshot, in_flight, answers, claims, frozenset(leaving), settings, left, again_at, workloads)


def _last_answer(answers: Iterable[Answered | None]) -> Answered | None:
    return max((each for each in answers if each is not None), key=lambda each: each.at, default=None)


def _is_unseen(uid: PodUid, snapshot: Snapshot) -> bool:
    pod = snapshot.pods.get(uid)
    return pod is not None and not pod.is_terminating


def _is_leaving(answered: Answered | None, sent_at: datetime, now: datetime) -> bool:
    """Tell whether an eviction that memory lists as sent may still take effect.

    Without an answer it may have left before a crash, as late as a step may; without a clear one a webhook may still
    let it land.
    """
    if answered is None or answered.at < sent_at:
        return _may_land(sent_at + timedelta(seconds=HELD_MAX_S), now)
    match answered.answer:
        case Accepted() | Unknown():
            return _may_land(answered.at, now)
        case _:
            return False


def _may_land(since: datetime, now: datetime) -> bool:
    return now - since < timedelta(seconds=LANDING_MAX_S)

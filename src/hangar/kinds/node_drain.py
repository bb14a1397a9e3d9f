"""node.drain: cordon a node, then move every pod off it, as fast as its budgets and owners allow.

A drain is done when every pod it found is gone by its UID *and* each of their owners serves elsewhere as before.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from hangar.domain import cordon, drain_report
from hangar.domain.blockers import blocker, in_order, listed, sentence
from hangar.domain.budgets import may_evict
from hangar.domain.cordon import Take, Wait
from hangar.domain.decision import (
    Blocker,
    BudgetFull,
    Busy,
    Cordon,
    Denied,
    End,
    Evict,
    Fail,
    Go,
    SeveralBudgets,
    Step,
    Uncordon,
    Withheld,
)
from hangar.domain.drain_memory import DrainMemory, Failure, remember
from hangar.domain.drain_plan import DrainChoices, plan_drain
from hangar.domain.drain_report import DrainState
from hangar.domain.kind import Job, Kind, param
from hangar.domain.limits import (
    DEADLINE_MAX_S,
    DEADLINE_MIN_S,
    DENIED_TRIES_MAX,
    DRAIN_DEADLINE_DEFAULT_S,
    GRACE_PERIOD_MAX_S,
    UNDO_MAX_S,
)
from hangar.domain.moves import Tally, about_to_be_sent, tally
from hangar.domain.operation import Phase
from hangar.domain.owners import keeps_last_ready
from hangar.domain.plan import Plan
from hangar.domain.preflight import Obstacle, Since, holds_refused, judge, obstacles, refused
from hangar.domain.rescheduling import cannot_be_rescheduled, lacking, not_rescheduled, verdict_at
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import Claims, StepKey, StepName, View, retry_at
from hangar.domain.waits import landed_at, not_gone, unavailable


@dataclass(frozen=True, slots=True)
class DrainParams:
    """What a caller may choose."""

    deadline_s: int = field(
        default=DRAIN_DEADLINE_DEFAULT_S,
        metadata=param("fail if it is not done this long after it started", least=DEADLINE_MIN_S, most=DEADLINE_MAX_S),
    )
    grace_period_s: int | None = field(
        default=None,
        metadata=param("grace period of every pod, instead of the pod's own", least=1, most=GRACE_PERIOD_MAX_S),
    )
    skip_fit_check: bool = field(
        default=False,
        metadata=param("begin even where it can be seen that pods fit nowhere or a budget can never allow it"),
    )
    on_failure: Literal["keep", "uncordon"] = field(
        default="keep", metadata=param("what becomes of the drain's own cordon when it fails")
    )


DrainJob: TypeAlias = Job[DrainParams, DrainMemory]
Decision: TypeAlias = Go[DrainMemory] | End[DrainMemory]


def claims(job: DrainJob) -> Claims:
    """Return what an open drain holds: its node, what its owners had, what it has sent."""
    sent = {uid: each.sent_at for uid, each in job.memory.pods.items() if each.sent_at is not None}
    return Claims((job.target, job.target_uid), job.memory.baselines, sent)


def decide(job: DrainJob, view: View, now: datetime) -> Decision:
    """Return the next move towards an empty, cordoned node whose pods serve elsewhere."""
    if job.memory.failure is not None:
        return _undo(job, view, now)
    decision = _decide(job, view, now)
    if isinstance(decision, End) and decision.phase is Phase.FAILED and job.params.on_failure == "uncordon":
        node = cordon.node_of(view.snapshot, job.target, job.target_uid)
        if node is not None and cordon.is_held_by(node, job.id) and not decision.memory.was_cordoned_before:
            failure = Failure(decision.code, decision.message, now)
            return _undo(replace(job, memory=replace(decision.memory, failure=failure)), view, now)
    return decision


def _decide(job: DrainJob, view: View, now: datetime) -> Decision:
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    is_readable = not view.snapshot.unreadable
    if is_readable:
        job = replace(job, memory=remember(job.memory, job.id, node, view, now))
    if job.is_cancelled:
        return _end(job, view, Phase.CANCELLED, "cancelled", drain_report.cancelled_message(_state(job, view)))
    if is_readable and node is None and job.memory.cordoned_at is None:
        return _fail(job, view, cordon.missing(view.snapshot, job.target))
    if is_readable and job.memory.cordoned_at is not None:
        if node is not None and not node.unschedulable:
            return _fail(job, view, _interrupted(node))
        if _is_done(job, node, view):
            return _succeed(job, node, view)
    if now >= job.deadline_at:
        return _fail(job, view, _overdue(job, node, view, now))
    if not is_readable:
        return _wait(job, view, (cordon.unreadable(view.snapshot),), job.deadline_at)
    if job.memory.cordoned_at is None:
        assert node is not None
        return _cordon(job, node, view, now)
    return _empty(job, node, view, now)


# --- the stages -------------------------------------------------------------------------------------------------------


def _cordon(job: DrainJob, node: Node, view: View, now: datetime) -> Decision:
    mark = cordon.mark_of(node, job.id, job.actor, job.reason)
    match cordon.put_on(node, mark, view, now):
        case Fail() as why:
            return _fail(job, view, why)
        case Wait(blocker=why, until=until):
            return _wait(job, view, (why,), until)
        case Take(step=step):
            return Go(job.memory, drain_report.progress(_state(job, view), ()), steps=(step,))


def _interrupted(node: Node) -> Fail:
    by = node.cordon_manager or "somebody"
    return Fail(
        "interrupted", f"interrupted: node {node.name} was uncordoned by {by} in mid-drain; nothing more is evicted"
    )


def _empty(job: DrainJob, node: Node | None, view: View, now: datetime) -> Decision:
    """Move what is still there; the node is cordoned, or gone with its pods left to the garbage collector."""
    count = tally(job.memory.pods, job.id, view)
    settling = judge(_in_the_way(job, node, count, view), now)
    if isinstance(settling, Fail):
        return _fail(job, view, settling)
    waits = tuple(each.blocker for each in settling)
    if settling and not job.memory.is_checked:
        return _wait(job, view, in_order(waits), min(each.until for each in settling))
    job = replace(job, memory=replace(job.memory, is_checked=True))
    if (why := cannot_be_rescheduled(count.gone, job.memory.failing_at, view, now)) is not None:
        return _fail(job, view, why)
    if _is_done(job, node, view):
        return _succeed(job, node, view)
    walk = _walk(job, count, view, now) if node is not None else NO_WALK
    if walk.denied is not None:
        return _fail(job, view, walk.denied)
    sent = {
        step.pod.uid: about_to_be_sent(job.memory.pods[step.pod.uid], view, now)
        for step in walk.steps
        if isinstance(step, Evict)
    }
    job = replace(job, memory=replace(job.memory, pods={**job.memory.pods, **sent}))
    blockers = in_order(waits + _waits(walk, count, view))
    progress = drain_report.progress(_state(job, view.assuming(walk.steps)), blockers)
    times = (
        *(each.until for each in settling),
        walk.recheck_at,
        verdict_at(count.gone, job.memory.failing_at, view, now),
        job.deadline_at,
    )
    recheck_at = min(each for each in times if each is not None)
    return Go(job.memory, progress, walk.steps, blockers, recheck_at)


def _in_the_way(job: DrainJob, node: Node | None, count: Tally, view: View) -> tuple[Obstacle, ...]:
    """Return what stops the drain: before the first eviction all that can be seen, then pods that must not be moved."""
    assert job.memory.cordoned_at is not None
    if node is None:
        return ()
    since = Since(job.memory.cordoned_at, job.memory.orphaned_at)
    if job.memory.is_checked:
        return refused(node, view, since)
    return obstacles(node, count.untouched, view, since, skip_fit_check=job.params.skip_fit_check)


@dataclass(frozen=True, slots=True)
class _Walk:
    """One pass over the pods that are still there."""

    steps: tuple[Step, ...] = ()
    held: tuple[tuple[Pod, Blocker], ...] = ()
    recheck_at: datetime | None = None
    denied: Fail | None = None


NO_WALK = _Walk()


def _walk(job: DrainJob, count: Tally, view: View, now: datetime) -> _Walk:
    """Evict each untouched pod that nothing holds; each sees what those before it have spent."""
    steps: list[Step] = []
    held: list[tuple[Pod, Blocker]] = []
    times: list[datetime] = []
    for pod in count.untouched:
        if pod.ref.uid in job.memory.orphaned_at:
            continue  # it is waited for as such: nothing would recreate it
        answered = view.answers.get(StepKey(job.id, StepName.EVICT, pod.ref.uid))
        match answered.answer if answered is not None else None:
            case Denied(message=message) if answered is not None and answered.tries >= DENIED_TRIES_MAX:
                why = Fail("eviction_denied", f"the cluster refuses to evict {pod.ref}: {message}")
                return _Walk(denied=why)
            case (
                BudgetFull(message=message)
                | Busy(message=message)
                | Denied(message=message)
                | SeveralBudgets(message=message)
                | Withheld(message=message)
            ):
                assert answered is not None
                if now < retry_at(answered):
                    times.append(retry_at(answered))
                    held.append((pod, blocker("retry", str(pod.ref), why=message)))
                    continue
            case _:
                pass
        if (why_not := may_evict(pod, view) or keeps_last_ready(pod, view)) is not None:
            held.append((pod, why_not))
            continue
        steps.append(Evict(pod.ref, job.params.grace_period_s))
        view = view.assuming(steps[-1:])
    for pod in count.unknown:
        answered = view.answers.get(StepKey(job.id, StepName.EVICT, pod.ref.uid))
        times.append(landed_at(job.memory.pods[pod.ref.uid], answered, now))
    return _Walk(tuple(steps), tuple(held), min(times, default=None))


# --- waiting ----------------------------------------------------------------------------------------------------------


def _waits(walk: _Walk, count: Tally, view: View) -> tuple[Blocker, ...]:
    """Return what holds each pod, and what has begun and is not done; where nothing has, whom the pods are held for."""
    begun = not_gone(count) + not_rescheduled(count.gone, view)
    return tuple(why for _, why in walk.held) + (begun or unavailable(walk.held, view))


def _is_done(job: DrainJob, node: Node | None, view: View) -> bool:
    """Tell whether every pod found is gone by its UID, and every owner serves off the draining nodes as before."""
    if not job.memory.is_checked or tally(job.memory.pods, job.id, view).remaining:
        return False
    is_empty = node is None or not holds_refused(node, view)
    return is_empty and not lacking(job.memory.pods.values(), view)


# --- the end ----------------------------------------------------------------------------------------------------------


def _undo(job: DrainJob, view: View, now: datetime) -> Decision:
    """Take our own cordon off after a failure, as the caller chose, and then end as failed."""
    failure = job.memory.failure
    assert failure is not None
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    if job.is_cancelled:
        return _end(
            job, view, Phase.CANCELLED, "cancelled", f"cancelled while its cordon was undone; {failure.message}"
        )
    give_up_at = failure.at + timedelta(seconds=UNDO_MAX_S)
    if view.snapshot.unreadable and now < give_up_at:
        return _wait(job, view, (cordon.unreadable(view.snapshot),), give_up_at)
    if node is None or not node.unschedulable:
        state = "the node is gone" if node is None else "the node is uncordoned again"
        return _failed(job, view, failure.code, f"{failure.message}; {state}")
    if not cordon.is_held_by(node, job.id):
        return _failed(job, view, failure.code, f"{failure.message}; the cordon is {cordon.whose(node)}'s")
    if now >= give_up_at:
        return _failed(job, view, failure.code, f"{failure.message}; the node could not be uncordoned in time")
    match cordon.take_off(node, job.id, view, now, only_own=True):
        case Fail(message=message):
            return _failed(job, view, failure.code, f"{failure.message}; left cordoned: {message}")
        case Wait(blocker=why, until=until):
            return _wait(job, view, (why,), until)
        case Take(step=step):
            return Go(job.memory, drain_report.progress(_state(job, view), ()), steps=(step,))


def _succeed(job: DrainJob, node: Node | None, view: View) -> End[DrainMemory]:
    count = tally(job.memory.pods, job.id, view)
    end = _end(job, view, Phase.SUCCEEDED, "drained", f"evicted_replicas={len(count.evicted)}")
    if node is not None:
        return end
    note = "node_replaced" if job.target in view.snapshot.nodes else "node_deleted"
    return replace(end, details={**end.details, "note": note})


def _failed(job: DrainJob, view: View, code: str, message: str) -> End[DrainMemory]:
    return _end(job, view, Phase.FAILED, code, message)


def _end(job: DrainJob, view: View, phase: Phase, code: str, message: str) -> End[DrainMemory]:
    state = _state(job, view)
    return End(phase, code, message, job.memory, drain_report.progress(state, ()), drain_report.details(state))


def _state(job: DrainJob, view: View) -> DrainState:
    return DrainState(job.id, job.target, job.memory.cordoned_at is not None, job.memory.pods, view)


def _fail(job: DrainJob, view: View, why: Fail) -> End[DrainMemory]:
    return _failed(job, view, why.code, why.message)


def _overdue(job: DrainJob, node: Node | None, view: View, now: datetime) -> Fail:
    count = tally(job.memory.pods, job.id, view)
    walk = _walk(job, count, view, now) if node is not None else NO_WALK
    reasons = [sentence(each) for each in in_order(_waits(walk, count, view))]
    if view.snapshot.unreadable:
        reasons.insert(0, sentence(cordon.unreadable(view.snapshot)))
    if job.memory.cordoned_at is None:
        reasons.insert(0, f"node {job.target} could not be cordoned")
    is_unreachable = node is not None and not node.ready and count.terminating
    if is_unreachable:
        unconfirmed = f"node {job.target} is not ready, and does not confirm that {len(count.terminating)} pod(s) ended"
        reasons.insert(0, unconfirmed)
    because = f": {listed(reasons)}" if reasons else ""
    text = f"not done within the deadline of {job.params.deadline_s} s{because}"
    return Fail("node_unreachable" if is_unreachable else "deadline_exceeded", text)


def _wait(job: DrainJob, view: View, blockers: tuple[Blocker, ...], until: datetime | None) -> Go[DrainMemory]:
    return Go(job.memory, drain_report.progress(_state(job, view), blockers), (), blockers, until)


def foresee(job: DrainJob, view: View, now: datetime) -> Plan | Fail:
    """Return what a drain would do if it began now; nothing is cordoned for it."""
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    if node is None:
        return cordon.missing(view.snapshot, job.target)
    params = job.params
    return plan_drain(node, DrainChoices(params.deadline_s, params.grace_period_s, params.skip_fit_check), view, now)


KIND = Kind(
    name="node.drain",
    version=1,
    title="Drain a node",
    needs="drain",
    runs_in="operator",
    params=DrainParams,
    memory=DrainMemory,
    steps=(Cordon, Evict, Uncordon),
    decide=decide,
    foresee=foresee,
    claims=claims,
)

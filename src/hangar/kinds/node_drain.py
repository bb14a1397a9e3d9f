"""node.drain: cordon a node, then move every pod off it, as fast as its budgets and owners allow.

A drain is done when every pod it found is gone by its UID *and* each of their owners serves elsewhere as before.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from hangar.domain import cordon
from hangar.domain.blockers import in_order, listed, sentence
from hangar.domain.cordon import Take, Wait
from hangar.domain.decision import Blocker, Cordon, Delete, End, Evict, Fail, Go, Uncordon
from hangar.domain.drain import reporting
from hangar.domain.drain.forcing import GRACE_S, Forcing, delete
from hangar.domain.drain.memory import DrainMemory, Failure, remember, vanishing_at
from hangar.domain.drain.moves import Tally, about_to_be_sent, returned, tally, units
from hangar.domain.drain.naming import named
from hangar.domain.drain.pacing import Walk, Walker
from hangar.domain.drain.planning import DrainChoices, plan_drain
from hangar.domain.drain.preflight import Choices, Obstacle, Since, holds_refused, judge, obstacles, refused
from hangar.domain.drain.reporting import DrainState
from hangar.domain.drain.rescheduling import cannot_be_rescheduled, lacking, not_rescheduled, verdict_at
from hangar.domain.drain.waits import held_back, landed_at, not_gone, stuck_at, taken_over, takeover_at
from hangar.domain.kind import Job, Kind, param
from hangar.domain.limits import (
    DEADLINE_MAX_S,
    DEADLINE_MIN_S,
    DRAIN_DEADLINE_DEFAULT_S,
    FORCE_MAX_S,
    GRACE_PERIOD_MAX_S,
    UNDO_MAX_S,
)
from hangar.domain.operation import Phase
from hangar.domain.plan import Plan
from hangar.domain.snapshot import Node
from hangar.domain.view import Claims, StepKey, StepName, View


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
    on_deadline: Literal["fail", "force"] = field(
        default="fail",
        metadata=param(
            "what becomes of pods that are still there at the deadline: force deletes them, past their budgets, "
            "with 1 s of grace",
            needs="force",
        ),
    )
    force: bool = field(
        default=False, metadata=param("also evict pods that nothing would recreate: they are lost", needs="force")
    )
    node_is_down: bool = field(
        default=False,
        metadata=param(
            "the caller vouches that the node is off: pods that it cannot confirm to have ended are deleted at once",
            needs="force",
        ),
    )


DrainJob: TypeAlias = Job[DrainParams, DrainMemory]
Decision: TypeAlias = Go[DrainMemory] | End[DrainMemory]


def claims(job: DrainJob) -> Claims:
    """Return what an open drain holds: its node, what its owners had, what it has sent."""
    memory = job.memory
    sent = {uid: each.sent_at for uid, each in memory.pods.items() if each.sent_at is not None}
    moved = frozenset(each.owner.uid for uid, each in memory.pods.items() if uid in sent and each.owner is not None)
    parts = {each.owner.uid: each.part for each in memory.pods.values() if each.owner is not None and each.part}
    draining = (job.target, job.target_uid)
    return Claims(draining, memory.baselines, sent, moved, memory.group_sizes, memory.vanished, parts)


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
        is_replaced = node is None and job.target in view.snapshot.nodes
        learnt = remember(job.memory, job.id, node, view, now, is_replaced=is_replaced, force=job.params.force)
        job = replace(job, memory=learnt)
        view = view.claiming(job.id, claims(job))  # what was just learnt counts at once
    if job.is_cancelled:
        return _end(job, view, Phase.CANCELLED, "cancelled", reporting.cancelled_message(_state(job, view)))
    if is_readable and node is None and job.memory.cordoned_at is None:
        return _fail(job, view, cordon.missing(view.snapshot, job.target))
    if is_readable and job.memory.cordoned_at is not None:
        if node is not None and not node.unschedulable:
            return _fail(job, view, _interrupted(node))
        if _is_done(job, node, view):
            return _succeed(job, node, view)
    if now >= job.deadline_at:
        is_forced = job.params.on_deadline == "force" and job.memory.cordoned_at is not None
        if is_forced and is_readable and node is not None and now < _give_up_at(job):
            return _force(job, node, view, now)
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
            return Go(job.memory, reporting.progress(_state(job, view), ()), steps=(step,))


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
        return _wait(job, view, _told(job, waits, view), min(each.until for each in settling))
    job = replace(job, memory=replace(job.memory, is_checked=True))
    if (why := cannot_be_rescheduled(count.gone, job.memory.failing_at, view, now)) is not None:
        return _fail(job, view, why)
    why = returned(job.memory.pods.values(), job.target) or taken_over(count, job.target, job.memory.replaced_at, now)
    if why is not None:
        return _fail(job, view, why)
    if _is_done(job, node, view):
        return _succeed(job, node, view)
    walk = _walk(job, count, view, now) if node is not None else Walk()
    forcing = _clear_dead_node(job, node, count, view, now)
    if (denied := walk.denied or forcing.denied) is not None:
        return _fail(job, view, denied)
    sent = {step.pod.uid: about_to_be_sent(job.memory.pods[step.pod.uid], view, now) for step in walk.steps}
    pods = forcing.remembered({**job.memory.pods, **sent}, now)
    job = replace(job, memory=replace(job.memory, pods=pods))
    steps = walk.steps + forcing.steps
    blockers = _told(job, waits + forcing.blockers + _waits(walk, count, node, view, now), view)
    progress = reporting.progress(_state(job, view.assuming(steps)), blockers)
    times = (
        *(each.until for each in settling),
        walk.recheck_at,
        forcing.recheck_at,
        _landing(job, count, view, now),
        stuck_at(count, now),
        verdict_at(count.gone, job.memory.failing_at, view, now),
        takeover_at(count, job.memory.replaced_at),
        vanishing_at(job.memory, now),
        job.deadline_at,
    )
    recheck_at = min(each for each in times if each is not None)
    return Go(job.memory, progress, steps, blockers, recheck_at)


def _clear_dead_node(job: DrainJob, node: Node | None, count: Tally, view: View, now: datetime) -> Forcing:
    """Return the deletion of what a node that is down for certain will never confirm to have ended."""
    if node is None or node.is_heard or not job.params.node_is_down:
        return Forcing()
    return delete(job.id, count.terminating, 0, view, now)


def _force(job: DrainJob, node: Node, view: View, now: datetime) -> Decision:
    """Delete what is still there at the deadline, and wait a little for its end and for what comes in its place."""
    assert job.memory.cordoned_at is not None
    since = Since(job.memory.cordoned_at, job.memory.orphaned_at)
    settling = judge(() if job.params.force else refused(node, view, since), now)
    if isinstance(settling, Fail):
        return _fail(job, view, settling)  # it is not left over: it was never to be moved
    count = tally(job.memory.pods, job.id, view)
    is_down = job.params.node_is_down and not node.is_heard
    forcing = delete(job.id, count.remaining, 0 if is_down else GRACE_S, view, now)
    if forcing.denied is not None:
        return _fail(job, view, forcing.denied)
    memory = replace(job.memory, is_checked=True, pods=forcing.remembered(job.memory.pods, now))
    job = replace(job, memory=memory)
    if _is_done(job, node, view):
        return _succeed(job, node, view)
    waits = forcing.blockers + not_gone(count, node, now) + not_rescheduled(count.gone, view)
    blockers = _told(job, tuple(each.blocker for each in settling) + waits, view)
    progress = reporting.progress(_state(job, view.assuming(forcing.steps)), blockers)
    times = (
        *(each.until for each in settling),
        forcing.recheck_at,
        stuck_at(count, now),
        vanishing_at(memory, now),
        _give_up_at(job),
    )
    return Go(memory, progress, forcing.steps, blockers, min(each for each in times if each is not None))


def _give_up_at(job: DrainJob) -> datetime:
    return job.deadline_at + timedelta(seconds=FORCE_MAX_S)


def _in_the_way(job: DrainJob, node: Node | None, count: Tally, view: View) -> tuple[Obstacle, ...]:
    """Return what stops the drain: before the first eviction all that can be seen, then pods that must not be moved."""
    assert job.memory.cordoned_at is not None
    if node is None:
        return ()
    since = Since(job.memory.cordoned_at, job.memory.orphaned_at)
    if job.memory.is_checked:
        return () if job.params.force else refused(node, view, since)
    if job.params.node_is_down and node.is_heard:
        text = f"node {node.name} is up: its kubelet was heard; node_is_down is for a node that is known to be off"
        return (Obstacle("node_is_up", text),)
    choices = Choices(skip_fit_check=job.params.skip_fit_check, force=job.params.force)
    return obstacles(node, count.untouched, view, since, choices)


# --- waiting ----------------------------------------------------------------------------------------------------------


def _walk(job: DrainJob, count: Tally, view: View, now: datetime) -> Walk:
    # What is orphaned is waited for as such: nothing would recreate it.
    untouched = [pod for pod in count.untouched if pod.ref.uid not in job.memory.orphaned_at]
    is_emptying = bool(count.terminating or count.unknown)
    return Walker(job.id, job.params.grace_period_s).walk(untouched, is_emptying, view, now)


def _told(job: DrainJob, blockers: tuple[Blocker, ...], view: View) -> tuple[Blocker, ...]:
    return in_order(named(blockers, job.memory.pods.values(), view))


def _waits(walk: Walk, count: Tally, node: Node | None, view: View, now: datetime) -> tuple[Blocker, ...]:
    """Return what holds each pod back, and what has begun and is not done."""
    return held_back(walk.held, view) + not_gone(count, node, now) + not_rescheduled(count.gone, view)


def _landing(job: DrainJob, count: Tally, view: View, now: datetime) -> datetime | None:
    """Return when to look again at pods that an eviction of unknown outcome may still end."""
    times = [
        landed_at(job.memory.pods[uid], view.answers.get(StepKey(job.id, StepName.EVICT, uid)), now)
        for uid in (pod.ref.uid for pod in count.unknown)
    ]
    return min(times, default=None)


def _is_done(job: DrainJob, node: Node | None, view: View) -> bool:
    """Tell whether every pod found is gone by its UID, and every owner serves off the draining nodes as before."""
    if not job.memory.is_checked or tally(job.memory.pods, job.id, view).remaining:
        return False
    is_empty = node is None or job.params.force or not holds_refused(node, view)
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
            return Go(job.memory, reporting.progress(_state(job, view), ()), steps=(step,))


def _succeed(job: DrainJob, node: Node | None, view: View) -> End[DrainMemory]:
    count = tally(job.memory.pods, job.id, view)
    end = _end(job, view, Phase.SUCCEEDED, "drained", f"evicted_replicas={units(count.evicted)}")
    if node is not None:
        return end
    note = "node_replaced" if job.target in view.snapshot.nodes else "node_deleted"
    return replace(end, details={**end.details, "note": note})


def _failed(job: DrainJob, view: View, code: str, message: str) -> End[DrainMemory]:
    return _end(job, view, Phase.FAILED, code, message)


def _end(job: DrainJob, view: View, phase: Phase, code: str, message: str) -> End[DrainMemory]:
    state = _state(job, view)
    return End(phase, code, message, job.memory, reporting.progress(state, ()), reporting.details(state))


def _state(job: DrainJob, view: View) -> DrainState:
    memory = job.memory
    is_cordoned = memory.cordoned_at is not None
    return DrainState(job.id, job.target, is_cordoned, memory.pods, view, memory.was_cordoned_before)


def _fail(job: DrainJob, view: View, why: Fail) -> End[DrainMemory]:
    return _failed(job, view, why.code, why.message)


def _overdue(job: DrainJob, node: Node | None, view: View, now: datetime) -> Fail:
    count = tally(job.memory.pods, job.id, view)
    walk = _walk(job, count, view, now) if node is not None else Walk()
    reasons = [sentence(each) for each in _told(job, _waits(walk, count, node, view, now), view)]
    if view.snapshot.unreadable:
        reasons.insert(0, sentence(cordon.unreadable(view.snapshot)))
    if job.memory.cordoned_at is None:
        reasons.insert(0, f"node {job.target} could not be cordoned")
    is_unreachable = node is not None and not node.is_heard and count.terminating
    if is_unreachable:
        unconfirmed = f"unconfirmed {len(count.terminating)}: the kubelet of {job.target} is silent"
        reasons.insert(0, unconfirmed)
    if any(each.forced_at is not None for each in job.memory.pods.values()):
        reasons.insert(0, f"what was left was deleted, and {FORCE_MAX_S:.0f} s later it is not done")
    because = f": {listed(reasons)}" if reasons else ""
    text = f"not done within the deadline of {job.params.deadline_s} s{because}"
    return Fail("node_unreachable" if is_unreachable else "deadline_exceeded", text)


def _wait(job: DrainJob, view: View, blockers: tuple[Blocker, ...], until: datetime | None) -> Go[DrainMemory]:
    return Go(job.memory, reporting.progress(_state(job, view), blockers), (), blockers, until)


def foresee(job: DrainJob, view: View, now: datetime) -> Plan | Fail:
    """Return what a drain would do if it began now; nothing is cordoned for it."""
    node = cordon.node_of(view.snapshot, job.target, job.target_uid)
    if node is None:
        return cordon.missing(view.snapshot, job.target)
    params = job.params
    choices = DrainChoices(params.deadline_s, params.grace_period_s, params.skip_fit_check, params.force)
    return plan_drain(node, choices, view, now)


KIND = Kind(
    name="node.drain",
    version=1,
    title="Drain a node",
    needs="drain",
    runs_in="operator",
    params=DrainParams,
    memory=DrainMemory,
    steps=(Cordon, Evict, Delete, Uncordon),
    decide=decide,
    foresee=foresee,
    claims=claims,
)

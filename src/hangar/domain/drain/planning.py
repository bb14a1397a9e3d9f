"""What a drain would do if it began now: read only, and decided as the drain itself decides."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hangar.domain.drain.disruption import budgets_of, loss_of, parts_of
from hangar.domain.drain.duration import Expected, expected
from hangar.domain.drain.naming import workload_of
from hangar.domain.drain.preflight import Choices, Obstacle, Since, obstacles
from hangar.domain.drain.selection import Move, Skip, SkipReason, select
from hangar.domain.drain.warnings import Prospect, warnings_of
from hangar.domain.fit.verdict import Verdict, in_all, weigh
from hangar.domain.ids import PodUid
from hangar.domain.owners import group_size, name_of
from hangar.domain.plan import Fits, LeftPod, Obstruction, Plan, PlannedMove
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import View

_WHY_LEFT: Mapping[SkipReason, str] = {
    SkipReason.MIRROR: "mirror: the kubelet runs it by itself",
    SkipReason.FINISHED: "finished: it holds nothing any more",
    SkipReason.DAEMON_SET: "daemonset: it would be put back at once",
}


@dataclass(frozen=True, slots=True)
class DrainChoices:
    """Of a drain's parameters those that change its plan."""

    deadline_s: int
    grace_period_s: int | None
    skip_fit_check: bool
    force: bool


def plan_drain(node: Node, choices: DrainChoices, view: View, now: datetime) -> Plan:
    """Return the plan of a drain of a node; the view must count the node as one that is being drained."""
    pods = sorted(view.snapshot.pods_on(node.name), key=lambda each: each.ref)
    chosen = [(pod, select(pod, view.snapshot, force=choices.force)) for pod in pods]
    moving = tuple(pod for pod, selected in chosen if isinstance(selected, Move))
    verdicts = weigh(node.name, moving, view)
    stops, passed_over = _in_the_way(node, moving, choices, view, now)
    budgets = budgets_of(moving, view)
    losses = tuple(loss_of(part, budgets, view) for part in parts_of(moving, view))
    takes = expected(moving, budgets, choices.grace_period_s, view)
    prospect = Prospect(node, moving, losses, choices.deadline_s, choices.grace_period_s, takes.duration_s, view)
    return Plan(
        message=_message(node, verdicts, stops, takes),
        fits=in_all(verdicts.values()),
        moves=tuple(_move(pod, verdicts[pod.ref.uid], view) for pod in moving),
        skipped=tuple(LeftPod(str(pod.ref), _WHY_LEFT[each.reason]) for pod, each in chosen if isinstance(each, Skip)),
        obstructions=tuple(Obstruction(each.code, _told(each, now)) for each in stops),
        warnings=(*(f"skipped by choice: {each.message}" for each in passed_over), *warnings_of(prospect)),
        budgets=tuple(budgets.values()),
        losses=losses,
        expected_duration_s=None if stops else takes.duration_s,
        basis="" if stops else takes.basis,
    )


def _in_the_way(
    node: Node, moving: tuple[Pod, ...], choices: DrainChoices, view: View, now: datetime
) -> tuple[Sequence[Obstacle], Sequence[Obstacle]]:
    """Return what would make the drain fail before its first eviction, and what its caller chose not to ask for."""
    untouched = [pod for pod in moving if not pod.is_terminating and pod.ref.uid not in view.leaving]
    every = obstacles(node, untouched, view, Since(now, {}), Choices(skip_fit_check=False, force=choices.force))
    if not choices.skip_fit_check:
        return every, ()
    stops = obstacles(node, untouched, view, Since(now, {}), Choices(skip_fit_check=True, force=choices.force))
    return stops, [each for each in every if each not in stops]


def _told(obstacle: Obstacle, now: datetime) -> str:
    if obstacle.settling is None:
        return obstacle.message
    wait_s = int((obstacle.settling.until - now).total_seconds())
    return f"{obstacle.message}; its controller would have {wait_s} s to react to the cordon"


def _move(pod: Pod, verdict: Verdict, view: View) -> PlannedMove:
    owner, group = view.snapshot.top_owner(pod), pod.group
    why = verdict.why
    if pod.is_terminating:
        why = "it is terminating already" + (f"; {why}" if why else "")
    return PlannedMove(
        pod=str(pod.ref),
        owner=name_of(owner, pod.ref.namespace) if owner is not None else None,
        fits=verdict.fits,
        node=verdict.node,
        group=f"{group} ({group_size(group.owner_uid, view)} pods)" if group is not None else None,
        requests=pod.requests,
        why=why,
        workload=workload_of(pod.part, view),
        component=pod.part.component if pod.part is not None else None,
    )


_SAID: Mapping[Fits, tuple[str, str]] = {
    Fits.YES: ("all fit elsewhere", "fit elsewhere"),
    Fits.UNKNOWN: ("whether they fit elsewhere is not known", "may fit or not"),
    Fits.NO: ("none fits elsewhere", "do not fit anywhere"),
}


def _message(node: Node, verdicts: Mapping[PodUid, Verdict], stops: Sequence[Obstacle], takes: Expected) -> str:
    if stops:
        codes = ", ".join(dict.fromkeys(each.code for each in stops))
        return f"would fail once {node.name} is cordoned, before any of {len(verdicts)} pod(s) is evicted: {codes}"
    if not verdicts:
        return f"would cordon {node.name}, which has no pod to move"
    counts = Counter(each.fits for each in verdicts.values())
    kinds = [fits for fits in Fits if counts[fits]]
    words = [_SAID[fits][0] if len(kinds) == 1 else f"{counts[fits]} {_SAID[fits][1]}" for fits in kinds]
    pace = f"in at least {takes.steps} steps" if takes.steps > 1 else "at once"
    length = f", about {takes.duration_s} s" if takes.duration_s is not None else ""
    return f"would evict {len(verdicts)} pod(s) {pace}{length}; {', '.join(words)}"

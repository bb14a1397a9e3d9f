"""What a drain would do if it began now: read only, and decided as the drain itself decides."""

from dataclasses import dataclass
from datetime import datetime

from hangar.domain.fit import misfits
from hangar.domain.owners import name_of
from hangar.domain.plan import Fits, LeftPod, Obstruction, Plan, PlannedMove
from hangar.domain.preflight import Choices, Since, obstacles
from hangar.domain.selection import Move, Skip, select
from hangar.domain.snapshot import Node, Pod
from hangar.domain.view import View


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
    moving = tuple(pod for pod in pods if isinstance(select(pod, view.snapshot, force=choices.force), Move))
    lacking = {each.pod.ref.uid: str(each) for each in misfits(moving, view) if each.pod is not None}
    stops = obstacles(node, moving, view, Since(now, {}), Choices(choices.skip_fit_check, choices.force))
    return Plan(
        message=f"{len(moving)} pod(s) would be evicted",
        fits=Fits.NO if lacking else Fits.UNKNOWN,
        moves=tuple(_move(pod, lacking.get(pod.ref.uid), view) for pod in moving),
        skipped=tuple(
            LeftPod(str(pod.ref), chosen.reason.value)
            for pod in pods
            if isinstance(chosen := select(pod, view.snapshot), Skip)
        ),
        obstructions=tuple(Obstruction(each.code, each.message) for each in stops),
    )


def _move(pod: Pod, why: str | None, view: View) -> PlannedMove:
    owner = view.snapshot.top_owner(pod)
    return PlannedMove(
        pod=str(pod.ref),
        owner=name_of(owner, pod.ref.namespace) if owner is not None else None,
        fits=Fits.NO if why is not None else Fits.UNKNOWN,
        requests=pod.requests,
        why=why,
    )

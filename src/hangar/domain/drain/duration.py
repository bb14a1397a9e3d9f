"""How long a drain may be expected to take, reckoned from what was seen of its owners' pods."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from hangar.domain.drain.disruption import Budgets, Part, parts_of, steps_of
from hangar.domain.drain.pacing import CRITICAL_PRIORITY
from hangar.domain.owners import ready_count
from hangar.domain.snapshot import Pod
from hangar.domain.view import View


@dataclass(frozen=True, slots=True)
class Expected:
    """A duration in whole seconds, and what it was reckoned from; None where something is not known."""

    duration_s: int | None
    steps: int
    basis: str


@dataclass(frozen=True, slots=True)
class _Pace:
    """One owner's: `steps` one after another, each to the end of a grace period and until the new pods are ready."""

    name: str
    steps: int
    end_s: int
    ready_s: int | None
    seen: int

    @property
    def duration_s(self) -> int:
        return self.steps * (self.end_s + (self.ready_s or 0))

    def __str__(self) -> str:
        ready = f" and {self.ready_s} s to be ready (median of {self.seen} pod(s))" if self.seen else ""
        return f"{self.name}: {self.steps} step(s) of up to {self.end_s} s to end{ready}"


def expected(moving: Iterable[Pod], budgets: Budgets, grace_s: int | None, view: View) -> Expected:
    """Return how long pods take to move and to be ready elsewhere, if each takes its whole grace period to end.

    Owners move side by side, so the slowest counts; critical pods go when the others have left.
    """
    moving = tuple(moving)
    critical = [pod for pod in moving if pod.priority >= CRITICAL_PRIORITY]
    ordinary = [pod for pod in moving if pod.priority < CRITICAL_PRIORITY]
    waves = [wave for pods in (ordinary, critical) if (wave := _wave_of(pods, budgets, grace_s, view))]
    steps = sum(max(each.steps for each in wave) for wave in waves)
    unknown = [each.name for wave in waves for each in wave if each.ready_s is None]
    if unknown:
        return Expected(None, steps, f"it is not known how long pods of {unknown[0]} take to be ready")
    slowest = [max(wave, key=lambda each: each.duration_s) for wave in waves]
    basis = ", then ".join(str(each) for each in slowest)
    return Expected(sum(each.duration_s for each in slowest), steps, basis or "no pod has to move")


def _wave_of(pods: list[Pod], budgets: Budgets, grace_s: int | None, view: View) -> list[_Pace]:
    paces = [
        _Pace(part.name, steps_of(part, budgets, view), longest_grace_s(part.pods, grace_s), *_readiness(part, view))
        for part in parts_of(pods, view)
    ]
    bare = [pod for pod in pods if view.snapshot.top_owner(pod) is None]
    return [*paces, *(_Pace(str(pod.ref), 1, longest_grace_s((pod,), grace_s), 0, 0) for pod in bare)]


def longest_grace_s(pods: Iterable[Pod], grace_s: int | None) -> int:
    """Return the longest grace period of some pods, or the one that a caller has chosen for all."""
    return max((pod.grace_s for pod in pods), default=0) if grace_s is None else grace_s


def _readiness(part: Part, view: View) -> tuple[int | None, int]:
    """Return how long an owner's pods took to be ready, in seconds, by the median, and of how many that was seen.

    One that has no ready pod is waited for no longer than its pods take to end.
    """
    if ready_count(part.owner, view) == 0:
        return 0, 0
    took = sorted(
        max(0.0, (pod.ready_at - pod.created_at).total_seconds())
        for pod in view.snapshot.pods_of(part.owner)
        if pod.ready_at is not None and pod.serves
    )
    return (ceil(took[len(took) // 2]), len(took)) if took else (None, 0)

"""Admission webhooks that evictions have to pass: they deny, take too long, or move the pod themselves."""

from collections.abc import Callable
from dataclasses import dataclass

from hangar.domain.decision import Answer, Busy, Denied, Trouble, Unknown
from hangar.domain.ids import PodUid
from hangar.domain.limits import EVICTION_TIMEOUT_S
from hangar.domain.snapshot import Pod
from hangar.operator.cluster.simulated.spec import WebhookSpec
from hangar.operator.cluster.simulated.state import State

Move = Callable[[PodUid], None]
"""Begins a pod's deletion."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a webhook makes of an eviction; `lands_after_s`: it is done all the same, so long after its answer."""

    answer: Answer
    lands_after_s: float | None = None


class Webhooks:
    """The webhooks of a cluster; of several that an eviction has to pass the first by name decides."""

    def __init__(self, state: State, move: Move) -> None:
        self._state = state
        self._move = move
        self._specs: dict[str, WebhookSpec] = {}

    def add(self, spec: WebhookSpec) -> None:
        """Add a webhook, or replace it."""
        self._specs[spec.name] = spec

    def drop(self, name: str) -> None:
        """Take a webhook away."""
        self._specs.pop(name, None)

    def delay_s(self, pod: Pod) -> float:
        """Return how long an eviction of a pod is without an answer."""
        spec = self._over(pod)
        return min(spec.timeout_s, EVICTION_TIMEOUT_S) if spec is not None and spec.is_slow else 0.0

    def ask(self, pod: Pod) -> Verdict | None:
        """Return what becomes of an eviction once it was asked about, None where it passes."""
        spec = self._over(pod)
        match spec:
            case None:
                return None
            case WebhookSpec(is_slow=False):
                if spec.moves_after_s is not None:
                    self._state.at(spec.moves_after_s, lambda: self._move(pod.ref.uid))
                text = f'400: admission webhook "{spec.name}" denied the request: {spec.message}'
                return Verdict(Denied(text, by_webhook=True))
            case WebhookSpec(timeout_s=timeout_s, lets_pass=lets_pass) if timeout_s >= EVICTION_TIMEOUT_S:
                lands_after_s = timeout_s - EVICTION_TIMEOUT_S if lets_pass else None
                return Verdict(Unknown(f"no reply within {EVICTION_TIMEOUT_S:g} s"), lands_after_s)
            case WebhookSpec(lets_pass=True):
                return None
            case _:
                why = f'webhook timeout: 500: Internal error occurred: failed calling webhook "{spec.name}"'
                return Verdict(Busy(f"{why}: context deadline exceeded", trouble=Trouble.WEBHOOK))

    def _over(self, pod: Pod) -> WebhookSpec | None:
        specs = (self._specs[name] for name in sorted(self._specs))
        return next((each for each in specs if each.selector.items() <= pod.labels.items()), None)

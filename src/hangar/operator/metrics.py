"""OperatorMetrics: the operator's figures, taken at its edges: each turn, each step, each call to the hub."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client import Gauge

from hangar.domain.decision import Answer, Step
from hangar.operator.cluster.port import Watch
from hangar.telemetry import metrics
from hangar.telemetry.metrics import Metrics

WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Vitals:
    """How an operator is now.

    `silent_s` is how long ago the call was sent that last confirmed its session, None without one; `standing_s` for
    how long a turn has been wanted and not taken; `objects` counts what is known of the cluster, by resource.
    """

    silent_s: float | None = None
    standing_s: float = 0.0
    operations: int = 0
    steps: int = 0
    watches: tuple[Watch, ...] = ()
    objects: Mapping[str, int] | None = None


class OperatorMetrics:
    """The figures of one operator. All methods are called from one thread."""

    def __init__(self) -> None:
        self._metrics = of = Metrics()
        self._turn_s = of.histogram(metrics.TURN_SECONDS)
        self._turn_failures = of.counter(metrics.TURN_FAILURES)
        self._operations = of.gauge(metrics.OPERATIONS_HELD)
        self._steps = of.counter(metrics.STEPS)
        self._step_s = of.histogram(metrics.STEP_SECONDS)
        self._in_flight = of.gauge(metrics.STEPS_IN_FLIGHT)
        self._session = of.gauge(metrics.SESSION_HELD)
        self._silence_s = of.gauge(metrics.HUB_SILENCE_SECONDS)
        self._calls = of.counter(metrics.HUB_CALLS)
        self._call_s = of.histogram(metrics.HUB_CALL_SECONDS)
        self._watch_up = of.gauge(metrics.WATCH_UP)
        self._watch_age_s = of.gauge(metrics.WATCH_AGE_SECONDS)
        self._objects = of.gauge(metrics.SNAPSHOT_OBJECTS)

    def turned(self, took_s: float) -> None:
        """Count a turn."""
        self._turn_s.observe(took_s)

    def turn_failed(self) -> None:
        """Count a turn that ended in a fault."""
        self._turn_failures.inc()

    def answered(self, step: Step, answer: Answer, took_s: float) -> None:
        """Count a step by its answer."""
        name = _words(step)
        self._steps.labels(name, _words(answer)).inc()
        self._step_s.labels(name).observe(took_s)

    def called(self, call: str, outcome: str, took_s: float) -> None:
        """Count a call to the hub."""
        self._calls.labels(call, outcome).inc()
        self._call_s.labels(call).observe(took_s)

    def text(self, now: Vitals) -> bytes:
        """Return all figures as they are now."""
        self._operations.set(now.operations)
        self._in_flight.set(now.steps)
        self._session.set(now.silent_s is not None)
        self._silence_s.set(now.silent_s or 0.0)
        _set(self._watch_up, {each.resource: float(each.is_up) for each in now.watches})
        _set(self._watch_age_s, {each.resource: each.age_s for each in now.watches if each.age_s is not None})
        _set(self._objects, now.objects or {})
        return self._metrics.text()


def _words(value: Step | Answer) -> str:
    return WORD.sub("_", type(value).__name__).lower()


def _set(gauge: Gauge, values: Mapping[str, float]) -> None:
    gauge.clear()  # what is not there now is not shown
    for label, value in values.items():
        gauge.labels(label).set(value)

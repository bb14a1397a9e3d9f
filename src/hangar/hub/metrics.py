"""HubMetrics: the hub's figures, taken at its edges: each request, each commit, and what is there when one asks."""

from collections.abc import Mapping
from typing import TypeVar

from prometheus_client import Gauge

from hangar.domain.operation import TERMINAL, Phase
from hangar.hub.store.tx import Committed, EventType
from hangar.hub.usecases.gauges import Gauges
from hangar.telemetry import metrics
from hangar.telemetry.metrics import Metrics

Labels = TypeVar("Labels", bound=tuple[str, ...])

ENTERED: Mapping[str, Phase] = {
    EventType.OPERATION_CREATED.value: Phase.PENDING,
    EventType.OPERATION_STARTED.value: Phase.RUNNING,
    EventType.OPERATION_SUCCEEDED.value: Phase.SUCCEEDED,
    EventType.OPERATION_FAILED.value: Phase.FAILED,
    EventType.OPERATION_CANCELLED.value: Phase.CANCELLED,
}
"""The events with which an operation enters a phase."""


class HubMetrics:
    """The figures of one hub. What counts may be called in any thread; `text` in the event loop alone."""

    def __init__(self) -> None:
        self._metrics = of = Metrics()
        self._requests = of.counter(metrics.HTTP_REQUESTS)
        self._request_s = of.histogram(metrics.HTTP_REQUEST_SECONDS)
        self._waiters = of.gauge(metrics.WAITERS)
        self._operations = of.counter(metrics.OPERATIONS)
        self._operation_s = of.histogram(metrics.OPERATION_SECONDS)
        self._open = of.gauge(metrics.OPERATIONS_OPEN)
        self._oldest_s = of.gauge(metrics.OPERATION_OPEN_SECONDS)
        self._blocked_s = of.gauge(metrics.OPERATION_BLOCKED_SECONDS)
        self._events = of.counter(metrics.EVENTS)
        self._clusters = of.gauge(metrics.CLUSTERS)
        self._lease_age_s = of.gauge(metrics.LEASE_AGE_SECONDS)
        self._standbys = of.gauge(metrics.STANDBYS)
        self._store_up = of.gauge(metrics.STORE_UP)
        self._write_s = of.histogram(metrics.STORE_WRITE_SECONDS)
        self._writes = of.counter(metrics.STORE_WRITES)
        self._queued = of.gauge(metrics.STORE_QUEUED)

    def answered(self, method: str, route: str, code: int, took_s: float) -> None:
        """Count a request that was answered; `route` is a template, so that there are never many."""
        self._requests.labels(method, route, code).inc()
        self._request_s.labels(method, route).observe(took_s)

    def committed(self, what: Committed) -> None:
        """Count a commit, and what it brought about."""
        self._write_s.observe(what.took_s)
        for outcome, count in what.outcomes.items():
            self._writes.labels(outcome).inc(count)
        for event in what.events:
            self._events.labels(event["type"]).inc()
            phase = ENTERED.get(event["type"])
            if phase is not None:
                self._entered(event["data"]["type"], phase, event["data"].get("duration_s"))

    def text(self, gauges: Gauges | None, *, queued: int, waiters: int) -> bytes:
        """Return all figures as they are now; without gauges the store could not be read."""
        self._queued.set(queued)
        self._waiters.set(waiters)
        self._store_up.set(gauges is not None)
        for each in (self._open, self._oldest_s, self._blocked_s, self._clusters, self._lease_age_s):
            each.clear()  # what is not there now is not shown
        if gauges is not None:
            _set(self._open, gauges.open)
            _set(self._oldest_s, gauges.oldest_s)
            _set(self._blocked_s, gauges.blocked_s)
            self._clusters.labels("online").set(gauges.online)
            self._clusters.labels("offline").set(gauges.offline)
            _set(self._lease_age_s, {(cluster,): age_s for cluster, age_s in gauges.lease_age_s.items()})
            self._standbys.set(gauges.standbys)
        return self._metrics.text()

    def _entered(self, type_: str, phase: Phase, duration_s: float | None) -> None:
        self._operations.labels(type_, phase.value).inc()
        if phase in TERMINAL and duration_s is not None:
            self._operation_s.labels(type_, phase.value).observe(duration_s)


def _set(gauge: Gauge, values: Mapping[Labels, float]) -> None:
    for labels, value in values.items():
        gauge.labels(*labels).set(value)

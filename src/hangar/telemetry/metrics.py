"""Metrics: what hub and operator tell of themselves in figures, each defined once, with its meaning.

Who takes a figure is said elsewhere: `hangar.hub.metrics`, `hangar.operator.metrics`. The reference is made of this.
"""

from dataclasses import dataclass
from enum import StrEnum

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

import hangar

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
"""The text format that every scraper reads."""


class Sort(StrEnum):
    """What a figure does: only ever grow, go up and down, or be spread over buckets."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Definition:
    """One metric. `meaning` is a sentence without its full stop; `buckets` are upper bounds, for a histogram alone."""

    name: str
    sort: Sort
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


COMMIT_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
REQUEST_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
OPERATION_S = (1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
TURN_S = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.25, 0.5, 1.0)
STEP_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 8.0)

BUILD = Definition("hangar_build_info", Sort.GAUGE, "always 1; its label is the release that runs", ("version",))

# --- the hub ----------------------------------------------------------------------------------------------------------

HTTP_REQUESTS = Definition(
    "hangar_http_requests_total",
    Sort.COUNTER,
    "requests answered; `route` is the route's template, `other` where none is served",
    ("method", "route", "code"),
)
HTTP_REQUEST_SECONDS = Definition(
    "hangar_http_request_duration_seconds",
    Sort.HISTOGRAM,
    "how long requests took; a long poll takes as long as it waits",
    ("method", "route"),
    REQUEST_S,
)
WAITERS = Definition("hangar_waiters", Sort.GAUGE, "requests that are parked until something changes")
OPERATIONS = Definition(
    "hangar_operations_total",
    Sort.COUNTER,
    "operations that this hub has seen enter a phase; `pending` counts those that were created",
    ("type", "phase"),
)
OPERATION_SECONDS = Definition(
    "hangar_operation_duration_seconds",
    Sort.HISTOGRAM,
    "how long operations took that are over, from pending to the terminal phase",
    ("type", "phase"),
    OPERATION_S,
)
OPERATIONS_OPEN = Definition(
    "hangar_operations_open", Sort.GAUGE, "operations that are not over now", ("type", "phase")
)
OPERATION_OPEN_SECONDS = Definition(
    "hangar_operation_open_seconds",
    Sort.GAUGE,
    "how long the oldest of them has been in its phase",
    ("type", "phase"),
)
OPERATION_BLOCKED_SECONDS = Definition(
    "hangar_operation_blocked_seconds",
    Sort.GAUGE,
    "how long an open operation has got no further and waited for this blocker; of several, the longest",
    ("type", "code"),
)
EVENTS = Definition("hangar_events_total", Sort.COUNTER, "events that this hub has written to the feed", ("type",))
CLUSTERS = Definition(
    "hangar_clusters", Sort.GAUGE, "clusters whose operator is connected (`online`) or not (`offline`)", ("state",)
)
LEASE_AGE_SECONDS = Definition(
    "hangar_cluster_lease_age_seconds",
    Sort.GAUGE,
    "how long ago the operator of a cluster was last heard; a cluster without one in all its life is left out",
    ("cluster",),
)
STANDBYS = Definition(
    "hangar_sessions_standby",
    Sort.GAUGE,
    "operators that were told to stand by since their clusters last changed hands",
)
STORE_UP = Definition("hangar_store_up", Sort.GAUGE, "1 where the store could be read for this answer, else 0")
STORE_WRITE_SECONDS = Definition(
    "hangar_store_write_seconds",
    Sort.HISTOGRAM,
    "how long one commit took, from its first statement until it was on disk; several writes share one",
    buckets=COMMIT_S,
)
STORE_WRITES = Definition(
    "hangar_store_writes_total",
    Sort.COUNTER,
    "writes that were `committed`, `refused` by a use case or a fault, or met an `unavailable` store",
    ("outcome",),
)
STORE_QUEUED = Definition("hangar_store_queued_writes", Sort.GAUGE, "writes that wait for the writer now")

HUB: tuple[Definition, ...] = (
    HTTP_REQUESTS,
    HTTP_REQUEST_SECONDS,
    WAITERS,
    OPERATIONS,
    OPERATION_SECONDS,
    OPERATIONS_OPEN,
    OPERATION_OPEN_SECONDS,
    OPERATION_BLOCKED_SECONDS,
    EVENTS,
    CLUSTERS,
    LEASE_AGE_SECONDS,
    STANDBYS,
    STORE_UP,
    STORE_WRITE_SECONDS,
    STORE_WRITES,
    STORE_QUEUED,
    BUILD,
)
"""All that the hub serves at /metrics, beside what there is of its process."""

# --- the operator -----------------------------------------------------------------------------------------------------

TURN_SECONDS = Definition(
    "hangar_turn_seconds", Sort.HISTOGRAM, "how long it took to decide all open operations once", buckets=TURN_S
)
TURN_FAILURES = Definition(
    "hangar_turn_failures_total", Sort.COUNTER, "turns that ended in a fault; the log has its traceback"
)
OPERATIONS_HELD = Definition("hangar_operations_held", Sort.GAUGE, "open operations that this operator carries out now")
STEPS = Definition(
    "hangar_steps_total",
    Sort.COUNTER,
    "steps by what the cluster answered; evictions are those whose step is `evict`",
    ("step", "answer"),
)
STEP_SECONDS = Definition(
    "hangar_step_duration_seconds",
    Sort.HISTOGRAM,
    "how long steps took, from their decision to the answer",
    ("step",),
    STEP_S,
)
STEPS_IN_FLIGHT = Definition("hangar_steps_in_flight", Sort.GAUGE, "steps without an answer now")
SESSION_HELD = Definition(
    "hangar_session_held", Sort.GAUGE, "1 while this operator holds the cluster's session, 0 while it stands by"
)
HUB_SILENCE_SECONDS = Definition(
    "hangar_hub_silence_seconds",
    Sort.GAUGE,
    "how long ago the call was sent that last confirmed the session; 0 without a session",
)
HUB_CALLS = Definition(
    "hangar_hub_calls_total",
    Sort.COUNTER,
    "calls to the hub that ended `ok`, that it refused (the problem's code), or that got no answer (`unreachable`)",
    ("call", "outcome"),
)
HUB_CALL_SECONDS = Definition(
    "hangar_hub_call_duration_seconds",
    Sort.HISTOGRAM,
    "how long calls to the hub took; a sync waits for news",
    ("call",),
    REQUEST_S,
)
WATCH_UP = Definition(
    "hangar_watch_up", Sort.GAUGE, "1 while what the operator knows of a resource is true, else 0", ("resource",)
)
WATCH_AGE_SECONDS = Definition(
    "hangar_watch_age_seconds",
    Sort.GAUGE,
    "how long ago the API server last said anything of a resource; it does so once a minute at the least",
    ("resource",),
)
SNAPSHOT_OBJECTS = Definition(
    "hangar_snapshot_objects",
    Sort.GAUGE,
    "objects that the operator knows of, once it has read them all",
    ("resource",),
)

OPERATOR: tuple[Definition, ...] = (
    TURN_SECONDS,
    TURN_FAILURES,
    OPERATIONS_HELD,
    STEPS,
    STEP_SECONDS,
    STEPS_IN_FLIGHT,
    SESSION_HELD,
    HUB_SILENCE_SECONDS,
    HUB_CALLS,
    HUB_CALL_SECONDS,
    WATCH_UP,
    WATCH_AGE_SECONDS,
    SNAPSHOT_OBJECTS,
    BUILD,
)
"""All that an operator serves at /metrics, beside what there is of its process."""


class Metrics:
    """The figures of one hub or operator; several in one process do not share them."""

    def __init__(self) -> None:
        # When each series began is a second series a series, which nothing of ours is computed from.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.gauge(BUILD).labels(hangar.__version__).set(1)

    def counter(self, of: Definition) -> Counter:
        """Add a counter."""
        assert of.sort is Sort.COUNTER, of
        return Counter(of.name, of.meaning, of.labels, registry=self._registry)

    def gauge(self, of: Definition) -> Gauge:
        """Add a gauge."""
        assert of.sort is Sort.GAUGE, of
        return Gauge(of.name, of.meaning, of.labels, registry=self._registry)

    def histogram(self, of: Definition) -> Histogram:
        """Add a histogram."""
        assert of.sort is Sort.HISTOGRAM, of
        return Histogram(of.name, of.meaning, of.labels, buckets=of.buckets, registry=self._registry)

    def text(self) -> bytes:
        """Return all figures as they are now, in the form of CONTENT_TYPE."""
        return generate_latest(self._registry)

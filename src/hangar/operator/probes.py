"""Probes: what an operator shows of itself, /metrics for scrapers and /healthz for a liveness probe."""

from dataclasses import replace
from http import HTTPStatus
from typing import Protocol

from hangar.domain.limits import STANDSTILL_MAX_S
from hangar.domain.snapshot import Snapshot
from hangar.operator.cluster.port import Watch
from hangar.operator.listener import Page, Pages
from hangar.operator.metrics import OperatorMetrics, Vitals
from hangar.telemetry.metrics import CONTENT_TYPE


class Seen(Protocol):
    """What is shown of a cluster."""

    def snapshot(self) -> Snapshot | None:
        """Return the cluster as known now, or None before all was read once."""

    def watches(self) -> tuple[Watch, ...]:
        """Return how reading it goes, resource by resource."""


class Lives(Protocol):
    """What is shown of an operator."""

    def vitals(self) -> Vitals:
        """Return how it is now."""


class Probes:
    """The pages of one operator. They are there before it is: it may wait for its API server for hours.

    Attributes:
        operator: Set as soon as there is one.
    """

    def __init__(self, cluster: Seen, metrics: OperatorMetrics) -> None:
        self._cluster = cluster
        self._metrics = metrics
        self.operator: Lives | None = None

    def pages(self) -> Pages:
        """Return what makes each page."""
        return {"/metrics": self._figures, "/healthz": self._health}

    def _vitals(self) -> Vitals:
        return Vitals() if self.operator is None else self.operator.vitals()

    def _figures(self) -> Page:
        now = replace(self._vitals(), watches=self._cluster.watches())
        snapshot = self._cluster.snapshot()
        if snapshot is not None:
            objects = {
                "nodes": len(snapshot.nodes),
                "pods": len(snapshot.pods),
                "owners": len(snapshot.owners),
                "poddisruptionbudgets": len(snapshot.budgets),
            }
            now = replace(now, objects=objects)
        return Page(self._metrics.text(now), content_type=CONTENT_TYPE)

    def _health(self) -> Page:
        """Say whether the loop turns. Neither a hub nor an API server that is away is mended by a restart."""
        standing_s = self._vitals().standing_s
        if standing_s < STANDSTILL_MAX_S:
            return Page(b"ok\n")
        why = f"a turn has been wanted for {standing_s:.0f} s, and none was taken\n"
        return Page(why.encode(), HTTPStatus.SERVICE_UNAVAILABLE)

"""What the operator needs of a cluster: to see it, and to take one step on it."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from hangar.domain.decision import Answer, Step
from hangar.domain.snapshot import Snapshot

Gate = Callable[[], str | None]
"""Asked when a request holds its connection and is about to leave: None lets it go, a text says why it is withheld."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What pins a cluster: the UID of its kube-system namespace, and the version it runs."""

    uid: str
    version: str


@dataclass(frozen=True, slots=True)
class Watch:
    """How reading a resource goes: whether what is known of it is true, and how long ago the cluster said anything.

    `age_s` is None before the first word.
    """

    resource: str
    is_up: bool
    age_s: float | None


class Cluster(Protocol):
    """A cluster, real (`cluster/kubernetes`) or simulated (`cluster/simulated`), judged by one contract suite."""

    async def identity(self) -> Identity:
        """Return who the cluster is. Raises ClusterError while it cannot be reached."""

    async def grants(self) -> Mapping[str, bool]:
        """Return what the cluster's own access rules grant us, of `cordon`, `drain`, `force`, `scale`, `deploy`.

        What is not named is not granted.
        """

    async def run(self, changed: asyncio.Event) -> None:
        """Keep the snapshot fresh until cancelled, setting `changed` on every change; survives every trouble."""

    def snapshot(self) -> Snapshot | None:
        """Return the cluster as known now, or None before the first consistent list is complete."""

    def now(self) -> datetime:
        """Return the cluster's time: our monotonic clock, aligned to the API server's."""

    async def perform(self, step: Step, gate: Gate) -> Answer:
        """Take one step, asking the gate at the last moment. Never raises for what a cluster can answer."""


class ClusterError(Exception):
    """The cluster cannot be reached or does not let us in; the message says what was tried."""

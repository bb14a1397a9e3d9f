"""All that is mirrored of a cluster, and the snapshot that is made of it."""

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

from hangar.domain.decision import Gone, Namesake
from hangar.domain.devices import DeviceClaim
from hangar.domain.index import ClusterIndex
from hangar.domain.placing import Quota
from hangar.domain.snapshot import Node, Pod, PodRef, Snapshot
from hangar.domain.workloads.joining import PartAdapter
from hangar.operator.cluster.kubernetes.api import Api
from hangar.operator.cluster.kubernetes.health import Health
from hangar.operator.cluster.kubernetes.mirror import Mirror
from hangar.operator.cluster.kubernetes.reflector import Jitter, Reflector
from hangar.operator.cluster.kubernetes.served import Served
from hangar.operator.cluster.kubernetes.translate_graph import SeenGraph
from hangar.operator.cluster.kubernetes.watched import (
    ADAPTERS,
    AUTOSCALERS,
    BUDGETS,
    CLAIMS,
    DEVICE_CLAIMS,
    DEVICE_SLICES,
    GRAPHS,
    NODES,
    OWNERS,
    PODS,
    QUOTAS,
    SCALED_OBJECTS,
    VOLUMES,
    Watched,
)
from hangar.operator.cluster.port import Watch

V = TypeVar("V")

OPTIONAL_WAIT_S = 2.0
"""How long the first snapshot waits for what nodes can do without: it comes as fast as the rest, or is in trouble."""


class Reads(Protocol):
    """What is needed of a reflector, whatever it mirrors."""

    @property
    def health(self) -> Health:
        """Whether the kind can be read."""

    async def run(self) -> None:
        """Read until cancelled."""


class Sight:
    """The mirrors of one cluster.

    Args:
        api: The API server.
        jitter: Where randomness comes from.
    """

    def __init__(self, api: Api, jitter: Jitter) -> None:
        self._api = api
        self._jitter = jitter
        self._changed: asyncio.Event | None = None
        self._has_waited = False
        self._index = index = ClusterIndex()
        self.nodes: Mirror[Node] = Mirror(index.put_node, lambda node: index.drop_node(node.name), self._tell)
        self._pods: Mirror[Pod] = Mirror(index.put_pod, lambda pod: index.drop_pod(pod.ref.uid), self._tell)
        self._pods_reflector = self._reflector(PODS, self._pods)
        self._needed: tuple[Reads, ...] = (
            self._reflector(NODES, self.nodes),
            self._pods_reflector,
            self._mirrored(BUDGETS, index.put_budget, lambda budget: index.drop_budget(budget.uid)),
            # A mirror a kind: what a list of one kind does not name is gone, and the others are not its business.
            *(self._mirrored(each, index.put_owner, lambda owner: index.drop_owner(owner.ref.uid)) for each in OWNERS),
        )
        self.graphs: Served[SeenGraph] = self._served(
            GRAPHS, lambda seen: index.put_graph(seen.graph), lambda seen: index.drop_graph(seen.graph.ref)
        )
        self.adapters: Served[PartAdapter] = self._served(
            ADAPTERS, index.put_adapter, lambda each: index.drop_adapter(each.adapter.uid)
        )
        self._device_claims: Served[DeviceClaim] = self._served(
            (DEVICE_CLAIMS,), index.put_device_claim, lambda claim: index.drop_device_claim(claim.namespace, claim.name)
        )
        self._optional: tuple[Reads, ...] = (
            self._mirrored(CLAIMS, index.put_claim, lambda claim: index.drop_claim(claim.namespace, claim.name)),
            self._mirrored(VOLUMES, index.put_volume, lambda volume: index.drop_volume(volume.name)),
            self._mirrored(QUOTAS, self._put_quota, self._drop_quota),
            self._mirrored(AUTOSCALERS, index.put_autoscaler, lambda each: index.drop_autoscaler(each.uid)),
            self.graphs,
            self.adapters,
            self._served((DEVICE_SLICES,), index.put_device_slice, lambda part: index.drop_device_slice(part.name)),
            self._device_claims,
            self._served((SCALED_OBJECTS,), index.put_autoscaler, lambda each: index.drop_autoscaler(each.uid)),
        )

    async def run(self, changed: asyncio.Event) -> None:
        """Read until cancelled, setting `changed` on every change."""
        self._changed = changed
        patience = asyncio.get_running_loop().call_later(OPTIONAL_WAIT_S, self._stop_waiting)
        try:
            async with asyncio.TaskGroup() as group:
                for reflector in (*self._needed, *self._optional):
                    group.create_task(reflector.run())
        finally:
            patience.cancel()

    def snapshot(self) -> Snapshot | None:
        """Return the cluster as known now, or None before every kind was read once, or refused.

        What only the fit reads, graphs and what is about them are waited for a moment, and never make a snapshot
        unreadable.
        """
        if not all(each.health.is_settled for each in self._needed):
            return None
        if not self._has_waited and not all(each.health.is_settled for each in self._optional):
            return None
        self._has_waited = True
        troubles = (each.health.unreadable() for each in self._needed)
        unreadable = tuple(each for each in troubles if each is not None)
        return self._index.snapshot(
            unreadable,
            self.graphs.health.unreadable(),
            are_device_claims_read=self._device_claims.health.unreadable() is None,
        )

    def watches(self) -> tuple[Watch, ...]:
        """Return how reading goes, kind by kind."""
        return tuple(each.health.watch() for each in (*self._needed, *self._optional))

    def departed(self, pod: PodRef) -> Gone | Namesake | None:
        """Tell whether a pod that was not evicted is gone: the server asks its budget before it looks at the UID."""
        if not self._pods_reflector.health.is_complete or self._pods.get(pod.uid) is not None:
            return None
        namesakes = (each.ref for each in self._pods.values() if each.ref.name == pod.name)
        return Namesake() if any(each.namespace == pod.namespace for each in namesakes) else Gone()

    def _mirrored(self, watched: Watched[V], put: Callable[[V], None], drop: Callable[[V], None]) -> Reflector[V]:
        return self._reflector(watched, Mirror(put, drop, self._tell))

    def _served(
        self, versions: tuple[Watched[V], ...], put: Callable[[V], None], drop: Callable[[V], None]
    ) -> Served[V]:
        return Served(versions, self._api, Mirror(put, drop, self._tell), self._tell, self._jitter)

    def _reflector(self, watched: Watched[V], mirror: Mirror[V]) -> Reflector[V]:
        return Reflector(watched, self._api, mirror, self._tell, self._jitter)

    def _put_quota(self, quota: Quota | None) -> None:
        if quota is not None:
            self._index.put_quota(quota)

    def _drop_quota(self, quota: Quota | None) -> None:
        if quota is not None:
            self._index.drop_quota(quota.namespace, quota.name)

    def _stop_waiting(self) -> None:
        self._has_waited = True
        self._tell()

    def _tell(self) -> None:
        if self._changed is not None:
            self._changed.set()

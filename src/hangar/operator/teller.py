"""Teller: tells the hub of nodes and graphs, all of them first, then what changed; what people wait to see at once."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto

import structlog

from hangar.clock import Clock
from hangar.domain.ids import NodeName
from hangar.domain.limits import INVENTORY_INTERVAL_S, NODES_FIRST_MAX_S
from hangar.domain.snapshot import Node, Snapshot
from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.operator import inventory
from hangar.operator.channel import Channel, HubError
from hangar.operator.cluster.port import Cluster
from hangar.operator.inventory import NO_NEWS, Changes, Documents, News
from hangar.operator.session import Session, raise_if_lost
from hangar.wire.operator import InventoryRequest

log = structlog.get_logger(__name__)


class _Due(Enum):
    """What is to be told now."""

    ALL = auto()
    GRAPHS = auto()  # they cannot wait, and the nodes are not due yet
    NEWS = auto()  # the cluster cannot be read, and the operator has something to say of what it is to write


class Teller:
    """What the hub knows of one cluster in one session. All methods are called from one thread."""

    def __init__(self, cluster: Cluster, channel: Channel, clock: Clock) -> None:
        self._cluster = cluster
        self._channel = channel
        self._clock = clock
        self._wanted = asyncio.Event()
        self._nodes_told = asyncio.Event()
        self._told_nodes: Mapping[NodeName, Node] = {}
        self._told_graphs: Mapping[GraphRef, Graph] = {}
        self._news = self._told_news = NO_NEWS

    def begin_session(self) -> None:
        """Take it that the hub knows nothing."""
        self._told_nodes, self._told_graphs = {}, {}
        self._news = self._told_news = NO_NEWS
        self.wake()

    def wake(self) -> None:
        """Look whether there is something to tell."""
        self._wanted.set()

    def hear(self, news: News) -> None:
        """Tell also what the operator makes of graphs, at once where it has changed."""
        if news != self._news:
            self._news = news
            self.wake()

    async def tell_nodes_first(self) -> None:
        """Wait until the hub knows of all that has changed of the nodes, though not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NODES_FIRST_MAX_S):
                while not self._nodes_are_told():
                    self._nodes_told.clear()
                    await self._nodes_told.wait()

    def _nodes_are_told(self) -> bool:
        snapshot = self._cluster.snapshot()
        return snapshot is None or bool(snapshot.unreadable) or not inventory.flipped(self._told_nodes, snapshot.nodes)

    async def run(self, session: Session) -> None:
        """Tell until the session is lost. Raises SessionLostError."""
        told: Documents | None = None
        due_at_s = 0.0
        while True:
            snapshot, due = await self._something_to_tell(None if told is None else due_at_s)
            news = self._news
            documents = _documents(snapshot, due, told, news)
            changes = inventory.changes(told, documents)
            if not changes.is_empty:
                due_at_s = self._clock.monotonic_s() + INVENTORY_INTERVAL_S if due is _Due.ALL else due_at_s
                told = inventory.told(told, documents) if await self._tell(session, changes) else None
            if told is not None:
                self._told_news = news
                if due is not _Due.NEWS:
                    self._told_nodes = snapshot.nodes if due is _Due.ALL else self._told_nodes
                    self._told_graphs = snapshot.graphs
                    self._nodes_told.set()
            else:
                await asyncio.sleep(INVENTORY_INTERVAL_S)
                self.wake()

    async def _something_to_tell(self, due_at_s: float | None) -> tuple[Snapshot, _Due]:
        """Wait for changes that cannot wait, or for any once it is due; None takes the first snapshot there is."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            snapshot = self._cluster.snapshot()
            if snapshot is None:
                continue
            is_news = self._news != self._told_news
            if snapshot.unreadable:
                if is_news and due_at_s is not None:
                    return snapshot, _Due.NEWS
                continue
            early_s = 0.0 if due_at_s is None else due_at_s - self._clock.monotonic_s()
            if early_s <= 0 or inventory.flipped(self._told_nodes, snapshot.nodes):
                return snapshot, _Due.ALL
            if is_news or inventory.graphs_flipped(self._told_graphs, snapshot):
                self.wake()
                return snapshot, _Due.GRAPHS
            with suppress(TimeoutError):
                async with asyncio.timeout(early_s):
                    await self._wanted.wait()
            self.wake()

    async def _tell(self, session: Session, changes: Changes) -> bool:
        """Send one inventory; tell whether the hub knows all of it now."""
        session.inventory_n += 1
        request = InventoryRequest(
            session=session.grant.session,
            epoch=session.grant.epoch,
            n=session.inventory_n,
            complete=changes.is_complete,
            nodes=changes.nodes,
            gone=changes.gone,
            graphs=changes.graphs,
            gone_graphs=changes.gone_graphs,
            unwritten=changes.unwritten,
        )
        try:
            answer = await self._channel.inventory(request)
        except HubError as error:
            raise_if_lost(error)
            log.warning("inventory failed", why=str(error), request=error.request)
            return False
        return not answer.resync


def _documents(snapshot: Snapshot, due: _Due, told: Documents | None, news: News) -> Documents:
    if told is None or due is _Due.ALL:
        return inventory.documents(snapshot, None, news)
    if due is _Due.GRAPHS:
        return inventory.documents(snapshot, told.nodes, news)
    return Documents(told.nodes, None, inventory.unwritten_docs(news))

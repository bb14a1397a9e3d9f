"""What the API's handlers work with: the store, the tail, the time and the rules of one hub."""

from collections.abc import Callable, Collection
from contextlib import suppress

import structlog
from starlette.requests import HTTPConnection

from hangar.clock import Clock
from hangar.domain.limits import METRICS_CACHED_S, READY_CACHED_S
from hangar.hub.api.authentication import Authenticator
from hangar.hub.catalogue import Catalogue
from hangar.hub.follower import Follower
from hangar.hub.hubtime import HubTime
from hangar.hub.leases import Leases
from hangar.hub.metrics import HubMetrics
from hangar.hub.settings import HubSettings
from hangar.hub.store.records import Position
from hangar.hub.store.store import Store
from hangar.hub.store.tx import Committed, EventType, Tx
from hangar.hub.store.writer import StoreUnavailableError
from hangar.hub.streams import Streams
from hangar.hub.tail import Tail
from hangar.hub.usecases.gauges import Gauges, read_gauges
from hangar.hub.usecases.recover import recover, recover_behind
from hangar.hub.usecases.renew import Renewal, renew_leases
from hangar.hub.usecases.rules import Rules
from hangar.hub.usecases.sweep import sweep
from hangar.kinds import WORKLOAD_KINDS
from hangar.telemetry.logs import REQUEST
from hangar.wire.problems import Problem

log = structlog.get_logger(__name__)

QUIET = frozenset({EventType.OPERATION_PROGRESSED, EventType.NODE_ADDED, EventType.NODE_REMOVED})
"""Events that come in numbers, so that only those who debug want them in the log."""


class Hub:
    """One hub, as its handlers see it."""

    def __init__(self, store: Store, clock: Clock, settings: HubSettings, catalogue: Catalogue) -> None:
        self.store = store
        self.clock = clock
        self.time = HubTime(clock, store.now_us())
        self.leases = Leases(self._renew)
        self.tail = Tail(self.leases.hurry)
        self.streams = Streams()
        self.metrics = HubMetrics()
        self.authenticator = Authenticator(store, clock, self.time)
        self.follower = Follower(store, self.tail, self.streams, self._recover_behind, self.authenticator.forget)
        self.settings = settings
        self.catalogue = catalogue
        self._is_store_down = False
        self._is_unmarked = False
        self._ready_until_s = float("-inf")
        self._gauges: Gauges | None = None
        self._gauges_until_s = float("-inf")
        store.on_time(self.time.follow)
        store.on_commit(self._on_commit)

    def _on_commit(self, committed: Committed) -> None:
        self.follower.committed(committed)
        self.metrics.committed(committed)
        for event in committed.events:
            level = log.debug if event["type"] in QUIET else log.info
            told = {
                "object": event["object_name"],
                "cluster": event["object_cluster"],
                "operation": event["op_id"],
                "by": event["actor"],
                REQUEST: committed.requests.get(event["rev"]),
                "code": event["data"].get("code"),
                "why": event["data"].get("message"),
            }
            level(event["type"], **{name: value for name, value in told.items() if value is not None})

    def rules(self) -> Rules:
        """Return the rules of now: since when the hub has been listening changes."""
        settings = self.settings
        return Rules(
            catalogue=self.catalogue,
            workload_kinds=WORKLOAD_KINDS,
            hub_started_us=self.time.started_us,
            lease_s=settings.lease_s,
            stop_after_s=settings.stop_after_s,
            hand_over_after_s=settings.hand_over_after_s,
            sync_wait_s=settings.sync_wait_s,
            pending_timeout_s=settings.pending_timeout_s,
        )

    def now_us(self, tx: Tx) -> int:
        """Return the time of a transaction: the database's, where it has a clock that several hubs go by."""
        return self.time.now_us() if tx.now_us is None else tx.now_us

    async def _renew(self, renewals: Collection[Renewal]) -> Collection[Renewal]:
        return await self.store.write_async(lambda tx: renew_leases(tx, renewals, self.now_us(tx)))

    async def begin(self) -> None:
        """Find the place in the feed; a record that is behind what an earlier hub knew of it is taken up first."""
        self.tail.start()
        if (why := self.store.why_restored()) is not None:
            await self._recover(lambda tx: recover(tx, self.now_us(tx)), why)
        await self.follower.start()

    async def _recover_behind(self, known: Position) -> None:
        def run(tx: Tx) -> None:
            recover_behind(tx, known, self.now_us(tx))

        await self._recover(run, f"its feed went back behind revision {known.rev}, which was seen")

    async def _recover(self, run: Callable[[Tx], None], why: str) -> None:
        log.warning("taking up a restored record: no operator acts before any other must have stopped", why=why)
        await self.store.write_async(run)

    async def listen(self) -> None:
        """Hear what other hubs on the store commit, as long as the connection for it holds."""
        with suppress(StoreUnavailableError):  # of which the sweep tells
            await self.store.listen(self.follower.heard)

    async def check_streams(self) -> None:
        """End the streams of tokens that let nobody in any more."""
        await self.streams.check_tokens(self._is_let_in)

    async def _is_let_in(self, authorization: str | None) -> bool:
        try:
            await self.authenticator.principal(authorization)
        except Problem:
            return False
        except StoreUnavailableError:
            pass  # whether it still is cannot be said now
        return True

    async def check_ready(self) -> None:
        """Raise StoreUnavailableError unless the store takes writes, now or within the last second."""
        if self.clock.monotonic_s() >= self._ready_until_s:
            await self.store.check_writable()
            self._ready_until_s = self.clock.monotonic_s() + READY_CACHED_S

    async def metrics_text(self) -> bytes:
        """Return the hub's figures; those of the fleet are of now or of the last second, or left out."""
        if self.clock.monotonic_s() >= self._gauges_until_s:
            now_us = self.time.now_us()
            try:
                self._gauges = await self.store.read_async(lambda connection: read_gauges(connection, now_us))
            except StoreUnavailableError:
                self._gauges = None
            self._gauges_until_s = self.clock.monotonic_s() + METRICS_CACHED_S
        return self.metrics.text(self._gauges, queued=self.store.queued_count, waiters=self.tail.waiting_count)

    async def sweep(self) -> None:
        """Do what time alone decides; a store that cannot be written is told of once, and tried again next time."""
        if (why := self.time.check()) is not None:
            log.warning("listening anew before any time-out", why=why)
        try:
            await self.store.write_async(lambda tx: sweep(tx, self.rules(), self.now_us(tx)))
        except StoreUnavailableError as error:
            if not self._is_store_down:
                log.warning("the store does not take writes", why=str(error))
            self._is_store_down = True
        else:
            if self._is_store_down:
                log.info("the store takes writes again")
            self._is_store_down = False
            await self.remember()

    async def remember(self) -> None:
        """Note how far the record has come, where it is a file; where that cannot be noted is told of once."""
        try:
            await self.store.remember(self.follower.position)
        except OSError as error:
            if not self._is_unmarked:
                log.warning("an earlier state of the database would not be noticed", why=str(error))
            self._is_unmarked = True


def hub_of(connection: HTTPConnection) -> Hub:
    """Return the hub that a request came to."""
    hub = connection.app.state.hub
    assert isinstance(hub, Hub)
    return hub

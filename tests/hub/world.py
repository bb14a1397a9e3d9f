"""A hub for tests: a store in memory, time that only the test moves, and an operator that says what it is told to."""

from random import Random
from typing import Any

from sqlalchemy import select

from hangar.hub.catalogue import Catalogue
from hangar.hub.present import operation as present_operation
from hangar.hub.principals import Principal, Role
from hangar.hub.store.store import Store
from hangar.hub.store.tables import events
from hangar.hub.usecases.cancel import cancel
from hangar.hub.usecases.inventory import inventory
from hangar.hub.usecases.open_session import open_session
from hangar.hub.usecases.queries import get_operation
from hangar.hub.usecases.release_session import release_session
from hangar.hub.usecases.report import report
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.rules import Rules
from hangar.hub.usecases.submit import Submitted, submit
from hangar.hub.usecases.sweep import sweep
from hangar.hub.usecases.sync import sync
from hangar.hub.usecases.tokens import TokenRequest, create_token
from hangar.kinds import KINDS, WORKLOAD_KINDS
from hangar.wire import shown
from hangar.wire.operator import (
    Ack,
    InventoryAnswer,
    InventoryRequest,
    JobDoc,
    NodeDoc,
    ProgressDoc,
    ReleaseRequest,
    ReportDoc,
    ReportRequest,
    ResultDoc,
    SessionGrant,
    SessionRequest,
    SyncRequest,
)
from hangar.wire.problems import Problem

CATALOGUE = Catalogue({**KINDS, **WORKLOAD_KINDS})
NOON_US = 1_795_000_000_000_000
ADMIN = Principal("admin", Role.ADMIN)
VIEWER = Principal("vera", Role.VIEWER)
MAINTAINER = Principal("max", Role.MAINTAINER)


new_store = Store.in_memory
"""Where a world keeps its record unless it is told; tests that run on PostgreSQL too replace it."""

VERSIONS = {name: kind.version for name, kind in KINDS.items()}


def a_node(name: str, **changes: Any) -> NodeDoc:
    """A ready node with eight GPUs, two of them in use."""
    values: dict[str, Any] = {
        "name": name,
        "uid": f"uid-{name}",
        "ready": True,
        "cordoned": False,
        "capacity": {"cpu": 64000, "nvidia.com/gpu": 8},
        "allocatable": {"cpu": 63000, "nvidia.com/gpu": 8},
        "allocated": {"cpu": 1000, "nvidia.com/gpu": 2},
    }
    return NodeDoc(**values | changes)


def an_operator(world: "World", cluster: str = "iad-1", **changes: Any) -> "Operator":
    """An operator with a session and two nodes told."""
    operator = Operator(world, cluster, **changes)
    operator.open()
    operator.tell(a_node(f"{cluster}-n01"), a_node(f"{cluster}-n02"))
    return operator


class World:
    """The hub's use cases over one store, at one instant."""

    def __init__(self, store: Store | None = None, **rules: Any) -> None:
        self.store = store or new_store()
        self.now_us = NOON_US
        # A hub that has been up for an hour, so that nothing waits for its start unless a test asks for that.
        started: dict[str, Any] = {"hub_started_us": NOON_US - 3_600_000_000, "randbits": Random(1).getrandbits}
        self.rules = Rules(catalogue=CATALOGUE, workload_kinds=WORKLOAD_KINDS, **started | rules)

    def add_cluster(self, name: str = "iad-1") -> str:
        """Make an operator's token, and with it the cluster; returns the secret."""
        request = TokenRequest(name=f"{name}-operator", role=Role.OPERATOR, cluster=name)
        return self.store.write(lambda tx: create_token(tx, ADMIN, request, self.now_us)).secret

    def pass_s(self, seconds: float, *, sweeping: bool = True) -> None:
        """Let time pass, and sweep once at its end."""
        self.now_us += round(seconds * 1_000_000)
        if sweeping:
            self.sweep()

    def sweep(self) -> None:
        """Run the sweep."""
        self.store.write(lambda tx: sweep(tx, self.rules, self.now_us))

    def submit(self, type_: str, target: str, **given: Any) -> Submitted:
        """Ask for an operation; `who`, `key`, `cluster`, `params` and `reason` may be given."""
        who, key = given.pop("who", ADMIN), given.pop("key", None)
        request = OperationRequest(type=type_, target=target, **{"params": {}} | given)
        return self.store.write(lambda tx: submit(tx, who, request, key, self.rules, self.now_us))

    def create(self, type_: str = "node.drain", target: str = "iad-1-n01", **given: Any) -> str:
        """Ask for an operation and return its id."""
        return self.submit(type_, target, **given).operation.id

    def cancel(self, id_: str, who: Principal = ADMIN) -> shown.Operation:
        """Cancel an operation."""
        return self.store.write(lambda tx: cancel(tx, who, id_, self.rules, self.now_us))

    def get(self, id_: str) -> shown.Operation:
        """Return an operation as users see it."""
        return present_operation(self.store.read(lambda connection: get_operation(connection, id_)))

    def events(self, prefix: str = "") -> list[str]:
        """Return the types of all events so far that begin with `prefix`."""
        statement = select(events.c.type).order_by(events.c.rev)
        types = self.store.read(lambda connection: connection.execute(statement).scalars().all())
        return [each for each in types if each.startswith(prefix)]

    def revs(self) -> list[int]:
        """Return the revisions of all events."""
        statement = select(events.c.rev).order_by(events.c.rev)
        return list(self.store.read(lambda connection: connection.execute(statement).scalars().all()))


class Operator:
    """The operator of one cluster, as the hub hears it."""

    def __init__(self, world: World, cluster: str, **changes: Any) -> None:
        self.world = world
        self.cluster = cluster
        self.incarnation = changes.pop("incarnation", "first")
        self.held: list[str] = []
        self.session: dict[str, Any] = {
            "protocol": 1,
            "cluster_uid": f"uid-{cluster}",
            "kinds": VERSIONS,
            "allowed": ["cordon", "drain"],
            "operator_version": "0.1.0",
        } | changes
        self.grant: SessionGrant = SessionGrant(session="", epoch=0, lease_s=0, stop_after_s=0, sync_wait_s=0)
        self.inventory_n = 0
        self.report_n = 0

    def apply(self) -> SessionGrant | Problem:
        """Ask for a session; keep what was granted."""
        request = SessionRequest(incarnation=self.incarnation, held=self.held, **self.session)
        rules, now_us = self.world.rules, self.world.now_us
        answer = self.world.store.write(lambda tx: open_session(tx, self.cluster, request, rules, now_us))
        if isinstance(answer, SessionGrant):
            self.grant = answer
            self.inventory_n = 0
        return answer

    def open(self) -> None:
        """Ask for a session that must be granted."""
        answer = self.apply()
        assert isinstance(answer, SessionGrant), answer

    def release(self) -> None:
        """Sign off."""
        request = ReleaseRequest(session=self.grant.session, epoch=self.grant.epoch)
        self.world.store.write(lambda tx: release_session(tx, self.cluster, request, self.world.now_us))

    def sync(self) -> list[JobDoc]:
        """Renew the lease and return the jobs."""
        request = SyncRequest(session=self.grant.session, epoch=self.grant.epoch)
        return self.world.store.write(lambda tx: sync(tx, self.cluster, request, self.world.now_us)).jobs

    def tell(self, *nodes: NodeDoc, complete: bool = True, gone: tuple[str, ...] = ()) -> InventoryAnswer:
        """Send an inventory under the next number."""
        self.inventory_n += 1
        return self.tell_as(self.inventory_n, *nodes, complete=complete, gone=gone)

    def tell_as(self, n: int, *nodes: NodeDoc, complete: bool = True, gone: tuple[str, ...] = ()) -> InventoryAnswer:
        """Send an inventory under a number of the test's."""
        request = InventoryRequest(
            session=self.grant.session,
            epoch=self.grant.epoch,
            n=n,
            complete=complete,
            nodes=list(nodes),
            gone=list(gone),
        )
        rules, now_us = self.world.rules, self.world.now_us
        return self.world.store.write(lambda tx: inventory(tx, self.cluster, request, rules, now_us))

    def report(self, *docs: ReportDoc) -> list[Ack]:
        """Send reports as they are."""
        request = ReportRequest(session=self.grant.session, epoch=self.grant.epoch, reports=list(docs))
        return self.world.store.write(lambda tx: report(tx, self.cluster, request, self.world.now_us)).acks

    def say(self, id_: str, phase: str = "running", **given: Any) -> Ack:
        """Send one report under the next number; a terminal phase gets a result."""
        self.report_n += 1
        if phase != "running" and "result" not in given:
            given["result"] = ResultDoc(code="done", message=f"it {phase}")
        return self.report(ReportDoc(id=id_, n=given.pop("n", self.report_n), phase=phase, **given))[0]


def a_progress(done: int = 1, total: int = 3, **changes: Any) -> ProgressDoc:
    """Some progress of a drain."""
    return ProgressDoc(done=done, total=total, unit="replicas", message=f"evicted {done} of {total}", **changes)

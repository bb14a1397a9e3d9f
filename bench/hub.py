"""The hub alone, on either store: how long it takes to answer, under which load, and what idle operators cost."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from sqlalchemy import URL, make_url

import hangar
from bench.hub_operated import operated
from bench.hub_store import Tokens, fill
from bench.load import Connection, at_rate, p99
from bench.report import Floor, Report, Row
from hangar.hub.store.dialects import Database
from hangar.kinds import KINDS
from testbed.bed import free_ports
from testbed.component import Component, Probe
from testbed.postgres import Server, server

SOURCES = Path(__file__).parents[1] / "src"
IS_SMALL = bool(os.environ.get("BENCH_SMALL"))
"""Set to try the bench itself: everything a tenth or less, and no figure means anything."""

PAST_ROWS = 20_000 if IS_SMALL else 1_000_000
OPERATORS = 50 if IS_SMALL else 1_000
WAITERS = 100 if IS_SMALL else 1_000
ROUNDS = 2 if IS_SMALL else 3
SECONDS = 2 if IS_SMALL else 10
"""How long a rate is kept."""

CREATES_PER_S = 200
GETS_PER_S = 500
PAGES_A_FILTER = 10 if IS_SMALL else 40

FILTERS = (
    "",
    "type=node.drain",
    "phase=failed",
    "phase=pending",
    "cluster=old-07",
    "created_by=person-07",
    "target=old-07-n007",
    "type=node.uncordon&phase=cancelled",
    "type=node.uncordon&created_by=nobody",
    "cluster=old-07&created_by=person-07",
    "cluster=old-07&phase=failed&type=node.cordon",
    "created_by=person-07&phase=cancelled&type=node.uncordon&cluster=old-03",
    "target=old-07/old-07-n007&phase=failed",
    "phase=succeeded&cluster=nowhere",
    "type=node.drain&phase=succeeded&cluster=old-03&created_by=person-11&target=old-03-n003",
)
"""Each filter alone, those that leave much, those that leave nothing, and several that no one index serves."""

CLUSTER = "idle-0000"

FLOORS: Mapping[str, Mapping[str, Floor]] = MappingProxyType(
    {
        "PostgreSQL": {
            "create": Floor(
                250.0,
                "a create with an idempotency key is seven statements, without one six, in the one transaction that "
                "all writers take turns for, 0.4 ms each to the server and back: 3.1 ms in a batch of ten (6.5 ms "
                "alone, with its commit), 1.9 ms of that on the hub's core. At 200 a second the hub, the server and "
                "the load share two cores that are then full.",
            ),
            "idle": Floor(
                50.0,
                "a sync is 0.45 ms of CPU, and on a server a way to a thread, to the server and back beside: 333 of "
                "them a second. In a profile of the hub no part stands out.",
            ),
        }
    }
)
"""By store and row: what was measured of a figure that may exceed its budget on two cores."""


@dataclass(frozen=True, slots=True)
class Place:
    """A hub that runs on a store."""

    store: str
    port: int
    process: Component
    tokens: Tokens


def run() -> Report:
    """Measure all rows on both stores and return what was found."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        postgres = server(Path(folder) / "postgres", {})
        for store, database in (("SQLite", Path(folder) / "hub.db"), ("PostgreSQL", _database(postgres))):
            with serving(store, database, Path(folder)) as place:
                rows += asyncio.run(_rows(place))
        postgres.leave()
    return Report(
        name="hub",
        title="The hub",
        rows=rows,
        versions={"wingsmith": hangar.__version__},
        notes=(
            f"One process of the hub, on loopback, over a past of {PAST_ROWS} operations; the load comes from another "
            f"process of the same machine, on which PostgreSQL runs, too. Answers are counted from when they were due.",
            "",
            f"A page is 50 operations, by {len(FILTERS)} sorts of filters, each asked for {PAGES_A_FILTER} times, on "
            "and on from where the one before ended; the figure is that of the filters that take longest.",
        ),
    )


def _database(postgres: Server) -> URL:
    return make_url(postgres.url())


@contextmanager
def serving(store: str, database: Database, folder: Path) -> Iterator[Place]:
    """Fill a store, and run a hub on it until the block ends."""
    tokens = fill(database, PAST_ROWS, OPERATORS)
    (port,) = free_ports(1)
    db = database.render_as_string(hide_password=False) if isinstance(database, URL) else str(database)
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "HANGAR_DB": db, "HANGAR_LOG_LEVEL": "warning"}
    process = Component(
        "hangar-server",
        [sys.executable, "-m", "hangar.hub", "serve", "--listen", f"127.0.0.1:{port}"],
        folder / f"{store}.log",
        Probe(port, "/readyz"),
        environment,
    )
    process.start()
    try:
        process.wait_ready()
        yield Place(store, port, process, tokens)
    finally:
        process.terminate()
        process.reap()


async def _rows(place: Place) -> list[Row]:
    operator = await Operator.begin(place, CLUSTER, place.tokens.operators[0])
    await operator.tell(CREATES_PER_S * SECONDS * ROUNDS + ROUNDS + 1)
    creates, gets, waits = [], [], []
    targets = iter(operator.nodes)
    for _ in range(ROUNDS):
        ids, took_ms = await _creates(place, targets)
        creates.append(p99(took_ms))
        gets.append(p99(await _gets(place, ids)))
        waits.append(p99(await _waits(place, operator, ids[0])))
    pages = await _worst_page_ms(place)
    idle = [await _idle_share(place)]
    started, cancelled = await operated(place.port, place.tokens.admin, place.tokens.operators[1], "idle-0001", ROUNDS)
    on, floors = f", {place.store}", FLOORS.get(place.store, {})
    return [
        Row(f"create, p99 at {CREATES_PER_S} a second{on}", "ms", creates, 50, floor=floors.get("create")),
        Row(f"GET of one, p99 at {GETS_PER_S} a second{on}", "ms", gets, 25),
        Row(f"filtered page of 50, p99{on}", "ms", [pages], 100),
        Row(f"change to {WAITERS} waiters, p99{on}", "ms", waits, 250),
        Row(f"pending to running{on}", "s", started, 1),
        Row(f"cancel to the operator's last action{on}", "s", cancelled, 1),
        Row(f"{OPERATORS} idle operators, of one core{on}", "%", idle, 20, floor=floors.get("idle")),
    ]


# --- requests ---------------------------------------------------------------------------------------------------------


async def _creates(place: Place, targets: Iterator[str]) -> tuple[list[str], list[float]]:
    ids: list[str] = []

    async def create(connection: Connection, _number: int) -> None:
        body = {"type": "node.drain", "target": next(targets), "cluster": CLUSTER}
        ids.append((await connection.ask("POST", "/v1/operations", body)).json()["id"])

    count = CREATES_PER_S * SECONDS
    return ids, await at_rate(place.port, place.tokens.admin, CREATES_PER_S, count, create)


async def _gets(place: Place, ids: list[str]) -> list[float]:
    async def get(connection: Connection, number: int) -> None:
        await connection.ask("GET", f"/v1/operations/{ids[number * 7 % len(ids)]}")

    return await at_rate(place.port, place.tokens.admin, GETS_PER_S, GETS_PER_S * SECONDS, get)


async def _worst_page_ms(place: Place) -> float:
    """Return the p99 of the filters whose pages take longest."""
    connection = Connection(place.port, place.tokens.admin)
    worst_ms = 0.0
    for filters in FILTERS:
        took_ms, token = [], ""
        for _ in range(PAGES_A_FILTER):
            began_s = time.perf_counter()
            page = (await connection.ask("GET", f"/v1/operations?page_size=50&{filters}{token}")).json()
            took_ms.append((time.perf_counter() - began_s) * 1e3)
            token = f"&page_token={page['next_page_token']}" if page.get("next_page_token") else ""
        worst_ms = max(worst_ms, p99(took_ms))
    await connection.close()
    return worst_ms


async def _waits(place: Place, operator: "Operator", id_: str) -> list[float]:
    """Park the waiters, change what they wait for, and return how long after that each was told, in ms."""
    connections = [Connection(place.port, place.tokens.admin) for _ in range(WAITERS)]
    version = (await connections[0].ask("GET", f"/v1/operations/{id_}")).json()["version"]
    began_s = 0.0

    async def wait(connection: Connection) -> float:
        await connection.ask("GET", f"/v1/operations/{id_}/wait?timeout=55&after_version={version}")
        return (time.perf_counter() - began_s) * 1e3

    waiting = [asyncio.create_task(wait(each)) for each in connections]
    await asyncio.sleep(2)  # all are parked by then
    began_s = time.perf_counter()
    await operator.report(id_)
    took_ms = await asyncio.gather(*waiting)
    for each in connections:
        await each.close()
    return took_ms


# --- operators that do nothing ----------------------------------------------------------------------------------------


class Operator:
    """An operator as the hub hears it: a session, and what it says."""

    def __init__(self, connection: Connection, cluster: str, session: dict[str, object]) -> None:
        self._connection = connection
        self._cluster = cluster
        self._session = session
        self._reports = 0
        self.nodes: list[str] = []

    @classmethod
    async def begin(cls, place: Place, cluster: str, token: str) -> "Operator":
        """Open a session."""
        connection = Connection(place.port, token)
        asked = {
            "protocol": 1,
            "cluster_uid": f"uid-{cluster}",
            "incarnation": cluster,
            "kinds": {name: kind.version for name, kind in KINDS.items()},
            "allowed": ["cordon", "drain"],
        }
        grant = (await connection.ask("POST", "/v1/operator/session", asked)).json()
        return cls(connection, cluster, {"session": grant["session"], "epoch": grant["epoch"]})

    async def tell(self, count: int) -> None:
        """Tell of so many nodes."""
        self.nodes = [f"{self._cluster}-n{number:05d}" for number in range(count)]
        documents = [{"name": name, "uid": f"uid-{name}", "ready": True, "cordoned": False} for name in self.nodes]
        await self._say("inventory", {"n": 1, "complete": True, "nodes": documents})

    async def report(self, id_: str) -> None:
        """Say that an operation gets on."""
        self._reports += 1
        progress = {"done": self._reports, "total": 9, "unit": "replicas", "message": "", "blockers": []}
        report = {"id": id_, "n": self._reports, "phase": "running", "progress": progress}
        await self._say("report", {"reports": [report]})

    async def idle(self, until_s: float) -> None:
        """Sync on and on."""
        seen = 0
        while time.perf_counter() < until_s:
            seen = (await self._say("sync", {"seen": seen, "wait_s": 3.0}))["seen"]

    async def _say(self, what: str, document: dict[str, object]) -> dict[str, int]:
        answer = await self._connection.ask("POST", f"/v1/operator/{what}", self._session | document)
        found: dict[str, int] = answer.json()
        return found


async def _idle_share(place: Place) -> float:
    """Return how much of a core the hub needs for its operators while nothing happens, in per cent."""
    pairs = list(enumerate(place.tokens.operators))[2:]
    operators = [await Operator.begin(place, f"idle-{number:04d}", token) for number, token in pairs]
    settle_s, measured_s = 4.0, float(2 * SECONDS)
    until_s = time.perf_counter() + settle_s + measured_s
    idling = [asyncio.create_task(each.idle(until_s)) for each in operators]
    await asyncio.sleep(settle_s)
    before_s, began_s = place.process.cpu_s, time.perf_counter()
    await asyncio.sleep(measured_s - 1)
    share = (place.process.cpu_s - before_s) / (time.perf_counter() - began_s)
    await asyncio.gather(*idling)
    return share * 100

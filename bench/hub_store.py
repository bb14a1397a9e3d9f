"""A hub's store with a long past: a million operations, written as rows, and the fleet that they were of."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from sqlalchemy import URL, insert

from hangar.clock import SystemClock
from hangar.hub.ids import operation_id
from hangar.hub.principals import Role
from hangar.hub.store.dialects import Database
from hangar.hub.store.store import Store
from hangar.hub.store.tables import operations
from hangar.hub.usecases.tokens import TokenRequest, create_token

ROWS_AT_ONCE = 5_000
CLUSTERS = 20
NODES_A_CLUSTER = 250
PEOPLE = 50
TYPES = ("node.drain", "node.drain", "node.cordon", "node.uncordon")
PHASES = ("succeeded",) * 8 + ("failed", "cancelled")
SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """How to come in: as an admin, and as the operators of clusters."""

    admin: str
    operators: tuple[str, ...]


def fill(database: Database, rows: int, operators: int) -> Tokens:
    """Write a past of so many operations, and make the tokens."""
    store = Store.open(database)
    now_us = SystemClock().now_us()
    try:
        admin = _token(store, TokenRequest(name="admin", role=Role.ADMIN), now_us)
        made = [
            _token(store, TokenRequest(name=f"operator-{n}", role=Role.OPERATOR, cluster=f"idle-{n:04d}"), now_us)
            for n in range(operators)
        ]
        batch: list[dict[str, object]] = []
        for row in _past(rows, now_us):
            batch.append(row)
            if len(batch) == ROWS_AT_ONCE:
                _write(store, batch)
        _write(store, batch)
        if isinstance(database, URL):
            store.write(lambda tx: tx.connection.exec_driver_sql("ANALYZE operations"))
    finally:
        store.close()
    return Tokens(admin, tuple(made))


def _token(store: Store, request: TokenRequest, now_us: int) -> str:
    return store.write(lambda tx: create_token(tx, None, request, now_us)).secret


def _write(store: Store, batch: list[dict[str, object]]) -> None:
    rows = list(batch)
    batch.clear()
    if rows:
        store.write(lambda tx: tx.connection.execute(insert(operations), rows))


def _past(count: int, now_us: int) -> Iterator[dict[str, object]]:
    """Yield operations, one every ten seconds until now, all over."""
    dice = Random(1)
    newest: str | None = None
    for number in range(count):
        at_us = now_us - (count - number) * 10 * SECOND_US
        newest = operation_id(at_us, newest, dice.getrandbits)
        cluster = f"old-{dice.randrange(CLUSTERS):02d}"
        node = f"{cluster}-n{dice.randrange(NODES_A_CLUSTER):03d}"
        phase = dice.choice(PHASES)
        yield {
            "id": newest,
            "type": dice.choice(TYPES),
            "kind_version": 1,
            "phase": phase,
            "cluster": cluster,
            "target": node,
            "target_uid": f"uid-{node}",
            "hold": f"node:{cluster}:uid-{node}",
            "params": {"deadline_s": 3600},
            "reason": "firmware upgrade",
            "created_by": f"person-{dice.randrange(PEOPLE):02d}",
            "created_us": at_us,
            "started_us": at_us + SECOND_US,
            "finished_us": at_us + 40 * SECOND_US,
            "deadline_us": at_us + 3600 * SECOND_US,
            "final_progress": {"done": 3, "total": 3, "unit": "replicas", "message": "evicted 3/3", "blockers": []},
            "result": {
                "code": "drained" if phase == "succeeded" else phase,
                "message": "evicted_replicas=3",
                "attempts": 1,
                "duration": "40s",
                "details": {},
            },
        }

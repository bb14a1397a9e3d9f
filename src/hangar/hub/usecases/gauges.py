"""gauges: what there is in the fleet now, counted for whoever watches the hub."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from hangar.hub.store.tables import IS_OPEN, clusters, operations, runs
from hangar.hub.usecases.rules import SECOND_US
from hangar.hub.usecases.waiting import blocked_since_us

_OPEN = (
    select(operations.c.type, operations.c.phase, operations.c.created_us, operations.c.started_us, runs.c.progress)
    .outerjoin(runs, runs.c.op_id == operations.c.id)
    .where(IS_OPEN)
)
_CLUSTERS = select(clusters.c.name, clusters.c.online, clusters.c.seen_us, clusters.c.standbys)


@dataclass(frozen=True, slots=True)
class Gauges:
    """The fleet in figures, by type and phase, by type and blocker's code, by cluster. Ages are in seconds."""

    open: Mapping[tuple[str, str], int]
    oldest_s: Mapping[tuple[str, str], float]
    blocked_s: Mapping[tuple[str, str], float]
    online: int
    offline: int
    lease_age_s: Mapping[str, float]
    standbys: int


def read_gauges(connection: Connection, now_us: int) -> Gauges:
    """Count what there is now."""
    opened: Counter[tuple[str, str]] = Counter()
    oldest_us: dict[tuple[str, str], int] = {}
    blocked_us: dict[tuple[str, str], int] = {}
    for row in connection.execute(_OPEN):
        group = (row.type, row.phase)
        opened[group] += 1
        _earlier(oldest_us, group, row.created_us if row.started_us is None else row.started_us)
        for code, since_us in blocked_since_us(row.progress).items() if row.progress else ():
            _earlier(blocked_us, (row.type, code), since_us)
    found = connection.execute(_CLUSTERS).all()
    online = sum(row.online for row in found)
    return Gauges(
        open=opened,
        oldest_s={group: _age_s(us, now_us) for group, us in oldest_us.items()},
        blocked_s={group: _age_s(us, now_us) for group, us in blocked_us.items()},
        online=online,
        offline=len(found) - online,
        lease_age_s={row.name: _age_s(row.seen_us, now_us) for row in found if row.seen_us is not None},
        standbys=sum(len(row.standbys) for row in found),
    )


def _earlier(of: dict[tuple[str, str], int], group: tuple[str, str], us: int) -> None:
    of[group] = min(us, of.get(group, us))


def _age_s(since_us: int, now_us: int) -> float:
    return max(0, now_us - since_us) / SECOND_US

"""One event at a time in a store, and reading back what is there: for tests of the store itself."""

from sqlalchemy import select

from hangar.hub.store.store import Store
from hangar.hub.store.tables import events
from hangar.hub.store.tx import EventType, Subject, Tx


def note(tx: Tx, name: str = "iad-1") -> str:
    """Write one event, about the cluster of that name."""
    tx.event(EventType.CLUSTER_ADDED, Subject("cluster", name), 1)
    return name


def names(store: Store) -> list[str]:
    """Return what all events are about, in their order."""
    statement = select(events.c.object_name).order_by(events.c.rev)
    return list(store.read(lambda connection: connection.execute(statement).scalars().all()))


def revs(store: Store) -> list[int]:
    """Return the revisions of all events."""
    statement = select(events.c.rev).order_by(events.c.rev)
    return list(store.read(lambda connection: connection.execute(statement).scalars().all()))

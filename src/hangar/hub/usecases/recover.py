"""recover: go on with a record that is older than what was known of it: restored, or left behind by a fail-over.

Everything that was given out after it may still be around: revisions in readers' hands, sessions in operators'. So
numbers go on far beyond what can have been used, the feed gets a new incarnation, and no operator may act before any
other, unknown now, must have stopped. Whoever comes first then says what it is carrying out; the rest is ended.
"""

import secrets
from collections.abc import Collection

from sqlalchemy import Connection, func, select, update

from hangar.domain.limits import RESTORED_NUMBERS_SKIPPED
from hangar.domain.operation import Phase
from hangar.hub.store.records import SELECT_OPERATION, Position, feed_position, operation_of
from hangar.hub.store.tables import IS_OPEN, IS_OPERATED, clusters, events, feed, operations
from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.ending import end_operation

UNKNOWN = "unknown since the record was restored"
"""The incarnation of an operator that held a cluster in what was lost, if any did."""


def recover(tx: Tx, now_us: int) -> None:
    """Take up a record that was restored."""
    kept = feed_position(tx.connection)
    tx.connection.execute(
        update(feed).values(rev=kept.rev + RESTORED_NUMBERS_SKIPPED, incarnation=secrets.token_hex(8))
    )
    operated = select(clusters.c.name).where(clusters.c.epoch > 0).order_by(clusters.c.name)
    for (name,) in tx.connection.execute(operated).all():
        tx.connection.execute(
            update(clusters)
            .where(clusters.c.name == name)
            .values(
                epoch=clusters.c.epoch + RESTORED_NUMBERS_SKIPPED,
                session="restored",
                incarnation=UNKNOWN,
                standbys=[],
                seen_us=now_us,  # whoever may have it may have been heard by the hub a moment ago
                inventory_n=0,
            )
        )
        tx.touch_cluster(name)
    tx.event(EventType.HUB_RESTORED, Subject("hub", "hub"), now_us, data={"kept_rev": kept.rev})


def recover_behind(tx: Tx, known: Position, now_us: int) -> bool:
    """Take up a record that is behind a known position; tell whether it was. Of several hubs one does so."""
    now = feed_position(tx.connection)
    if now.incarnation != known.incarnation or now.rev >= known.rev:
        return False
    recover(tx, now_us)
    return True


def end_unheld(tx: Tx, cluster: str, held: Collection[str], now_us: int) -> None:
    """End the operations of a cluster that its operator is not carrying out: what became of them is not known."""
    opened = SELECT_OPERATION.where(operations.c.cluster == cluster, IS_OPEN, IS_OPERATED).order_by(operations.c.id)
    for row in tx.connection.execute(opened).all():
        record = operation_of(row)
        if record.id in held:
            continue
        message = (
            "what became of it is not known: the hub's record was restored from an earlier state, and the operator of "
            f"{cluster} is not carrying this out. Look at {record.target}, and ask again if it is still wanted."
        )
        end_operation(tx, record, Phase.FAILED, now_us, code="hub_restored", message=message)


def restored_rev(connection: Connection) -> int:
    """Return the revision at which the record was last restored, 0 where it never was."""
    newest = select(func.max(events.c.rev)).where(events.c.type == EventType.HUB_RESTORED.value)
    return int(connection.execute(newest).scalar_one() or 0)

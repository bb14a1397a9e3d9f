"""news: what the feed has beyond a revision, for a hub to tell those who wait and those who follow."""

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from hangar.domain.limits import FEED_ROWS_MAX
from hangar.hub.store.records import Position, feed_position
from hangar.hub.store.tables import operations, questions, runs
from hangar.hub.store.tx import cluster_key, operation_key, question_key
from hangar.hub.usecases.feed import EventFilters, events_between
from hangar.wire import shown

_OPERATIONS = select(operations.c.id, operations.c.cluster).where(operations.c.rev > bindparam("after_rev"))
_RUNS = select(runs.c.op_id).where(runs.c.rev > bindparam("after_rev"))
_QUESTIONS = select(questions.c.id, questions.c.cluster).where(questions.c.rev > bindparam("after_rev"))
_ALL = EventFilters()


@dataclass(frozen=True, slots=True)
class News:
    """What happened up to a position: the events, oldest first, and the keys of those to wake.

    `is_all` is False where there is more than is read at once.
    """

    position: Position
    events: list[shown.Event]
    woken: set[str]
    is_all: bool = True


def read_news(connection: Connection, after_rev: int) -> News:
    """Return what happened after a revision. All of it has to be read as of one moment."""
    now = feed_position(connection)
    if now.rev <= after_rev:
        return News(now, [], set())
    events = events_between(connection, _ALL, after_rev, now.rev, FEED_ROWS_MAX)
    is_all = len(events) < FEED_ROWS_MAX
    end = now if is_all else Position(now.incarnation, events[-1].rev)
    return News(end, events, _woken(connection, after_rev), is_all)


def _woken(connection: Connection, after_rev: int) -> set[str]:
    # More are woken than need be where there is more than one reading: they look, and wait on.
    after = {"after_rev": after_rev}
    woken = {operation_key(id_) for (id_,) in connection.execute(_RUNS, after)}
    for id_, cluster in connection.execute(_OPERATIONS, after):
        woken.add(operation_key(id_))
        if cluster is not None:
            woken.add(cluster_key(cluster))
    for id_, cluster in connection.execute(_QUESTIONS, after):
        woken |= {question_key(id_), cluster_key(cluster)}
    return woken

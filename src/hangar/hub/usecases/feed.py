"""Reading events: the newest first, those after a revision, or those of one operation."""

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, select

from hangar.hub.present import milliseconds
from hangar.hub.sentences import event_sentence
from hangar.hub.store.records import Query, StoredRow, feed_rev
from hangar.hub.store.tables import events
from hangar.hub.store.tx import EventType
from hangar.hub.usecases.paging import PageRequest, check_choice, invalid_token, next_token, position, raise_filters
from hangar.hub.usecases.queries import get_operation
from hangar.wire import shown
from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError

REV_DIGITS_MAX = 18
"""A revision of more digits does not fit the store's 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilters:
    """What a listing of events is cut down to; None takes all.

    `object` is a name, or `cluster/name`. With `after` the list goes forward from that revision, else back from the
    newest.
    """

    type: str | None = None
    object: str | None = None
    cluster: str | None = None
    operation: str | None = None
    after: int | None = None


def check_event_filters(filters: EventFilters) -> None:
    """Raise INVALID_FILTER for a type that there is not."""
    errors: list[FieldError] = []
    check_choice(errors, "type", filters.type, tuple(EventType))
    raise_filters(errors)


def is_wanted(filters: EventFilters, event: shown.Event) -> bool:
    """Tell whether an event is one that a listing with these filters has; `after` is not looked at."""
    cluster, slash, name = (filters.object or "").rpartition("/")
    return (
        filters.type in (None, event.type)
        and (filters.object is None or name == event.object.name)
        and (not slash or cluster == event.object.cluster)
        and filters.cluster in (None, event.object.cluster)
        and filters.operation in (None, event.operation)
    )


def list_events(connection: Connection, filters: EventFilters, page: PageRequest) -> shown.Page[shown.Event]:
    """Return a page of events. Raises INVALID_FILTER, INVALID_PAGE_TOKEN."""
    check_event_filters(filters)
    asked = asdict(filters)
    start = position("events", asked, page.token, key_parts=1)
    as_of = feed_rev(connection)
    is_forward = filters.after is not None
    statement = _matching(filters).order_by(events.c.rev if is_forward else events.c.rev.desc()).limit(page.size + 1)
    if filters.after is not None:
        statement = statement.where(events.c.rev > filters.after)
    if start is not None:
        rev = _rev(start[0])
        statement = statement.where(events.c.rev > rev if is_forward else events.c.rev < rev)
    found = connection.execute(statement).all()
    items = [event_of(row) for row in found[: page.size]]
    token = next_token("events", asked, [str(items[-1].rev)]) if len(found) > page.size else None
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def events_between(
    connection: Connection, filters: EventFilters, after_rev: int, last_rev: int, rows_max: int
) -> list[shown.Event]:
    """Return the first events after a revision, up to and with another one."""
    statement = _matching(filters).where(events.c.rev > after_rev, events.c.rev <= last_rev)
    return [event_of(row) for row in connection.execute(statement.order_by(events.c.rev).limit(rows_max))]


def _matching(filters: EventFilters) -> Query:
    statement = select(events)
    if filters.type is not None:
        statement = statement.where(events.c.type == filters.type)
    if filters.object is not None:
        cluster, slash, name = filters.object.rpartition("/")
        statement = statement.where(events.c.object_name == name)
        if slash:
            statement = statement.where(events.c.object_cluster == cluster)
    if filters.cluster is not None:
        statement = statement.where(events.c.object_cluster == filters.cluster)
    if filters.operation is not None:
        statement = statement.where(events.c.op_id == filters.operation)
    return statement


def list_operation_events(connection: Connection, id_: str, page: PageRequest) -> shown.Page[shown.Event]:
    """Return a page of an operation's events, oldest first. Raises NOT_FOUND, INVALID_PAGE_TOKEN."""
    get_operation(connection, id_)
    return list_events(connection, EventFilters(operation=id_, after=0), page)


def _rev(text: str) -> int:
    if not text.isdecimal() or len(text) > REV_DIGITS_MAX:
        raise invalid_token()
    return int(text)


def event_of(row: StoredRow) -> shown.Event:
    """Return a stored event as users see it."""
    return event_from(dict(row._mapping))


def event_from(columns: JsonObject) -> shown.Event:
    """Return an event as users see it, from its columns by name."""
    object_ = shown.EventObject(
        kind=columns["object_kind"], name=columns["object_name"], cluster=columns["object_cluster"]
    )
    return shown.Event(
        rev=columns["rev"],
        at=milliseconds(columns["at_us"]),
        type=columns["type"],
        object=object_,
        operation=columns["op_id"],
        actor=columns["actor"],
        message=event_sentence(
            EventType(columns["type"]), object_.name, columns["actor"], columns["data"], object_.cluster
        ),
        data=columns["data"],
    )

"""Reading events: the newest first, those after a revision, or those of one operation."""

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, select

from hangar.hub.present import milliseconds
from hangar.hub.sentences import event_sentence
from hangar.hub.store.records import StoredRow, feed_rev
from hangar.hub.store.tables import events
from hangar.hub.store.tx import EventType
from hangar.hub.usecases.paging import PageRequest, check_choice, invalid_token, next_token, position, raise_filters
from hangar.hub.usecases.queries import get_operation
from hangar.wire import shown
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


def list_events(connection: Connection, filters: EventFilters, page: PageRequest) -> shown.Page[shown.Event]:
    """Return a page of events. Raises INVALID_FILTER, INVALID_PAGE_TOKEN."""
    errors: list[FieldError] = []
    check_choice(errors, "type", filters.type, tuple(EventType))
    raise_filters(errors)
    asked = asdict(filters)
    start = position("events", asked, page.token, key_parts=1)
    as_of = feed_rev(connection)
    is_forward = filters.after is not None
    statement = select(events).order_by(events.c.rev if is_forward else events.c.rev.desc()).limit(page.size + 1)
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
    if filters.after is not None:
        statement = statement.where(events.c.rev > filters.after)
    if start is not None:
        rev = _rev(start[0])
        statement = statement.where(events.c.rev > rev if is_forward else events.c.rev < rev)
    found = connection.execute(statement).all()
    items = [_event(row) for row in found[: page.size]]
    token = next_token("events", asked, [str(items[-1].rev)]) if len(found) > page.size else None
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def list_operation_events(connection: Connection, id_: str, page: PageRequest) -> shown.Page[shown.Event]:
    """Return a page of an operation's events, oldest first. Raises NOT_FOUND, INVALID_PAGE_TOKEN."""
    get_operation(connection, id_)
    return list_events(connection, EventFilters(operation=id_, after=0), page)


def _rev(text: str) -> int:
    if not text.isdecimal() or len(text) > REV_DIGITS_MAX:
        raise invalid_token()
    return int(text)


def _event(row: StoredRow) -> shown.Event:
    return shown.Event(
        rev=row.rev,
        at=milliseconds(row.at_us),
        type=row.type,
        object=shown.EventObject(kind=row.object_kind, name=row.object_name, cluster=row.object_cluster),
        operation=row.op_id,
        actor=row.actor,
        message=event_sentence(EventType(row.type), row.object_name, row.actor, row.data),
        data=row.data,
    )

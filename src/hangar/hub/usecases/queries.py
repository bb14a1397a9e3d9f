"""Reading operations: one by its id, or a page of many."""

from dataclasses import asdict, dataclass

from sqlalchemy import Column, ColumnElement, Connection, literal, select

from hangar.domain.limits import PAGE_EXAMINED_MAX
from hangar.domain.operation import OPEN, Phase
from hangar.hub import present
from hangar.hub.ids import first_operation_id
from hangar.hub.store.records import SELECT_OPERATION, OperationRecord, Query, feed_rev, find_operation, operation_of
from hangar.hub.store.tables import operations
from hangar.hub.usecases.paging import PageRequest, check_choice, next_token, position, raise_filters
from hangar.hub.usecases.rules import Rules
from hangar.wire import shown
from hangar.wire.problems import FieldError, Problem, ProblemCode


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationFilters:
    """What a listing of operations is cut down to; None takes all. `since` is included, `until` is not.

    `target` is a name, or `cluster/name`.
    """

    type: str | None = None
    phase: str | None = None
    target: str | None = None
    cluster: str | None = None
    created_by: str | None = None
    since_us: int | None = None
    until_us: int | None = None


def get_operation(connection: Connection, id_: str) -> OperationRecord:
    """Return an operation by its id. Raises NOT_FOUND."""
    record = find_operation(connection, id_)
    if record is None:
        raise Problem(
            ProblemCode.NOT_FOUND,
            f"there is no operation {id_}: `hgr operation ls` lists those there are",
            (FieldError("id", f"there is no operation {id_}"),),
        )
    return record


def list_operations(
    connection: Connection, filters: OperationFilters, page: PageRequest, rules: Rules
) -> shown.Page[shown.Operation]:
    """Return a page of operations, newest first. An unknown name gives an empty page.

    Pages may be short: one examines at most PAGE_EXAMINED_MAX rows; only a missing token ends the list. Raises
    INVALID_FILTER, INVALID_PAGE_TOKEN.
    """
    errors: list[FieldError] = []
    check_choice(errors, "type", filters.type, rules.catalogue.names)
    check_choice(errors, "phase", filters.phase, tuple(Phase))
    raise_filters(errors)
    asked = asdict(filters)
    after = position("operations", asked, page.token, key_parts=1)
    as_of = feed_rev(connection)
    leading, others = _conditions(filters)
    bounds = _bounds(filters, None if after is None else after[0])
    examined = select(operations.c.id).where(*leading, *bounds).order_by(operations.c.id.desc())
    last_examined = None
    if others:
        # The rows that a page may examine end here; where there are fewer, it may go on to the end.
        last_examined = connection.execute(examined.offset(PAGE_EXAMINED_MAX - 1).limit(1)).scalar()
    if last_examined is not None:
        bounds.append(operations.c.id >= last_examined)
    rows = connection.execute(_page(leading, others, bounds, page.size + 1)).all()
    items = [present.operation(operation_of(row)) for row in rows[: page.size]]
    last = items[-1].id if len(rows) > page.size else last_examined
    token = None if last is None else next_token("operations", asked, [last])
    return shown.Page(items=items, next_page_token=token, as_of=as_of)


def _page(
    leading: list[ColumnElement[bool]],
    others: list[ColumnElement[bool]],
    bounds: list[ColumnElement[bool]],
    limit: int,
) -> Query:
    return SELECT_OPERATION.where(*leading, *others, *bounds).order_by(operations.c.id.desc()).limit(limit)


def _conditions(filters: OperationFilters) -> tuple[list[ColumnElement[bool]], list[ColumnElement[bool]]]:
    """Return the condition whose index is used, the one that leaves the fewest rows, and all others."""
    in_cluster, slash, target = (filters.target or "").rpartition("/")
    columns: list[tuple[Column[str], str | None]] = [
        (operations.c.target, None if filters.target is None else target),
        (operations.c.created_by, filters.created_by),
        (operations.c.cluster, filters.cluster),
        (operations.c.phase, filters.phase),
        (operations.c.type, filters.type),
    ]
    if filters.phase in OPEN:
        columns.insert(0, columns.pop(3))  # few operations are open, whatever else is asked
    if slash:
        columns.append((operations.c.cluster, in_cluster))
    asked = [(column, value) for column, value in columns if value is not None]
    leading = [column == value for column, value in asked[:1]]
    # An expression instead of the column: the planner must not prefer the index of a filter that leaves more rows.
    others = [column + literal("") == value for column, value in asked[1:]]
    return leading, others


def _bounds(filters: OperationFilters, before_id: str | None) -> list[ColumnElement[bool]]:
    """Return the part of the list that is asked for. Ids are in order of time, so they bound instants too."""
    bounds: list[ColumnElement[bool]] = []
    if before_id is not None:
        bounds.append(operations.c.id < before_id)
    if filters.since_us is not None:
        bounds.append(operations.c.id >= first_operation_id(filters.since_us))
        bounds.append(operations.c.created_us >= filters.since_us)
    if filters.until_us is not None:
        bounds.append(operations.c.id < first_operation_id(filters.until_us + 1000))
        bounds.append(operations.c.created_us < filters.until_us)
    return bounds

"""Query parameters: which there are, and how instants and pages are written."""

from datetime import datetime
from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.requests import HTTPConnection

from hangar.clock import to_us
from hangar.domain.limits import PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX
from hangar.hub.usecases.paging import PageRequest, raise_filters
from hangar.hub.validation import has_control_characters
from hangar.wire.problems import FieldError


async def known_parameters(request: HTTPConnection) -> None:
    """Raise INVALID_FILTER for a query parameter that this route does not have, that comes twice, or is no text."""
    allowed = [each.alias for each in request.scope["route"].dependant.query_params]
    for sub in request.scope["route"].dependant.dependencies:
        allowed += [each.alias for each in sub.query_params]
    _check(request, allowed)


def no_parameters(request: Request) -> None:
    """Raise INVALID_FILTER for any query parameter."""
    if request.scope["query_string"]:
        _check(request, [])


def _check(request: HTTPConnection, allowed: list[str]) -> None:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for name, value in request.query_params.multi_items():
        if name not in allowed:
            what = f"is no filter here: there are {', '.join(sorted(allowed)) or 'none'}"
            errors.append(FieldError(f"query.{name}", what))
        elif name in seen:
            errors.append(FieldError(f"query.{name}", "is given twice; give it once"))
        elif has_control_characters(value):
            errors.append(FieldError(f"query.{name}", "may not contain control characters"))
        seen.add(name)
    for name, value in request.path_params.items():
        if has_control_characters(str(value)):
            errors.append(FieldError(f"path.{name}", "may not contain control characters"))
    raise_filters(errors)


async def page_request(
    page_size: Annotated[
        int, Query(ge=1, le=PAGE_SIZE_MAX, description="items a page at most; a page may come short")
    ] = PAGE_SIZE_DEFAULT,
    page_token: Annotated[
        str | None, Query(description="`next_page_token` of the page before; only a missing one ends the list")
    ] = None,
) -> PageRequest:
    """Return which page is asked for."""
    return PageRequest(page_size, page_token)


PageOf = Annotated[PageRequest, Depends(page_request)]


def instant_us(value: datetime | None, name: str) -> int | None:
    """Return an instant in microseconds. Raises INVALID_FILTER where it has no time zone."""
    if value is None:
        return None
    if value.tzinfo is None:
        raise_filters([FieldError(f"query.{name}", "needs a time zone: 2026-10-27T12:34:56Z")])
    return max(0, to_us(value))

"""Pages: a token says where the next one starts, and for which list and filters."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from hangar.domain.limits import PAGE_SIZE_DEFAULT
from hangar.hub.validation import has_control_characters
from hangar.wire.problems import FieldError, Problem, ProblemCode


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page: at most `size` items, from where `token` says."""

    size: int = PAGE_SIZE_DEFAULT
    token: str | None = None


class _Position(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    filters: str
    key: list[str]


def next_token(listing: str, filters: Mapping[str, object], key: list[str]) -> str:
    """Return the token of the page after `key`, good for this list with these filters only."""
    position = _Position(filters=_digest(listing, filters), key=key)
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode().rstrip("=")


def position(listing: str, filters: Mapping[str, object], token: str | None, key_parts: int) -> list[str] | None:
    """Return the key that a token says to go on after, None for the first page. Raises INVALID_PAGE_TOKEN."""
    if token is None:
        return None
    try:
        found = msgspec.json.decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)), type=_Position)
    except (msgspec.MsgspecError, binascii.Error, ValueError) as error:
        raise invalid_token() from error
    if any(map(has_control_characters, found.key)):
        raise invalid_token()  # no name has any, and one database refuses what the other takes
    if len(found.key) != key_parts or found.filters != _digest(listing, filters):
        raise _invalid("it belongs to a list with other filters: send the same filters with every page")
    return found.key


def _digest(listing: str, filters: Mapping[str, object]) -> str:
    return hashlib.sha256(msgspec.json.encode([listing, dict(filters)], order="sorted")).hexdigest()[:16]


def invalid_token() -> Problem:
    """Return the problem of a token that no page gave out."""
    return _invalid("it is none of ours: take the `next_page_token` of the page before, unchanged")


def _invalid(why: str) -> Problem:
    error = FieldError("query.page_token", why)
    return Problem(ProblemCode.INVALID_PAGE_TOKEN, f"page_token: {why}", (error,))


def check_choice(errors: list[FieldError], name: str, value: str | None, choices: tuple[str, ...]) -> None:
    """Note an error where a filter's value is none of its choices."""
    if value is not None and value not in choices:
        errors.append(FieldError(f"query.{name}", f"{value!r} is no {name}: there are {', '.join(choices)}"))


def raise_filters(errors: list[FieldError]) -> None:
    """Raise INVALID_FILTER with all that was noted, if anything was."""
    if errors:
        detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
        raise Problem(ProblemCode.INVALID_FILTER, detail, tuple(errors))

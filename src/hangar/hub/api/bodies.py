"""Bodies: read up to a bound, and checked as a whole, so that a caller hears of everything at once."""

from typing import Annotated, TypeVar

import msgspec
from fastapi import Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from hangar.domain.limits import (
    BODY_BYTES_MAX,
    IDEMPOTENCY_KEY_CHARS_MAX,
    NAME_CHARS_MAX,
    OPERATOR_BODY_BYTES_MAX,
    REASON_CHARS_MAX,
    TARGET_CHARS_MAX,
    TOKEN_LIFE_MAX_S,
)
from hangar.hub.catalogue import Catalogue
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.validation import check_name, check_target, check_text, field_errors
from hangar.wire.problems import FieldError, Problem, ProblemCode

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
S = TypeVar("S", bound=msgspec.Struct)

KEY_HEADER = "Idempotency-Key"
Text = Annotated[str, AfterValidator(check_text)]
Name = Annotated[str, AfterValidator(check_name)]
Target = Annotated[str, AfterValidator(check_target)]


class StrictModel(BaseModel):
    """A request of a user: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CreateOperation(StrictModel):
    """POST /v1/operations."""

    type: Text = Field(description="the type of operation, such as node.drain")
    target: Target = Field(
        min_length=1, max_length=TARGET_CHARS_MAX, description="a bare name where it is unambiguous, or cluster/name"
    )
    cluster: Name | None = Field(
        default=None, min_length=1, max_length=NAME_CHARS_MAX, description="the cluster of the target"
    )
    params: dict[str, JsonValue] = Field(default={}, description="what the type takes; see its schema")
    reason: Text | None = Field(default=None, max_length=REASON_CHARS_MAX, description="why, for the record")


class CreateToken(StrictModel):
    """POST /v1/tokens."""

    name: Text = Field(min_length=1, max_length=NAME_CHARS_MAX, description="the principal's name")
    role: Text = Field(description="viewer, maintainer, admin or operator")
    cluster: Text | None = Field(default=None, description="the cluster of an operator's token")
    expires_in_s: int | None = Field(
        default=None, ge=1, le=TOKEN_LIFE_MAX_S, description="how long it is good for; null: until revoked"
    )


async def read_body(request: Request, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """Return a JSON request's body. Raises UNSUPPORTED_MEDIA_TYPE, TOO_LARGE."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        said = f"is {media_type}" if media_type else "has no Content-Type"
        raise Problem(ProblemCode.UNSUPPORTED_MEDIA_TYPE, f"the body {said}: send application/json")
    body = bytearray()
    if _declared_bytes(request) > bytes_max:
        raise _too_large(bytes_max)
    async for chunk in request.stream():
        body += chunk
        if len(body) > bytes_max:
            raise _too_large(bytes_max)
    return bytes(body)


async def read_struct(request: Request, type_: type[S]) -> S:
    """Return an operator's request. Raises INVALID_REQUEST, INVALID_VALUE, TOO_LARGE."""
    return _decode(await read_body(request, OPERATOR_BODY_BYTES_MAX), type_)


async def read_model(request: Request, model: type[M]) -> M:
    """Return a user's request. Raises INVALID_REQUEST, INVALID_VALUE with all that is wrong, TOO_LARGE."""
    body = await read_body(request)
    _decode(body, object)
    found, errors = _parse(body, model)
    if found is None:
        raise _invalid(errors)
    return found


async def read_operation(request: Request, catalogue: Catalogue) -> tuple[OperationRequest, str | None]:
    """Return the operation that is asked for, and its idempotency key.

    Raises INVALID_REQUEST, TOO_LARGE, and INVALID_VALUE with all that is wrong with body, parameters and key.
    """
    body = await read_body(request)
    document = _decode(body, object)
    asked, errors = _parse(body, CreateOperation)
    errors += _parameter_errors(document, catalogue)
    key = request.headers.get(KEY_HEADER)
    if key is not None and (not 1 <= len(key) <= IDEMPOTENCY_KEY_CHARS_MAX or not all("!" <= c <= "~" for c in key)):
        what = f"must be 1 to {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters"
        errors.append(FieldError(f"header.{KEY_HEADER}", what))
    if asked is None or errors:
        raise _invalid(errors)
    return OperationRequest(**asked.model_dump()), key


def _parse(body: bytes, model: type[M]) -> tuple[M | None, list[FieldError]]:
    try:
        return model.model_validate_json(body), []
    except ValidationError as error:
        return None, list(field_errors(error, allowed=tuple(model.model_fields)))


def _decode(body: bytes, type_: type[T]) -> T:
    """Return what a body says; strict JSON, so NaN and half characters are none."""
    try:
        return msgspec.json.decode(body, type=type_)
    except msgspec.ValidationError as error:
        raise Problem(ProblemCode.INVALID_VALUE, str(error)) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise Problem(ProblemCode.INVALID_REQUEST, f"the body is not JSON: {error}") from error


def _parameter_errors(document: object, catalogue: Catalogue) -> list[FieldError]:
    """Return what is wrong with type and parameters, as far as they can be made out."""
    if not isinstance(document, dict) or not isinstance(asked := document.get("type"), str):
        return []
    entry = catalogue.entries.get(asked)
    if entry is None:
        return [FieldError("type", f"{asked!r} is no type: there are {', '.join(catalogue.names)}")]
    params = document.get("params", {})
    return list(entry.check(params)[1]) if isinstance(params, dict) else []


def _declared_bytes(request: Request) -> int:
    declared = request.headers.get("content-length", "0")
    return int(declared) if declared.isdecimal() else 0


def _too_large(bytes_max: int) -> Problem:
    return Problem(ProblemCode.TOO_LARGE, f"the body may have at most {bytes_max} bytes")


def _invalid(errors: list[FieldError]) -> Problem:
    detail = "; ".join(f"{each.path or 'the body'}: {each.message}" for each in errors)
    return Problem(ProblemCode.INVALID_VALUE, detail, tuple(errors))

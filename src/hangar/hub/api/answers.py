"""Answers: documents encoded once, and problems as RFC 9457 has them."""

from collections.abc import Mapping

import msgspec
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from hangar.hub.api.authentication import SCHEME
from hangar.hub.store.writer import OutcomeUnknownError, StoreUnavailableError
from hangar.hub.validation import sentence
from hangar.wire.problems import PROBLEM_MEDIA_TYPE, FieldError, Problem, ProblemCode

log = structlog.get_logger(__name__)

STORE_RETRY_S = 2
"""When to ask again while the store does not answer."""


def json_response(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a document as JSON."""
    return Response(msgspec.json.encode(document), status, headers, media_type="application/json")


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as problem+json."""
    all_headers = dict(headers or {})
    document = problem.document()
    if problem.retry_after_s is not None:
        document["retry_after_s"] = problem.retry_after_s
        all_headers["Retry-After"] = str(problem.retry_after_s)
    if problem.code is ProblemCode.UNAUTHENTICATED:
        all_headers["WWW-Authenticate"] = SCHEME
    return Response(msgspec.json.encode(document), problem.code.status, all_headers, media_type=PROBLEM_MEDIA_TYPE)


def add_problem_handlers(app: FastAPI) -> None:
    """Make every error of the application a problem."""
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(StoreUnavailableError, _on_store_unavailable)
    app.add_exception_handler(RequestValidationError, _on_invalid_query)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(Exception, _on_fault)


async def _on_problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return problem_response(error)


async def _on_store_unavailable(_request: Request, error: Exception) -> Response:
    log.warning("the store could not serve a request", why=str(error), cause=str(error.__cause__ or ""))
    if isinstance(error, OutcomeUnknownError):
        detail = f"the hub's store cannot tell whether this was done: {error}. Look, or repeat it under the same key."
    else:
        detail = f"the hub's store cannot serve this now: {error}. Nothing was changed; try again."
    return problem_response(Problem(ProblemCode.BUSY, detail, retry_after_s=STORE_RETRY_S))


async def _on_invalid_query(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = tuple(
        FieldError(".".join(str(part) for part in each["loc"]), sentence(each, ())) for each in error.errors()
    )
    detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
    return problem_response(Problem(ProblemCode.INVALID_FILTER, detail, errors))


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == ProblemCode.NOT_FOUND.status:
        problem = Problem(ProblemCode.NOT_FOUND, f"nothing is served at {path}: /docs lists what is")
    elif error.status_code == ProblemCode.METHOD_NOT_ALLOWED.status:
        allowed = (error.headers or {}).get("Allow", "another method")
        problem = Problem(ProblemCode.METHOD_NOT_ALLOWED, f"{path} does not take {request.method}; it takes {allowed}")
    else:
        problem = Problem(ProblemCode.INVALID_REQUEST, f"the request cannot be read: {error.detail}")
    return problem_response(problem, error.headers)


async def _on_fault(request: Request, error: Exception) -> Response:
    # What went wrong inside is for the log, not for the caller.
    log.error("a fault", method=request.method, path=request.url.path, exc_info=error)
    detail = "a fault in the hub; its log has more under this answer's X-Request-Id"
    return problem_response(Problem(ProblemCode.INTERNAL, detail))

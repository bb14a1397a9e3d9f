"""The codes of problems (RFC 9457): stable words that programs may branch on.

Each code belongs to one HTTP status and one title; `detail` says what is wrong with this request and what to
do next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

PROBLEM_MEDIA_TYPE = "application/problem+json"


class ProblemCode(Enum):
    """Code, HTTP status, title."""

    INVALID_REQUEST = ("invalid_request", 400, "The request cannot be read")
    INVALID_FILTER = ("invalid_filter", 400, "A filter is not valid")
    INVALID_PAGE_TOKEN = ("invalid_page_token", 400, "The page token is not valid here")
    UNAUTHENTICATED = ("unauthenticated", 401, "A valid token is needed")
    FORBIDDEN = ("forbidden", 403, "Your role does not allow this")
    OPERATION_NOT_ALLOWED = ("operation_not_allowed", 403, "The cluster does not allow this operation")
    QUOTA_EXCEEDED = ("quota_exceeded", 403, "The project's quota does not allow this")
    WRONG_CLUSTER = ("wrong_cluster", 403, "The token belongs to another cluster")
    NOT_FOUND = ("not_found", 404, "There is no such thing")
    METHOD_NOT_ALLOWED = ("method_not_allowed", 405, "This method is not served here")
    CONFLICT = ("conflict", 409, "Another operation holds the target")
    WORKLOAD_PAUSED = ("workload_paused", 409, "The workload is paused")
    RIVAL_OWNER = ("rival_owner", 409, "Somebody else writes the same number")
    IN_USE = ("in_use", 409, "Something else still needs it")
    ALREADY_FINISHED = ("already_finished", 409, "The operation is already over")
    STANDBY = ("standby", 409, "Another operator holds the cluster")
    FENCED = ("fenced", 409, "The session is no longer the cluster's")
    TOO_LARGE = ("too_large", 413, "The request body is too large")
    UNSUPPORTED_MEDIA_TYPE = ("unsupported_media_type", 415, "The body must be application/json")
    INVALID_VALUE = ("invalid_value", 422, "A value is not valid")
    AMBIGUOUS_TARGET = ("ambiguous_target", 422, "The name exists in more than one cluster")
    KEY_REUSED = ("key_reused", 422, "The idempotency key was used for another request")
    UNSUPPORTED_KIND = ("unsupported_kind", 422, "The cluster's operator cannot carry this out")
    CLUSTER_OFFLINE = ("cluster_offline", 503, "The cluster's operator does not answer")
    BUSY = ("busy", 503, "The hub cannot take this now")
    INTERNAL = ("internal", 500, "The hub failed")

    def __init__(self, code: str, status: int, title: str) -> None:
        self.code = code
        self.status = status
        self.title = title


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing that is wrong, where: `path` is a dotted path into the body, `query.NAME` or `header.NAME`."""

    path: str
    message: str


@dataclass(slots=True)
class Problem(Exception):  # noqa: N818 - RFC 9457 calls it so
    """A refusal, told to the caller as problem+json. `context` holds further fields, such as `candidates`."""

    code: ProblemCode
    detail: str
    errors: tuple[FieldError, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    retry_after_s: int | None = None

    def document(self) -> dict[str, Any]:
        """Return the problem+json document."""
        document: dict[str, Any] = {
            "type": f"urn:wingsmith:problem:{self.code.code}",
            "title": self.code.title,
            "status": self.code.status,
            "code": self.code.code,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = [{"path": each.path, "message": each.message} for each in self.errors]
        return document | dict(self.context)

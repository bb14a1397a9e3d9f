"""Turns the hub's problem documents into what people read: what is wrong, field by field, and what to do next."""

from __future__ import annotations

from hangar.cli.exits import PASSING_STATUSES, of_status
from hangar.cli.failures import Failure, Refused
from hangar.cli.flags import as_typed
from hangar.cli.render import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hangar.cli.documents import Document
    from hangar.cli.settings import Endpoint

CLUSTER_OFFLINE = "cluster_offline"
"""A cluster whose operator is away comes back in minutes or hours: nobody is made to wait for it unasked."""


def refusal(status: int, document: Document, retry_after: str | None, endpoint: Endpoint) -> Refused:
    """Return the failure for a problem+json document."""
    message = str(document.get("detail") or document.get("title") or f"the hub answered {status}")
    errors = _field_errors(document.get("errors"))
    is_strung = message == "; ".join(f"{path or 'the body'}: {said}" for path, said in errors)
    told = [f"{as_typed(path) or 'the body'}: {said}" for path, said in errors if is_strung or said not in message]
    if is_strung and told:
        message, told = (told[0], []) if len(told) == 1 else (str(document.get("title", message)), told)
    hints = [*_about_operations(document, message), *_candidates(document, message), *_token_hints(status, endpoint)]
    retry_after_s = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
    if retry_after_s is not None:
        hints.append(f"the hub asks to try again in {retry_after_s:.0f} s")
    failure = Failure(
        of_status(status),
        clean(message),
        details=list(map(clean, told)),
        hints=hints,
        is_passing=status in PASSING_STATUSES and document.get("code") != CLUSTER_OFFLINE,
        retry_after_s=retry_after_s,
    )
    return Refused(failure, document)


def _field_errors(errors: object) -> list[tuple[str, str]]:
    if not isinstance(errors, list):
        return []
    return [(str(each.get("path")), str(each.get("message"))) for each in errors if isinstance(each, dict)]


def _about_operations(document: Document, message: str) -> list[str]:
    hints = []
    for name, title in (("conflicting_operation", "conflicting operation"), ("operation", "the operation")):
        of = document.get(name)
        if isinstance(of, dict) and "id" in of and str(of["id"]) not in message:
            words = " ".join(str(of[field]) for field in ("type", "target", "phase") if of.get(field))
            by = f", asked for by {of['created_by']}" if of.get("created_by") else ""
            hints.append(clean(f"{title}: {of['id']} ({words}{by}); see it: hgr operation get {of['id']}"))
    return hints


def _candidates(document: Document, message: str) -> list[str]:
    candidates = document.get("candidates")
    if not isinstance(candidates, list) or all(str(each) in message for each in candidates):
        return []
    return [clean(f"candidates: {', '.join(map(str, candidates))}")]


def _token_hints(status: int, endpoint: Endpoint) -> list[str]:
    if status != 401:
        return []
    if endpoint.token is None:
        return ["no token was sent: come in with `hgr login`, or set HGR_TOKEN_FILE or HGR_TOKEN"]
    return [f"the token came from {endpoint.token_source}; it may be expired, revoked or meant for another hub"]

"""Turns the hub's problem documents into what people read: what is wrong, field by field, and what to do next."""

from __future__ import annotations

from hangar.cli.exits import PASSING_STATUSES, of_status
from hangar.cli.failures import Failure, Refused
from hangar.cli.render import clean, inline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hangar.cli.settings import Endpoint

_SAID_ELSEWHERE = frozenset({"type", "title", "status", "code", "detail", "instance", "errors"})


def refusal(status: int, document: dict[str, Any], retry_after: str | None, endpoint: Endpoint) -> Refused:
    """Return the failure for a problem+json document."""
    hints = [*_hints(document), *_token_hints(status, endpoint)]
    retry_after_s = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
    if retry_after_s is not None:
        hints.append(f"the hub asks to try again in {retry_after_s:.0f} s")
    failure = Failure(
        of_status(status),
        clean(str(document.get("detail") or document.get("title") or f"the hub answered {status}")),
        details=_field_errors(document.get("errors")),
        hints=hints,
        is_passing=status in PASSING_STATUSES,
        retry_after_s=retry_after_s,
    )
    return Refused(failure, document)


def _field_errors(errors: object) -> list[str]:
    if not isinstance(errors, list):
        return []
    return [
        clean(f"{error.get('path', '')}: {error.get('message', '')}".removeprefix(": "))
        for error in errors
        if isinstance(error, dict)
    ]


def _hints(document: dict[str, Any]) -> list[str]:
    hints = []
    for name, value in document.items():
        if name in _SAID_ELSEWHERE or value in (None, [], {}):
            continue
        if name == "conflicting_operation":
            hints.append(_about_operation(value))
        elif name == "candidates" and isinstance(value, list):
            hints.append("did you mean: " + ", ".join(clean(_candidate(each)) for each in value))
        else:
            hints.append(f"{clean(name)}: {inline(value)}")
    return hints


def _about_operation(value: object) -> str:
    identity = value.get("id") if isinstance(value, dict) else value
    said = f"conflicting operation: {clean(str(identity))}"
    if isinstance(value, dict):
        words = [clean(str(value[name])) for name in ("type", "target", "phase") if value.get(name)]
        by = [f"by {clean(str(value['created_by']))}"] if value.get("created_by") else []
        said += f" ({' '.join([*words, *by])})" if words or by else ""
    return f"{said}; see it: hgr operation get {clean(str(identity))}"


def _candidate(value: object) -> str:
    if isinstance(value, dict):
        return "/".join(str(value[name]) for name in ("cluster", "name", "node", "target") if value.get(name))
    return str(value)


def _token_hints(status: int, endpoint: Endpoint) -> list[str]:
    if status != 401:
        return []
    if endpoint.token is None:
        return ["no token was sent: set HGR_TOKEN_FILE or HGR_TOKEN, or `hgr context set NAME --token-file FILE`"]
    return [f"the token came from {endpoint.token_source}; it may be expired, revoked or meant for another hub"]

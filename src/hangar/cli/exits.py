"""The exit codes of hgr: scripts branch on them, so they never change their meaning."""

from enum import IntEnum


class Exit(IntEnum):
    """What the process says when it ends, and what that means."""

    SUCCESS = 0, "success; with --wait: the operation succeeded; with --dry-run: it would begin"
    UNEXPECTED = 1, "unexpected error"
    USAGE = 2, "wrong usage, or an invalid request (HTTP 400, 422)"
    REFUSED = 4, "not authenticated, forbidden, or refused by the cluster's settings (HTTP 401, 403)"
    NOT_FOUND = 5, "not found (HTTP 404)"
    CONFLICT = 6, "conflict with the present state (HTTP 409, 412)"
    UNREACHABLE = 7, "the hub cannot be reached, or is too busy"
    WAIT_TIMEOUT = 8, "the wait timed out, the operation goes on (--wait-timeout extends)"
    OPERATION_FAILED = (
        11,
        "the operation failed or was cancelled; with --dry-run: it would fail before it moved anything",
    )
    INTERRUPTED = 130, "interrupted: hgr detached, the operation goes on"

    meaning: str

    def __new__(cls, value: int, meaning: str) -> "Exit":
        """Make a member that is its number and carries its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


_BY_STATUS = {401: Exit.REFUSED, 403: Exit.REFUSED, 404: Exit.NOT_FOUND, 409: Exit.CONFLICT, 412: Exit.CONFLICT}
PASSING_STATUSES = frozenset({429, 502, 503, 504})


def of_status(status: int) -> Exit:
    """Return the exit code for an HTTP status that is no success."""
    if status in PASSING_STATUSES:
        return Exit.UNREACHABLE
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    is_ours_to_mend = 400 <= status < 500
    return Exit.USAGE if is_ours_to_mend else Exit.UNEXPECTED

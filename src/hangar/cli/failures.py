"""What can go wrong, as exceptions that know their exit code and what to tell the user."""

from __future__ import annotations

from hangar.cli.exits import Exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from hangar.cli.documents import Document


class Failure(Exception):  # noqa: N818 - it is what the command came to, and often no error of ours
    """Expected trouble: printed as `error: message`, one line a detail, then the hints; never a traceback.

    `is_passing` says that the same call may well succeed later, `is_unsent` that this one never reached the hub;
    `retry_after_s` is the hub's own advice on when to call again.
    """

    def __init__(
        self,
        code: Exit,
        message: str,
        *,
        details: Sequence[str] = (),
        hints: Sequence[str] = (),
        is_passing: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = tuple(details)
        self.hints = tuple(hints)
        self.is_passing = is_passing
        self.is_unsent = False
        self.retry_after_s = retry_after_s


class UsageError(Failure):
    """The command line or the settings are wrong: nothing was sent."""

    def __init__(self, message: str, *, details: Sequence[str] = (), hints: Sequence[str] = ()) -> None:
        super().__init__(Exit.USAGE, message, details=details, hints=hints)


class Refused(Failure):
    """The hub answered with a problem. `document` is its problem+json."""

    def __init__(self, failure: Failure, document: Document) -> None:
        super().__init__(
            failure.code,
            failure.message,
            details=failure.details,
            hints=failure.hints,
            is_passing=failure.is_passing,
            retry_after_s=failure.retry_after_s,
        )
        self.document = document


class Detached(BaseException):
    """A signal asked the process to go (like KeyboardInterrupt, it is no error that a handler should swallow)."""

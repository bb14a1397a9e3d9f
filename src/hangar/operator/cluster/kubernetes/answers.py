"""What the API server's replies mean, by their causes and not by their codes alone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from hangar.domain.decision import (
    Accepted,
    Answer,
    BudgetFull,
    Busy,
    Denied,
    Gone,
    Namesake,
    SeveralBudgets,
    Trouble,
    Unknown,
)
from hangar.operator.cluster.kubernetes.envelopes import Status
from hangar.operator.cluster.kubernetes.translate_adapter import ADAPTERS_PLURAL
from hangar.operator.cluster.kubernetes.translate_graph import PLURAL

NO_STATUS = Status()

BUDGET_CAUSE = "DisruptionBudget"
TERMINATING_CAUSE = "NamespaceTerminating"

# Where the server gives no cause that a program could read, its sentence has to do. The tests on a real cluster hold
# these against the real server.
SEVERAL_BUDGETS_TEXT = "more than one PodDisruptionBudget"
OTHER_UID = re.compile(r"UID in (the )?precondition")  # as evictions say it, and as deletions do
WEBHOOK_DENIAL = re.compile(r'admission webhook "[^"]*" denied the request')
WEBHOOK_FAILURE = re.compile(r'failed calling webhook "[^"]*"')
CONVERSION_FAILURE = re.compile(r"conversion webhook for .* failed")
WEBHOOK_SILENCE = re.compile(r"failed calling webhook .*(deadline exceeded|timed out|timeout(?!=))", re.IGNORECASE)

COME_BACK_LATER = (429, 503)
"""The codes of a webhook's denial that say that it is not meant for good."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The server's reply to one request; `retry_after_s` is the header's, None without one."""

    code: int
    body: bytes = b""
    retry_after_s: float | None = None

    @property
    def is_success(self) -> bool:
        """Tell whether the server did what was asked."""
        return 200 <= self.code < 300

    def status(self) -> Status:
        """Return the reason of a refusal; empty where something else than the API server has replied."""
        try:
            return msgspec.json.decode(self.body, type=Status)
        except msgspec.DecodeError:
            return NO_STATUS

    def text(self) -> str:
        """Return the reason of a refusal in one line."""
        message = self.status().message or self.body.decode(errors="replace").strip() or "no reason given"
        return f"{self.code}: {' '.join(message.split())[:TEXT_CHARS_MAX]}"


TEXT_CHARS_MAX = 500
"""A reason may be a whole page of a proxy's; its beginning is enough to know it by."""


def of_eviction(reply: Reply) -> Answer:
    """Return what a reply to an eviction means.

    What it cannot tell is whether the pod still lives: with a spent budget, an eviction of a pod that is gone
    answers 429 and not 409. So whoever gets BudgetFull or Busy looks for the UID himself.
    """
    if reply.is_success:
        return Accepted()
    status = reply.status()
    match reply.code:
        case 429 if _has_cause(status, BUDGET_CAUSE):
            return BudgetFull(_with_causes(status), _pause_s(reply, status))
        case 403 if status.details.kind == "poddisruptionbudget":
            # Its status is behind, or has more in it than the server counts; it is not we who are forbidden something.
            return Busy(reply.text(), trouble=Trouble.BUDGET_CONTROLLER)
        case 409 if OTHER_UID.search(status.message) is not None:
            return Namesake()
        case 500 if SEVERAL_BUDGETS_TEXT in reply.text():
            return SeveralBudgets(reply.text())
        case _:
            return _of_any(reply, status)


def of_delete(reply: Reply) -> Answer:
    """Return what a reply to a deletion means; its only condition is the UID."""
    if reply.is_success:
        return Accepted()
    status = reply.status()
    return Namesake() if reply.code == 409 and OTHER_UID.search(status.message) is not None else _of_any(reply, status)


def of_write(reply: Reply) -> Answer:
    """Return what a reply to a change of an object means."""
    return Accepted() if reply.is_success else _of_any(reply, reply.status())


def of_apply(reply: Reply) -> Answer:
    """Return what a reply to a change of a graph, or of an adapter, at one version means.

    Whatever trouble the server was in, the change may be sent again: if it was made after all, its version is over.
    """
    if reply.is_success:
        return Accepted()
    status = reply.status()
    if reply.code == 422 and not status.details.causes:  # what is invalid has causes, a test that failed has none
        return Busy(reply.text(), trouble=Trouble.CONFLICT)
    return _of_what_can_be_sent_again(reply, status)


def of_create(reply: Reply) -> Answer:
    """Return what a reply to the creation of a graph means; it may be sent again, for then its name is taken."""
    if reply.is_success:
        return Accepted()
    status = reply.status()
    if reply.code == 404 and status.details.kind == NAMESPACES:  # it is not the graph that is gone
        return Denied(reply.text())
    return _of_what_can_be_sent_again(reply, status)


def of_remove(reply: Reply) -> Answer:
    """Return what a reply to the deletion of a graph, by its UID, at one version, means; it may be sent again."""
    if reply.is_success:
        return Accepted()
    status = reply.status()
    if reply.code == 409 and OTHER_UID.search(status.message) is not None:
        return Namesake()
    return _of_what_can_be_sent_again(reply, status)


def _of_what_can_be_sent_again(reply: Reply, status: Status) -> Answer:
    answer = _of_any(reply, status)
    if isinstance(answer, Unknown) and reply.code >= 500:
        is_webhooks = CONVERSION_FAILURE.search(status.message) is not None
        trouble = Trouble.WEBHOOK if is_webhooks else Trouble.UNAVAILABLE
        return Busy(answer.message, _pause_s(reply, status), trouble)
    return answer


def _of_any(reply: Reply, status: Status) -> Answer:
    if WEBHOOK_DENIAL.search(status.message) is not None:  # with whatever code it likes, 400 where it names none
        if reply.code in COME_BACK_LATER:
            return Busy(reply.text(), _pause_s(reply, status), Trouble.WEBHOOK)
        return Denied(reply.text(), by_webhook=True)
    match reply.code:
        case 404 if status.details.kind in KINDS:
            return Gone()
        case 403 if _has_cause(status, TERMINATING_CAUSE):
            return Busy(reply.text(), trouble=Trouble.NAMESPACE_TERMINATING)
        case 500 if WEBHOOK_FAILURE.search(status.message) is not None:  # webhooks are asked before anything is done
            return Busy(_of_webhook(reply, status), _pause_s(reply, status), Trouble.WEBHOOK)
        case 401 | 404 | 409 | 429:
            return Busy(reply.text(), _pause_s(reply, status), TROUBLES[reply.code])
        case 503 if status.reason:
            return Busy(reply.text(), _pause_s(reply, status), Trouble.UNAVAILABLE)
        case 400 | 403 | 405 | 413 | 415 | 422:
            return Denied(reply.text())
        case _:
            return Unknown(_of_webhook(reply, status))


NAMESPACES = "namespaces"
KINDS = frozenset({"pods", "nodes", NAMESPACES, PLURAL, ADAPTERS_PLURAL})
"""What the server's own 404 is about."""

TROUBLES: Mapping[int, Trouble] = MappingProxyType(
    {
        401: Trouble.CREDENTIALS,  # they change hands
        404: Trouble.UNAVAILABLE,  # not the server's own: from whatever stands before it
        409: Trouble.CONFLICT,
        429: Trouble.THROTTLED,
    }
)


def _of_webhook(reply: Reply, status: Status) -> str:
    """Return the text of a reply, which begins with the reason that people look for where a webhook was too slow."""
    return f"webhook timeout: {reply.text()}" if WEBHOOK_SILENCE.search(status.message) else reply.text()


def _has_cause(status: Status, reason: str) -> bool:
    return any(each.reason == reason for each in status.details.causes)


def _with_causes(status: Status) -> str:
    causes = [each.message for each in status.details.causes if each.message]
    return " ".join([status.message, *(each for each in causes if each not in status.message)])


def _pause_s(reply: Reply, status: Status) -> float | None:
    return reply.retry_after_s or float(status.details.retry_after_seconds) or None

"""What the API server's replies to a step mean."""

import json
from typing import Any

import pytest

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
from hangar.operator.cluster.kubernetes.answers import Reply, of_delete, of_eviction, of_write
from tests.operator.cluster.kubernetes.documents import a_refusal


def refusal(code: int, message: str = "no", *, retry_after_s: float | None = None, **parts: Any) -> Reply:
    return Reply(code, json.dumps(a_refusal(code, message, **parts)).encode(), retry_after_s)


def cause(reason: str, message: str = "") -> list[dict[str, str]]:
    return [{"reason": reason, "message": message}]


FULL = "Cannot evict pod as it would violate the pod's disruption budget."
NUMBERS = "The disruption budget web needs 4 healthy pods and has 4 currently"


@pytest.mark.parametrize("code", [200, 201])
def test_an_accepted_eviction_is_accepted(code: int) -> None:
    assert of_eviction(Reply(code, b"{}")) == Accepted()


def test_a_spent_budget_is_told_in_the_servers_words_and_numbers() -> None:
    reply = refusal(429, FULL, causes=cause("DisruptionBudget", NUMBERS))
    assert of_eviction(reply) == BudgetFull(f"{FULL} {NUMBERS}")


def test_a_budget_whose_count_is_behind_says_when_to_come_back() -> None:
    reply = refusal(429, FULL, causes=cause("DisruptionBudget", "still being processed"), retryAfterSeconds=10)
    assert of_eviction(reply) == BudgetFull(f"{FULL} still being processed", retry_after_s=10.0)


def test_throttling_has_the_same_code_as_a_spent_budget_and_is_not_one() -> None:
    assert of_eviction(Reply(429, b"Too many requests", 1.0)) == Busy("429: Too many requests", 1.0, Trouble.THROTTLED)
    assert of_eviction(refusal(429, "slow down", reason="TooManyRequests", retryAfterSeconds=3)) == Busy(
        "429: slow down", 3.0, Trouble.THROTTLED
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (refusal(404, 'pods "p" not found', kind="pods", name="p"), Gone()),
        (refusal(404, 'namespaces "n" not found', kind="namespaces", name="n"), Gone()),
        (refusal(409, "Precondition failed: UID in precondition: a, UID in object meta: b"), Namesake()),
        (refusal(403, 'pods "p" is forbidden', kind="pods"), Denied('403: pods "p" is forbidden')),
        (refusal(400, "name in URL does not match"), Denied("400: name in URL does not match")),
        (refusal(422, "not a grace period"), Denied("422: not a grace period")),
        (
            refusal(422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"),
            Denied("422: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"),
        ),
        (
            refusal(500, "This pod has more than one PodDisruptionBudget, which the eviction subresource..."),
            SeveralBudgets("500: This pod has more than one PodDisruptionBudget, which the eviction subresource..."),
        ),
        (refusal(500, "etcdserver: request timed out"), Unknown("500: etcdserver: request timed out")),
        (Reply(503, b"<html>no backend</html>"), Unknown("503: <html>no backend</html>")),
        (refusal(504, "Timeout"), Unknown("504: Timeout")),
        (Reply(502, b""), Unknown("502: no reason given")),
        (Reply(302, b"log in first"), Unknown("302: log in first")),
    ],
)
def test_refusals_are_told_apart_by_their_causes(reply: Reply, expected: Answer) -> None:
    assert of_eviction(reply) == expected


@pytest.mark.parametrize(
    ("reply", "trouble"),
    [
        (Reply(404, b"404 page not found"), Trouble.UNAVAILABLE),
        (refusal(503, "shutting down", reason="ServiceUnavailable"), Trouble.UNAVAILABLE),
        (refusal(409, "the object has been modified"), Trouble.CONFLICT),
        (refusal(403, "terminating", causes=cause("NamespaceTerminating")), Trouble.NAMESPACE_TERMINATING),
        (refusal(403, "pdb disruptions allowed is negative", kind="poddisruptionbudget"), Trouble.BUDGET_CONTROLLER),
        (refusal(401, "Unauthorized"), Trouble.CREDENTIALS),
        (refusal(500, 'Internal error occurred: failed calling webhook "w": refused'), Trouble.WEBHOOK),
    ],
)
def test_trouble_that_passes_has_its_cause(reply: Reply, trouble: Trouble) -> None:
    assert of_eviction(reply) == Busy(reply.text(), trouble=trouble)


# --- webhooks ---------------------------------------------------------------------------------------------------------

DENIAL = 'admission webhook "drain.example.com" denied the request: '


@pytest.mark.parametrize("code", [400, 403, 409, 422, 500])
def test_a_webhook_denies_with_whatever_code_it_likes(code: int) -> None:
    reply = refusal(code, DENIAL + "the pod will restart by itself")
    assert of_eviction(reply) == Denied(f"{code}: {DENIAL}the pod will restart by itself", by_webhook=True)
    assert of_delete(reply) == of_write(reply) == of_eviction(reply)


def test_a_webhook_that_does_not_know_todays_evictions_denies_them() -> None:
    """C35: its words are kept, and nothing else is tried in its place."""
    reply = refusal(400, DENIAL + 'no kind "Eviction" is registered for version "policy/v1"')
    assert of_eviction(reply) == Denied(reply.text(), by_webhook=True)


def test_a_webhook_that_says_not_now_is_asked_again() -> None:
    reply = refusal(429, DENIAL + "a migration is under way", retryAfterSeconds=7)
    assert of_eviction(reply) == Busy(reply.text(), 7.0, Trouble.WEBHOOK)


def test_a_webhook_that_was_too_slow_is_told_by_that_name_and_one_that_refused_the_connection_is_not() -> None:
    called = (
        'Internal error occurred: failed calling webhook "w": failed to call webhook: Post "https://w/?timeout=2s": '
    )
    slow, away = refusal(500, called + "context deadline exceeded"), refusal(500, called + "connection refused")
    assert of_eviction(slow) == Busy(f"webhook timeout: {slow.text()}", trouble=Trouble.WEBHOOK)
    assert of_eviction(away) == Busy(away.text(), trouble=Trouble.WEBHOOK)


# --- other steps ------------------------------------------------------------------------------------------------------


def test_a_page_of_a_proxys_is_cut_to_one_line() -> None:
    answer = of_eviction(Reply(502, b"<html>\n" + b"  x\n" * 2000))
    assert isinstance(answer, Unknown)
    assert answer.message.startswith("502: <html> x x")
    assert len(answer.message) < 510


def test_a_change_of_a_node_is_answered_by_the_same_rules() -> None:
    assert of_write(Reply(200, b"{}")) == Accepted()
    assert of_write(refusal(404, 'nodes "n" not found', kind="nodes", name="n")) == Gone()
    assert of_write(refusal(403, 'nodes "n" is forbidden', kind="nodes")) == Denied('403: nodes "n" is forbidden')


def test_a_deletion_is_answered_by_the_same_rules_and_has_no_budget() -> None:
    assert of_delete(Reply(200, b"{}")) == Accepted()
    assert of_delete(refusal(409, "Precondition failed: UID in precondition: a, UID in object meta: b")) == Namesake()
    text = "the UID in the precondition (a) does not match the UID in record (b). The object might have been deleted"
    assert of_delete(refusal(409, f'Operation cannot be fulfilled on Pod "p": {text}')) == Namesake()
    assert of_delete(refusal(404, 'pods "p" not found', kind="pods", name="p")) == Gone()
    assert of_delete(refusal(403, 'pods "p" is forbidden', kind="pods")) == Denied('403: pods "p" is forbidden')

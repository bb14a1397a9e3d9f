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
    Unknown,
)
from hangar.operator.cluster.kubernetes.answers import Reply, of_eviction, of_write
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
    assert of_eviction(Reply(429, b"Too many requests", 1.0)) == Busy("429: Too many requests", 1.0)
    assert of_eviction(refusal(429, "slow down", reason="TooManyRequests", retryAfterSeconds=3)) == Busy(
        "429: slow down", 3.0
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (refusal(404, 'pods "p" not found', kind="pods", name="p"), Gone()),
        (refusal(404, 'namespaces "n" not found', kind="namespaces", name="n"), Gone()),
        (Reply(404, b"404 page not found"), Busy("404: 404 page not found")),
        (refusal(409, "Precondition failed: UID in precondition: a, UID in object meta: b"), Namesake()),
        (refusal(409, "the object has been modified"), Busy("409: the object has been modified")),
        (refusal(403, "terminating", causes=cause("NamespaceTerminating")), Busy("403: terminating")),
        (
            refusal(403, "pdb disruptions allowed is negative", kind="poddisruptionbudget", name="web"),
            Busy("403: pdb disruptions allowed is negative"),
        ),
        (refusal(403, 'pods "p" is forbidden', kind="pods"), Denied('403: pods "p" is forbidden')),
        (refusal(400, "name in URL does not match"), Denied("400: name in URL does not match")),
        (refusal(422, "not a grace period"), Denied("422: not a grace period")),
        (refusal(401, "Unauthorized"), Busy("401: Unauthorized")),
        (
            refusal(500, "This pod has more than one PodDisruptionBudget, which the eviction subresource..."),
            SeveralBudgets("500: This pod has more than one PodDisruptionBudget, which the eviction subresource..."),
        ),
        (
            refusal(500, 'Internal error occurred: failed calling webhook "w": timeout'),
            Busy('500: Internal error occurred: failed calling webhook "w": timeout'),
        ),
        (refusal(500, "etcdserver: request timed out"), Unknown("500: etcdserver: request timed out")),
        (refusal(503, "shutting down", reason="ServiceUnavailable"), Busy("503: shutting down")),
        (Reply(503, b"<html>no backend</html>"), Unknown("503: <html>no backend</html>")),
        (refusal(504, "Timeout"), Unknown("504: Timeout")),
        (Reply(502, b""), Unknown("502: no reason given")),
        (Reply(302, b"log in first"), Unknown("302: log in first")),
    ],
)
def test_refusals_are_told_apart_by_their_causes(reply: Reply, expected: Answer) -> None:
    assert of_eviction(reply) == expected


def test_a_page_of_a_proxys_is_cut_to_one_line() -> None:
    answer = of_eviction(Reply(502, b"<html>\n" + b"  x\n" * 2000))
    assert isinstance(answer, Unknown)
    assert answer.message.startswith("502: <html> x x")
    assert len(answer.message) < 510


def test_a_change_of_a_node_is_answered_by_the_same_rules() -> None:
    assert of_write(Reply(200, b"{}")) == Accepted()
    assert of_write(refusal(404, 'nodes "n" not found', kind="nodes", name="n")) == Gone()
    assert of_write(refusal(403, 'nodes "n" is forbidden', kind="nodes")) == Denied('403: nodes "n" is forbidden')

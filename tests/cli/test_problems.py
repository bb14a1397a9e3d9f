"""Problem documents as people read them: each thing once, and what to do next."""

from typing import Any

import pytest

from hangar.cli.exits import Exit
from hangar.cli.failures import Refused
from hangar.cli.problems import refusal
from hangar.cli.settings import Endpoint
from hangar.wire.problems import FieldError, Problem, ProblemCode

WITH_TOKEN = Endpoint("https://hub", source="HGR_SERVER", token="t", token_source="HGR_TOKEN")


def refused(problem: Problem, endpoint: Endpoint = WITH_TOKEN, retry_after: str | None = None) -> Refused:
    return refusal(problem.code.status, problem.document(), retry_after, endpoint)


@pytest.mark.parametrize("code", list(ProblemCode))
def test_every_code_of_the_api_has_an_exit_code_of_the_reference(code: ProblemCode) -> None:
    expected = {
        **dict.fromkeys((400, 405, 413, 415, 422), Exit.USAGE),
        401: Exit.REFUSED,
        403: Exit.REFUSED,
        404: Exit.NOT_FOUND,
        409: Exit.CONFLICT,
        412: Exit.CONFLICT,
        429: Exit.UNREACHABLE,
        500: Exit.UNEXPECTED,
        503: Exit.UNREACHABLE,
    }
    assert refused(Problem(code, "why")).code is expected[code.status]


def test_each_field_error_has_its_own_line() -> None:
    errors = (FieldError("params.deadline_s", "must be at least 1"), FieldError("params.x", "there is no such field"))
    failure = refused(Problem(ProblemCode.INVALID_VALUE, "two values are wrong", errors))
    assert failure.message == "two values are wrong"
    assert failure.details == ("--deadline: must be at least 1", "--x: there is no such field")


def test_a_detail_that_only_repeats_the_errors_is_said_once() -> None:
    errors = (FieldError("a", "is missing"), FieldError("b", "is missing"))
    failure = refused(Problem(ProblemCode.INVALID_VALUE, "a: is missing; b: is missing", errors))
    assert failure.message == "A value is not valid"
    assert failure.details == ("a: is missing", "b: is missing")


@pytest.mark.parametrize(("path", "said"), [("query.phase", "--phase"), ("", "the body"), ("target", "TARGET")])
def test_a_single_error_is_the_message(path: str, said: str) -> None:
    problem = Problem(ProblemCode.INVALID_VALUE, f"{path or 'the body'}: is wrong", (FieldError(path, "is wrong"),))
    assert (refused(problem).message, refused(problem).details) == (f"{said}: is wrong", ())


def test_an_error_that_the_detail_already_tells_is_not_repeated() -> None:
    errors = (FieldError("target", "there is no node n9"),)
    assert refused(Problem(ProblemCode.NOT_FOUND, "there is no node n9 in the fleet", errors)).details == ()


def test_candidates_and_the_conflicting_operation_are_hints_where_the_detail_lacks_them() -> None:
    holder = {"id": "op_1", "type": "node.drain", "target": "n1", "phase": "running", "created_by": "ann"}
    context: dict[str, Any] = {"conflicting_operation": holder, "candidates": ["a/n1", "b/n1"]}
    failure = refused(Problem(ProblemCode.CONFLICT, "held", context=context))
    assert failure.hints == (
        "conflicting operation: op_1 (node.drain n1 running, asked for by ann); see it: hgr operation get op_1",
        "candidates: a/n1, b/n1",
    )
    assert refused(Problem(ProblemCode.CONFLICT, "op_1 holds it; a/n1 or b/n1?", context=context)).hints == ()


def test_a_refused_token_is_told_by_where_it_came_from() -> None:
    problem = Problem(ProblemCode.UNAUTHENTICATED, "who are you?")
    assert "HGR_TOKEN;" in refused(problem).hints[0]
    assert "no token was sent" in refused(problem, Endpoint("https://hub", source="x", token=None)).hints[0]


def test_a_busy_hub_says_when_to_come_back() -> None:
    failure = refused(Problem(ProblemCode.BUSY, "busy"), retry_after="3")
    assert (failure.retry_after_s, failure.is_passing) == (3.0, True)
    assert failure.hints == ("the hub asks to try again in 3 s",)


def test_control_characters_of_a_problem_are_escaped() -> None:
    errors = (FieldError("a", "\x1b[2J"),)
    failure = refused(Problem(ProblemCode.INVALID_VALUE, "\x1b[2J why", errors, {"candidates": ["\x1b"]}))
    assert all("\x1b" not in text for text in (failure.message, *failure.details, *failure.hints))

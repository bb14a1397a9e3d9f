"""Page tokens: good for one list with its filters, and for nothing else."""

import pytest

from hangar.hub.usecases.paging import check_choice, next_token, position, raise_filters
from hangar.wire.problems import FieldError, Problem, ProblemCode

FILTERS = {"type": "node.drain", "cluster": None}


def test_a_token_brings_back_the_key_it_was_made_of() -> None:
    token = next_token("nodes", FILTERS, ["iad-1", "n/1 ü"])
    assert position("nodes", FILTERS, token, key_parts=2) == ["iad-1", "n/1 ü"]
    assert position("nodes", FILTERS, None, key_parts=2) is None
    assert token.isascii()
    assert "=" not in token


@pytest.mark.parametrize(
    ("listing", "filters", "key_parts"),
    [("devices", FILTERS, 2), ("nodes", FILTERS | {"cluster": "iad-1"}, 2), ("nodes", {}, 2), ("nodes", FILTERS, 3)],
)
def test_a_token_of_another_list_is_refused(listing: str, filters: dict[str, str | None], key_parts: int) -> None:
    token = next_token("nodes", FILTERS, ["iad-1", "n01"])
    with pytest.raises(Problem) as caught:
        position(listing, filters, token, key_parts)
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN
    assert caught.value.errors[0].path == "query.page_token"


@pytest.mark.parametrize("token", ["", "!", "AAAA", "bm90IGpzb24", "W10", "WyJhIiwgWzFdXQ", "é"])
def test_a_token_that_no_page_gave_out_is_refused(token: str) -> None:
    with pytest.raises(Problem) as caught:
        position("nodes", FILTERS, token, key_parts=2)
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_a_token_with_what_no_name_can_have_is_refused() -> None:
    token = next_token("nodes", FILTERS, ["iad-1", "n\x0001"])
    with pytest.raises(Problem) as caught:
        position("nodes", FILTERS, token, key_parts=2)
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_wrong_filters_are_gathered_and_raised_together() -> None:
    errors: list[FieldError] = []
    check_choice(errors, "phase", "done", ("pending", "running"))
    check_choice(errors, "type", None, ("node.drain",))
    check_choice(errors, "type", "node.drain", ("node.drain",))
    raise_filters([])
    with pytest.raises(Problem) as caught:
        raise_filters(errors)
    assert [each.message for each in caught.value.errors] == ["'done' is no phase: there are pending, running"]

"""Blockers: each has its sentence, and an unchanged world gives an unchanged text."""

from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.blockers import SENTENCES, blocker, in_order, listed, sentence
from hangar.domain.limits import NAMED_MAX


def facts_of(code: str) -> dict[str, str]:
    return {name: f"<{name}>" for _, name, _, _ in Formatter().parse(SENTENCES[code]) if name and name != "subject"}


@pytest.mark.parametrize("code", SENTENCES)
def test_every_blocker_makes_a_sentence_of_its_facts(code: str) -> None:
    facts = facts_of(code)
    said = sentence(blocker(code, "default/a", **facts))
    assert "default/a" in said or code == "in_flight", "whose subject is the operation itself"
    assert all(fact in said for fact in facts.values())


@pytest.mark.parametrize("code", [code for code in SENTENCES if facts_of(code)])
def test_no_blocker_can_be_made_without_what_its_sentence_names(code: str) -> None:
    with pytest.raises(ValueError, match=f"a blocker {code} needs the facts"):
        blocker(code, "default/a")


def test_facts_beyond_the_sentence_are_kept_in_their_order() -> None:
    assert list(blocker("landing", "default/a", since="noon", by="alice").facts) == ["by", "since"]


def test_what_looks_like_a_place_for_a_fact_is_left_as_it_is() -> None:
    told = sentence(blocker("retry", "default/a", trouble="conflict", why="bad {json}"))
    assert told == "default/a is tried again (conflict): bad {json}"


@given(st.permutations([("retry", "b"), ("retry", "a"), ("in_flight", "z")]))
def test_blockers_come_in_one_order(shuffled: list[tuple[str, str]]) -> None:
    blockers = tuple(blocker(code, name, **facts_of(code)) for code, name in shuffled)
    assert [(each.code, each.subject) for each in in_order(blockers)] == [
        ("in_flight", "z"),
        ("retry", "a"),
        ("retry", "b"),
    ]


def test_a_long_list_is_cut_and_says_how_many_more_there_are() -> None:
    many = [str(number) for number in range(NAMED_MAX + 2)]
    assert listed(many[:NAMED_MAX]) == "0; 1; 2; 3; 4; 5; 6; 7; 8; 9"
    assert listed(many) == "0; 1; 2; 3; 4; 5; 6; 7; 8; 9; and 2 more"
    assert listed([]) == ""

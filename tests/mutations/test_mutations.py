"""The mutations fit the product as it is, and the way they are run finds what survives."""

from dataclasses import replace

import pytest

from tests.mutations.catalogue import MUTATIONS, Mutation
from tests.mutations.running import mutated, survives
from tests.tidy.tree import ROOT
from tools.reference.cases import shown

BY_CASE = {each.case: each for each in MUTATIONS}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.case)
def test_it_takes_out_what_is_there_and_leaves_a_program(mutation: Mutation) -> None:
    text = (ROOT / "src/hangar" / mutation.file).read_text(encoding="utf-8")
    compile(mutated(mutation, text), mutation.file, "exec")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.case)
def test_the_test_that_has_to_notice_names_the_case(mutation: Mutation) -> None:
    path, _, name = mutation.test.partition("::")
    assert (f"tests/{path}", name) in {(each.path, each.test) for each in shown()[mutation.case]}


def test_there_are_many_and_no_case_twice() -> None:
    assert len(BY_CASE) == len(MUTATIONS) >= 20


@pytest.mark.parametrize("case", ["C18", "C61"])
def test_a_fix_that_is_missing_is_noticed(case: str) -> None:
    assert not survives(BY_CASE[case])


def test_a_mutation_that_changes_nothing_survives() -> None:
    assert survives(replace(BY_CASE["C18"], after=BY_CASE["C18"].before))


def test_a_text_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 times, not once"):
        mutated(replace(BY_CASE["C18"], before="no such line"), "")

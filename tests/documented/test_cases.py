"""Every case of drains gone wrong elsewhere has a test that names it, or a reason why it has none."""

import ast
import re

import pytest

from tests.documented.pages import read
from tests.tidy.tree import modules
from tools.reference.cases import NAMED, Case, cases, named_in, shown

NUMBER = re.compile(r"\bC\d\d\b")
THREAD = re.compile(r"[\w.-]+/[\w.-]+#\d+")


@pytest.mark.parametrize("case", [each for each in cases() if not each.out_of_scope], ids=lambda case: case.name)
def test_a_case_in_scope_is_shown_by_a_test(case: Case) -> None:
    assert shown().get(case.name), f"no test names {case.name}: {case.symptom}"


def test_what_a_test_names_is_a_case() -> None:
    assert shown().keys() - {each.name for each in cases()} == set()


def test_a_test_names_its_cases_in_the_first_words_of_its_docstring() -> None:
    wrong = []
    for module in modules():
        if module.is_test:
            for node in ast.walk(module.syntax):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                    docstring = ast.get_docstring(node) or ""
                    named = NAMED.match(docstring)
                    rest = docstring[named.end() :] if named is not None else docstring
                    if NUMBER.search(rest):
                        wrong.append(f"{module.path}: {node.name}")
    assert wrong == []


def test_a_case_says_where_it_was_seen_and_what_is_right() -> None:
    for case in cases():
        assert NUMBER.fullmatch(case.name)
        assert case.seen_in
        assert all(THREAD.fullmatch(each) for each in case.seen_in)
        assert all(text.endswith(".") for text in (case.symptom, case.outcome))
        assert not case.part.endswith(".")
    names = [case.name for case in cases()]
    assert names == sorted(set(names))


def test_the_page_lists_every_case_once() -> None:
    page = read("docs/reference/cases.md")
    listed = re.findall(r"^\| (C\d\d) ", page, flags=re.MULTILINE)
    assert sorted(listed) == [case.name for case in cases()]


def test_a_name_is_read_from_tests_and_scenes_alone() -> None:
    text = '''
def test_a():
    """C01, C02: words."""
@scene
async def b():
    """C03."""
def helper():
    """C04: words."""
def test_c():
    """Words, and then C05: no."""
'''
    assert dict(named_in(ast.parse(text))) == {"test_a": ["C01", "C02"], "b": ["C03"]}

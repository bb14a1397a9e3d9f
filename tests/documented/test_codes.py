"""Every code that an operation can end with or wait for is explained, and every explained one can be met."""

import ast
import re

import pytest

from hangar.domain.blockers import SENTENCES
from tests.documented.pages import read
from tests.tidy.tree import texts
from tools.reference.sources import REASONS, RESULTS, UnseenCodeError, codes_in, literal_codes

HOW_TO = "docs/how-to/when-a-drain-waits-or-fails.md"
HEADING = re.compile(r"^### `(\w+)`$", re.MULTILINE)


def found_in(text: str) -> list[str]:
    return list(codes_in({"x.py": ast.parse(text)}))


def test_every_code_has_its_paragraph_and_no_other_has() -> None:
    codes = {*literal_codes(RESULTS), *literal_codes(REASONS), *SENTENCES}
    explained = HEADING.findall(read(HOW_TO))
    assert sorted(explained) == sorted(set(explained))
    assert codes - set(explained) == set(), "explain them: what it means, what to do"
    assert set(explained) - codes == set(), "nothing makes these"


def test_every_blocker_is_one_that_something_waits_for() -> None:
    product = "\n".join(
        text for path, text in texts().items() if path.startswith("src/") and not path.endswith("domain/blockers.py")
    )
    assert [code for code in SENTENCES if f'"{code}"' not in product] == []


def test_a_code_is_found_wherever_it_is_given() -> None:
    text = """
class Fail:
    code: str
    message: str
def end(phase, code): ...
def f(why):
    Fail("one", "")
    end(1, code="two")
    end(1, "three" if why else "four")
    code = "five" if why else "six"
    Fail(code, "")
    end(1, why.code)
ALWAYS = Fail("seven", "")
"""
    assert found_in(text) == ["five", "four", "one", "seven", "six", "three", "two"]


@pytest.mark.parametrize("given", ["CODES[why]", "code_of(why)", "WHY", "f'{why}'"])
def test_a_code_that_cannot_be_seen_is_an_error(given: str) -> None:
    with pytest.raises(UnseenCodeError, match="is no literal"):
        found_in(f"class Fail:\n    code: str\ndef f(why):\n    Fail({given})")


def test_what_has_a_code_of_another_sort_is_left_alone() -> None:
    assert found_in("def blocker(code): ...\ndef f():\n    blocker('spent')\n    g('x')") == []

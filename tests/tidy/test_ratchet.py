"""The ratchet turns one way: nothing new, nothing larger, and nothing that has been mended."""

from tests.tidy.__main__ import lowered
from tests.tidy.finding import Finding
from tests.tidy.ratchet import judge


def a_finding(key: str, amount: int = 1) -> Finding:
    return Finding("a.py", 7, "it is wrong", key, amount)


def test_a_finding_without_an_exception_is_a_breach() -> None:
    assert judge([a_finding("a")], {}).breaches == ("a.py:7: it is wrong",)


def test_an_exception_covers_as_much_as_it_says_and_no_more() -> None:
    assert judge([a_finding("a", 60)], {"a": 60}).breaches == ()
    assert judge([a_finding("a", 61)], {"a": 60}).breaches == ("a.py:7: it is wrong",)
    assert len(judge([a_finding("a"), a_finding("a")], {"a": 1}).breaches) == 2


def test_an_exception_that_is_larger_than_needed_has_to_shrink() -> None:
    assert judge([a_finding("a", 55)], {"a": 60}).outlived == ("a: lower it from 60 to 55",)
    assert judge([], {"a": 60}).outlived == ("a: nothing needs it any more; remove it",)


def test_a_pattern_covers_all_that_it_matches_while_it_matches_any() -> None:
    pattern = {"hangar.hub.*": "until its root is there"}
    assert judge([a_finding("hangar.hub.x"), a_finding("hangar.hub.y")], pattern).breaches == ()
    assert judge([a_finding("hangar.cli.x")], pattern).breaches == ("a.py:7: it is wrong",)
    assert judge([], pattern).outlived == ("hangar.hub.*: nothing needs it any more; remove it",)


def test_lowering_never_raises_and_never_adds() -> None:
    findings = [a_finding("smaller", 3), a_finding("larger", 9), a_finding("new"), a_finding("p.x")]
    before: dict[str, int | str] = {"smaller": 5, "larger": 8, "mended": 1, "p.*": "why", "q.*": "why"}
    assert lowered(before, findings) == {"smaller": 3, "larger": 8, "p.*": "why"}

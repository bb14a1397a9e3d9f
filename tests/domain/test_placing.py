"""What pods demand of nodes: the conditions by themselves."""

import pytest

from hangar.domain.placing import Requirement, SelectorOp


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        (SelectorOp.IN, {"a", "b"}, [True, False, False]),
        (SelectorOp.NOT_IN, {"a", "b"}, [False, True, True]),
        (SelectorOp.EXISTS, set(), [True, True, False]),
        (SelectorOp.DOES_NOT_EXIST, set(), [False, False, True]),
    ],
)
def test_a_selector_follows_kubernetes(op: SelectorOp, values: set[str], expected: list[bool]) -> None:
    requirement = Requirement("tier", op, frozenset(values))
    assert [requirement.matches(labels) for labels in ({"tier": "a"}, {"tier": "c"}, {})] == expected

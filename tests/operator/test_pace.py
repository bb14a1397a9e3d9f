"""The operator's own bound on evictions a minute."""

from hangar.operator.pace import Pace
from tests.domain.building import NOON, at


def test_what_was_decided_within_a_minute_counts_and_then_no_more() -> None:
    pace = Pace()
    assert pace.left(3, NOON) == (3, None)
    pace.decided(2, NOON)
    pace.decided(1, at(20))
    assert pace.left(3, at(59)) == (0, at(60))
    assert pace.left(3, at(60)) == (2, at(80))
    assert pace.left(3, at(80)) == (3, None)

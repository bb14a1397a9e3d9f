"""The operator's own bound on evictions a minute."""

from hangar.domain.view import StepKey, StepName
from hangar.operator.pace import Pace
from tests.domain.building import NOON, OP, at


def key(pod: str) -> StepKey:
    return StepKey(OP, StepName.EVICT, pod)


def test_an_eviction_counts_until_a_minute_after_its_answer() -> None:
    pace = Pace()
    assert pace.left(3, NOON) == (3, None)
    pace.decided([key("a"), key("b")])
    pace.answered(key("a"), NOON)
    pace.decided([key("c")])
    pace.answered(key("c"), at(20))
    assert pace.left(3, at(59)) == (0, at(60))
    assert pace.left(3, at(60)) == (1, at(80))
    assert pace.left(3, at(80)) == (2, None), "b is still under way, and may leave yet"
    pace.answered(key("b"), at(100))
    assert pace.left(3, at(159)) == (2, at(160))
    assert pace.left(3, at(160)) == (3, None)


def test_what_is_dropped_before_it_leaves_and_what_is_no_eviction_counts_for_nothing() -> None:
    pace = Pace()
    pace.decided([key("a")])
    pace.dropped(key("a"))
    pace.answered(key("a"), NOON)
    pace.answered(StepKey(OP, StepName.CORDON, "n1"), NOON)
    assert pace.left(1, NOON) == (1, None)

"""Decisions: none waits in silence, and every step has its subject."""

from typing import Any, get_args

import pytest

from hangar.domain.blockers import blocker
from hangar.domain.decision import Cordon, Evict, Go, Progress, Step, Uncordon, Unmark, subject
from hangar.domain.ids import NodeName, NodeUid
from hangar.domain.view import StepName
from tests.domain.building import NOON, a_mark, a_ref

NOTHING = Progress(0, 1, "pods", "waiting")
NODE = (NodeName("n1"), NodeUid("n1-uid"))


def test_a_decision_to_go_on_says_what_it_does_or_waits_for() -> None:
    with pytest.raises(ValueError, match="needs a step, a blocker or a time to look again"):
        Go("memory", NOTHING)


@pytest.mark.parametrize(
    "fields",
    [{"steps": (Evict(a_ref("a")),)}, {"blockers": (blocker("landing", "default/a"),)}, {"recheck_at": NOON}],
    ids=["a step", "a blocker", "a time"],
)
def test_any_one_of_them_is_enough(fields: dict[str, Any]) -> None:
    assert Go("memory", NOTHING, **fields).memory == "memory"


@pytest.mark.parametrize(
    ("step", "uid"),
    [
        (Evict(a_ref("a", uid="a-uid")), "a-uid"),
        (Cordon(*NODE, a_mark()), "n1-uid"),
        (Uncordon(*NODE), "n1-uid"),
        (Unmark(*NODE), "n1-uid"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_steps_subject_is_the_uid_of_what_it_acts_on(step: Step, uid: str) -> None:
    assert subject(step) == uid


def test_every_step_has_a_name_to_be_kept_under() -> None:
    assert {each.__name__ for each in get_args(Step)} == {each.value for each in StepName}

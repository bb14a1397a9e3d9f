"""Faults planted into the product that a test shows by name: small ones, which a whole fleet would seldom meet."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

import hangar.domain.drain.memory
import hangar.domain.drain.moves
import hangar.domain.drain.waits
import hangar.kinds.node_drain
from hangar.domain.decision import Busy, Gone, Namesake
from hangar.domain.view import StepKey, StepName
from hangar.operator.cluster.kubernetes import answers
from hangar.operator.cluster.kubernetes.api import Api
from hangar.operator.conductor import Conductor
from tests.domain.drain.test_memory import test_an_answer_to_an_earlier_try_says_nothing_of_this_one
from tests.domain.drain.test_moves import test_what_the_cluster_says_is_gone_is_gone_before_it_is_seen
from tests.domain.drain.test_pacing import test_the_younger_of_two_drains_that_cross_evicts_nothing
from tests.kinds.test_node_drain_ends import (
    test_a_node_that_came_back_as_another_with_its_pods_is_left_alone_and_that_is_said,
)
from tests.operator.cluster.kubernetes.test_adapter import (
    test_an_eviction_names_the_uid_and_no_grace_unless_it_was_asked_for,
)
from tests.operator.cluster.kubernetes.test_answers import test_refusals_are_told_apart_by_their_causes
from tests.operator.test_conductor import test_a_deadline_counts_from_the_start_and_follows_what_the_hub_says

Plant = Callable[[pytest.MonkeyPatch], None]
Test = Callable[[], None]


def uid_is_not_sent(patch: pytest.MonkeyPatch) -> None:
    """An eviction is of whatever pod has the name by then."""
    real = Api.call

    async def call(self: Api, method: str, path: str, *, body: Any = None, **rest: Any) -> Any:
        if isinstance(body, dict) and "deleteOptions" in body:
            options = {key: each for key, each in body["deleteOptions"].items() if key != "preconditions"}
            body = {**body, "deleteOptions": options}
        return await real(self, method, path, body=body, **rest)

    patch.setattr(Api, "call", call)


def namesake_is_a_conflict(patch: pytest.MonkeyPatch) -> None:
    """That the name belongs to another pod by now is taken for trouble that passes."""
    patch.setattr(answers, "Namesake", lambda: Busy("conflict"))


def namesake_is_not_gone(patch: pytest.MonkeyPatch) -> None:
    """A pod whose name another one has is waited for until its end is seen."""

    def known_gone(uid: Any, operation: Any, view: Any) -> bool:
        answered = view.answers.get(StepKey(operation, StepName.EVICT, uid))
        return answered is not None and isinstance(answered.answer, Gone)

    patch.setattr(hangar.domain.drain.moves, "_is_known_gone", known_gone)


def stale_answer_is_used(patch: pytest.MonkeyPatch) -> None:
    """The answer to an earlier try is taken for that to the present one."""
    real = hangar.domain.drain.memory._without_refused

    def hasty(tracked: Any, operation: Any, view: Any) -> Any:
        late = {key: replace(each, at=each.at.max.replace(tzinfo=each.at.tzinfo)) for key, each in view.answers.items()}
        return real(tracked, operation, replace(view, answers=late))

    patch.setattr("hangar.domain.drain.memory._without_refused", hasty)


def crossed_drains_both_go_on(patch: pytest.MonkeyPatch) -> None:
    """Nobody notices that two drains wait for each other's budgets."""
    patch.setattr("hangar.domain.drain.pacing.crossed_by", lambda operation, view: None)


def deadline_begins_anew_after_a_restart(patch: pytest.MonkeyPatch) -> None:
    """What is left until the deadline is not heard: each restart gives an operation its whole time again."""
    real = Conductor.heard

    def heard(self: Any, answer: Any, sent_at: Any) -> None:
        jobs = [structs.replace(doc, remaining_s=None) for doc in answer.jobs]
        real(self, structs.replace(answer, jobs=jobs), sent_at)

    patch.setattr(Conductor, "heard", heard)


def a_lost_nodes_pods_are_waited_for_in_silence(patch: pytest.MonkeyPatch) -> None:
    """Pods of a node that is gone are waited for to the deadline, and nobody is told."""
    real = hangar.domain.drain.waits.not_gone
    patch.setattr(
        hangar.kinds.node_drain, "not_gone", lambda count, node, now: real(replace(count, untouched=()), node, now)
    )
    patch.setattr(hangar.kinds.node_drain, "taken_over", lambda *_: None)
    patch.setattr(hangar.kinds.node_drain, "takeover_at", lambda *_: None)


NAMESAKE = answers.Reply(409, b'{"code": 409, "message": "Precondition failed: UID in precondition: a, UID in object"}')

NAMED: Mapping[str, tuple[Plant, Test]] = {
    plant.__name__: (plant, test)
    for plant, test in (
        (uid_is_not_sent, lambda: test_an_eviction_names_the_uid_and_no_grace_unless_it_was_asked_for(None, {})),
        (namesake_is_a_conflict, lambda: test_refusals_are_told_apart_by_their_causes(NAMESAKE, Namesake())),
        (namesake_is_not_gone, lambda: test_what_the_cluster_says_is_gone_is_gone_before_it_is_seen(Namesake())),
        (stale_answer_is_used, test_an_answer_to_an_earlier_try_says_nothing_of_this_one),
        (crossed_drains_both_go_on, test_the_younger_of_two_drains_that_cross_evicts_nothing),
        (
            a_lost_nodes_pods_are_waited_for_in_silence,
            test_a_node_that_came_back_as_another_with_its_pods_is_left_alone_and_that_is_said,
        ),
        (deadline_begins_anew_after_a_restart, test_a_deadline_counts_from_the_start_and_follows_what_the_hub_says),
    )
}

"""node.drain and what the cluster answers to its steps."""

from datetime import timedelta

import pytest

from hangar.domain.decision import Answer, Busy, Cordon, Denied, Evict, Gone, Namesake, Step, Unknown, Withheld
from hangar.operator.cluster.simulated import api
from hangar.operator.cluster.simulated.world import World
from tests.kinds.draining import codes, drain, rows
from tests.simulation.fleet import a_world, an_app
from tests.simulation.solo import NOON


def test_a_denied_eviction_fails_the_drain_with_the_clusters_words() -> None:
    """C35: there is no silent fall back to a deletion."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))

    def deny(world: World, step: Step) -> Answer:
        return Denied("webhook says no") if isinstance(step, Evict) else api.take(world, step)

    solo, operation = drain(world)
    solo.answer = deny
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "eviction_denied")
    assert "refuses to evict default/api-rs-00000: webhook says no" in result.message
    assert {type(step) for _, _, step, _ in solo.taken} == {Cordon, Evict}


def test_a_denied_cordon_is_fatal() -> None:
    """C36: nothing is evicted from a node that could not be cordoned."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world)
    solo.answer = lambda _, step: Denied("no patch on nodes")
    phase, result = solo.finish(operation)
    assert (phase, result.code) == ("failed", "forbidden")
    assert not solo.evictions()


@pytest.mark.parametrize("trouble", [Busy("conflict"), Withheld("no word from the hub")])
def test_what_did_not_land_is_tried_again_soon(trouble: Answer) -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    answers = iter([trouble, trouble])

    def flaky(world: World, step: Step) -> Answer:
        return next(answers, None) or api.take(world, step) if isinstance(step, Evict) else api.take(world, step)

    solo, operation = drain(world)
    solo.answer = flaky
    assert solo.finish(operation)[0] == "succeeded"
    assert len(solo.evictions()) == 3
    assert world.now < NOON + timedelta(seconds=5)


def test_what_is_withheld_again_and_again_is_decided_in_growing_pauses() -> None:
    """The hub is not heard, say, and yet takes reports: they must not chase each other."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    solo, operation = drain(world)
    solo.answer = lambda world, step: Withheld("silence") if isinstance(step, Evict) else api.take(world, step)
    solo.run(60)
    assert len(solo.evictions()) <= 12
    assert codes(solo, operation) == ["retry"]
    solo.answer = api.take
    assert solo.finish(operation)[0] == "succeeded"


def test_an_eviction_of_unknown_outcome_is_not_sent_again_while_it_may_land() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    answers = iter([Unknown("timed out")])

    def hang(world: World, step: Step) -> Answer:
        return next(answers, None) or api.take(world, step) if isinstance(step, Evict) else api.take(world, step)

    solo, operation = drain(world)
    solo.answer = hang
    solo.run(34)
    assert len(solo.evictions()) == 1
    assert [each.code for each in solo.progress[operation].blockers] == ["landing"]
    assert solo.finish(operation)[0] == "succeeded"
    assert len(solo.evictions()) == 2


def test_an_unknown_outcome_that_is_known_late_counts_from_when_it_was_known() -> None:
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))
    answers = iter([Unknown("timed out")])

    def hang(world: World, step: Step) -> Answer:
        answer = next(answers, None) if isinstance(step, Evict) else None
        if answer is not None:
            world.advance(world.now + timedelta(seconds=8))
        return answer or api.take(world, step)

    solo, operation = drain(world)
    solo.answer = hang
    assert solo.finish(operation)[0] == "succeeded"
    (_, second) = [at for at, _, _ in solo.evictions()]
    assert second == NOON + timedelta(seconds=8 + 35)


@pytest.mark.parametrize("answer", [Gone(), Namesake()], ids=repr)
def test_a_pod_that_left_before_its_eviction_is_not_counted_as_evicted(answer: Answer) -> None:
    """C01, C11: a name that is free or taken by another is done for this UID."""
    world = a_world()
    world.add_workload(an_app(1, on=("n1",)))

    def too_late(world: World, step: Step) -> Answer:
        if isinstance(step, Evict):
            world.remove_pod(step.pod.uid)
            return answer
        return api.take(world, step)

    solo, operation = drain(world)
    solo.answer = too_late
    assert solo.finish(operation)[1].message == "evicted_replicas=0"
    assert rows(solo, operation, "left") == ["default/api-rs-00000"]

"""The right to act for a cluster: who gets it, who waits, and whose writes no longer count."""

import pytest

from hangar.hub.usecases.rules import Rules
from hangar.wire.operator import SessionGrant
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import NOON_US, Operator, World


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


def standby(operator: Operator) -> Problem:
    answer = operator.apply()
    assert isinstance(answer, Problem)
    assert answer.code is ProblemCode.STANDBY
    return answer


def test_a_grant_carries_the_times_that_the_hub_goes_by(world: World) -> None:
    assert Operator(world, "iad-1").apply() == SessionGrant(
        session="ses_iad-1_1", epoch=1, lease_s=15.0, stop_after_s=10.0, sync_wait_s=3.0
    )
    assert world.events("cluster") == ["cluster.added", "cluster.online"]


def test_another_protocol_is_refused(world: World) -> None:
    with pytest.raises(Problem) as caught:
        Operator(world, "iad-1", protocol=2).apply()
    assert caught.value.errors[0].path == "protocol"


def test_a_cluster_is_pinned_by_the_uid_of_its_first_session(world: World) -> None:
    first = Operator(world, "iad-1")
    first.open()
    first.release()
    with pytest.raises(Problem) as caught:
        Operator(world, "iad-1", cluster_uid="another").apply()
    assert caught.value.code is ProblemCode.WRONG_CLUSTER


def test_one_cluster_is_not_operated_under_two_names_at_a_time(world: World) -> None:
    first = Operator(world, "iad-1")
    first.open()
    world.add_cluster("iad-one")
    second = Operator(world, "iad-one", cluster_uid="uid-iad-1", incarnation="second")
    with pytest.raises(Problem) as caught:
        second.apply()
    assert caught.value.code is ProblemCode.WRONG_CLUSTER
    assert "under the name iad-1 already" in caught.value.detail
    first.release()
    second.open()


def test_a_second_operator_stands_by_and_is_one_event_however_often_it_asks(world: World) -> None:
    Operator(world, "iad-1").open()
    second = Operator(world, "iad-1", incarnation="second")
    problem = standby(second)
    assert problem.context["holder"]["incarnation"] == "first"
    assert (problem.context["free_in_s"], problem.retry_after_s) == (20, 2)
    standby(second)
    standby(Operator(world, "iad-1", incarnation="third"))
    standby(second)
    assert world.events("cluster.standby") == ["cluster.standby"] * 2


@pytest.mark.parametrize(("silent_s", "is_granted"), [(15, False), (19.9, False), (20, True)])
def test_a_silent_holder_loses_the_cluster_after_lease_and_margin(
    world: World, silent_s: float, is_granted: bool
) -> None:
    """C77: what a dead operator held is free in time."""
    Operator(world, "iad-1").open()
    world.pass_s(silent_s)
    assert isinstance(Operator(world, "iad-1", incarnation="second").apply(), SessionGrant) is is_granted


def test_the_same_incarnation_may_open_anew_at_any_time_and_fences_its_older_session(world: World) -> None:
    first = Operator(world, "iad-1")
    first.open()
    older = first.grant
    first.open()
    assert first.grant.epoch == 2
    first.grant = older
    with pytest.raises(Problem) as caught:
        first.sync()
    assert caught.value.code is ProblemCode.FENCED


def test_after_a_hub_start_nobody_is_replaced_before_two_leases_unless_they_signed_off() -> None:
    world = World(hub_started_us=NOON_US)
    world.add_cluster()
    first = Operator(world, "iad-1")
    first.open()
    world.rules = Rules(catalogue=world.rules.catalogue, hub_started_us=NOON_US + 60_000_000)
    world.pass_s(60 + 29.9)
    second = Operator(world, "iad-1", incarnation="second")
    assert standby(second).context["free_in_s"] == 1
    first.release()
    second.open()

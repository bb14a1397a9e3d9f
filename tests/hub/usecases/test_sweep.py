"""What time alone decides: silence, operations that nobody takes, and those whose operator was lost."""

import msgspec
import pytest

from hangar.domain.limits import RIVAL_WATCH_S
from hangar.wire import shown
from hangar.wire.operator import RivalDoc
from tests.hub.sites import Fleet
from tests.hub.world import NOON_US, Operator, World, a_progress, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    an_operator(made)
    return made


@pytest.fixture
def operator(world: World) -> Operator:
    made = Operator(world, "iad-1")
    made.open()
    return made


def result_of(world: World, id_: str) -> shown.Result:
    result = world.get(id_).result
    assert result is not None
    return result


def test_what_nobody_takes_fails_after_ten_minutes_and_says_whose_operator_was_away(
    world: World, operator: Operator
) -> None:
    id_ = world.create()
    world.pass_s(599.9)
    assert world.get(id_).phase == "pending"
    world.pass_s(0.1)
    assert world.get(id_).phase == "failed"
    assert "no operator of iad-1 took it within 600 s" in result_of(world, id_).message
    assert "silent for 600 s, since 2026-11-18T11:06:40.000Z" in result_of(world, id_).message
    assert (result_of(world, id_).attempts, result_of(world, id_).duration) == (0, "600s")


def test_how_long_it_waits_for_an_operator_is_a_setting() -> None:
    world = World(pending_timeout_s=5.0)
    world.add_cluster()
    an_operator(world)
    world.pass_s(60)
    id_ = world.create()
    reason = world.get(id_).status_reason
    assert reason is not None
    assert "the operator of iad-1 is not connected; last heard at 2026-11-18T11:06:40.000Z" in reason.message
    world.pass_s(5)
    assert world.get(id_).phase == "failed"
    assert "no operator of iad-1 took it within 5 s" in result_of(world, id_).message
    assert result_of(world, id_).message.endswith("Nothing was done.")


def test_the_ten_minutes_count_from_the_operators_last_word(world: World, operator: Operator) -> None:
    id_ = world.create()
    world.pass_s(500)
    operator.sync()
    world.pass_s(599)
    assert world.get(id_).phase == "pending"
    world.pass_s(1)
    assert world.get(id_).phase == "failed"


def test_an_operation_asked_for_during_the_silence_has_its_own_ten_minutes(world: World, operator: Operator) -> None:
    world.pass_s(3600)
    id_ = world.create()
    reason = world.get(id_).status_reason
    assert reason is not None
    assert reason.code == "operator_silent"
    world.pass_s(599)
    assert world.get(id_).phase == "pending"
    world.pass_s(1)
    assert world.get(id_).phase == "failed"


def test_a_running_operation_waits_for_its_operators_return(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_)
    world.pass_s(3000)
    reason = world.get(id_).status_reason
    assert reason is not None
    assert "goes on with this when it returns" in reason.message
    assert world.get(id_).phase == "running"
    operator.sync()
    operator.say(id_, "succeeded")
    assert world.get(id_).phase == "succeeded"


@pytest.mark.parametrize(("silent_s", "phase"), [(19.9, "running"), (20, "cancelled")])
def test_a_cancel_that_the_operator_cannot_hear_ends_it_when_it_has_stopped(
    world: World, operator: Operator, silent_s: float, phase: str
) -> None:
    """C76, C79: a cancel works without an operator, too."""
    id_ = world.create()
    operator.say(id_, progress=a_progress())
    world.cancel(id_)
    world.pass_s(silent_s)
    assert world.get(id_).phase == phase
    if phase == "cancelled":
        reason = world.get(id_).status_reason
        assert reason is not None
        assert reason.code == "operator_lost"
        assert "cancelled by admin while the operator was away" in result_of(world, id_).message
        assert "so far: evicted 1 of 3" in result_of(world, id_).message


def test_a_deadline_that_passes_in_silence_ends_it(world: World, operator: Operator) -> None:
    """C79: nothing is open for ever."""
    id_ = world.create(params={"deadline_s": 60})
    operator.say(id_)
    world.pass_s(50)
    operator.sync()
    world.pass_s(19)
    assert world.get(id_).phase == "running"
    world.pass_s(1)
    assert world.get(id_).phase == "failed"
    assert "its deadline of 60 s passed while the operator was away" in result_of(world, id_).message
    assert result_of(world, id_).attempts == 1


def test_a_deadline_is_the_operators_business_while_it_is_there(world: World, operator: Operator) -> None:
    id_ = world.create(params={"deadline_s": 60})
    operator.say(id_)
    for _ in range(30):
        world.pass_s(5)
        operator.sync()
    assert world.get(id_).phase == "running"


def test_a_released_operator_is_given_time_to_be_replaced(world: World, operator: Operator) -> None:
    id_ = world.create()
    operator.say(id_)
    operator.release()
    world.cancel(id_)
    world.pass_s(19)
    assert world.get(id_).phase == "running"


def test_nothing_ends_in_the_first_two_leases_after_a_hub_start() -> None:
    world = World(hub_started_us=NOON_US + 7200 * 1_000_000)
    world.add_cluster()
    operator = an_operator(world)
    waiting, running = world.create("node.drain", "iad-1-n01"), world.create("node.drain", "iad-1-n02")
    operator.say(running)
    world.cancel(running)
    world.pass_s(7200 + 29)
    assert (world.get(waiting).phase, world.get(running).phase) == ("pending", "running")
    assert world.events("cluster.offline") == []
    world.pass_s(1)
    assert (world.get(waiting).phase, world.get(running).phase) == ("failed", "cancelled")


def test_a_quiet_sweep_writes_nothing(world: World) -> None:
    before = world.events()
    world.sweep()
    assert world.events() == before


def test_an_operation_on_a_workload_is_not_ended_for_its_operators_silence(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.drain("sin-1", deadline_s=1000)
    fleet.world.pass_s(999)
    assert fleet.world.get(id_).phase == "running"
    fleet.world.pass_s(1)
    assert fleet.world.get(id_).phase == "failed"
    assert "sin-1 stays out of the placement" in result_of(fleet.world, id_).message


def test_an_operation_on_a_workload_ends_at_its_deadline_even_right_after_a_hub_start() -> None:
    fleet = Fleet(world=World(hub_started_us=NOON_US))
    fleet.bind(replicas=3)
    id_ = fleet.scale(6, deadline_s=10)
    fleet.world.pass_s(10)
    assert fleet.world.get(id_).phase == "failed"
    assert fleet.world.events("cluster.offline") == []


def test_what_was_written_in_spite_of_a_rival_is_done_once_it_has_stood_for_a_while(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.settle()
    rival = RivalDoc(kind="HorizontalPodAutoscaler", name="llama", component="decode")
    fleet["fra-1"].tell(msgspec.structs.replace(fleet["fra-1"].graphs["llama"], rivals=[rival]))
    params = {"replicas": 6, "override": True}
    id_ = fleet.world.create("workload.scale", "llama", params=params, reason="launch")
    fleet.write()
    assert fleet.waits(id_) == ["rival_watched"]
    for _ in range(int(RIVAL_WATCH_S)):
        assert fleet.waits(id_) == ["rival_watched"]
        for site in fleet.sites.values():
            site.operator.sync()
        fleet.world.pass_s(1)
    assert fleet.ended(id_)[0] == "succeeded"

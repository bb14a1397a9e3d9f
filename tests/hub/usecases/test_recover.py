"""A record that was restored: numbers go on, nobody acts too early, what nobody holds is ended."""

import pytest

from hangar.hub.store.records import Position, find_cluster
from hangar.hub.usecases.recover import recover, recover_behind, restored_rev
from hangar.wire.operator import SessionGrant
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import Fleet
from tests.hub.world import Operator, World, a_node, a_progress, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster("iad-1")
    return made


def take_up(world: World) -> None:
    world.store.write(lambda tx: recover(tx, world.now_us))


def test_the_feed_goes_on_under_another_name_far_beyond_what_was_lost(world: World) -> None:
    before = world.store.position()
    assert world.store.read(restored_rev) == 0
    take_up(world)
    now = world.store.position()
    assert now.incarnation != before.incarnation
    assert now.rev == before.rev + 1_000_000_001
    assert world.events()[-1] == "hub.restored"
    assert world.store.read(restored_rev) == now.rev


def test_only_a_record_behind_what_was_known_of_it_is_taken_up(world: World) -> None:
    now = world.store.position()

    def is_taken_up(known: Position) -> bool:
        return world.store.write(lambda tx: recover_behind(tx, known, world.now_us))

    assert not is_taken_up(now)
    assert not is_taken_up(Position(now.incarnation, now.rev - 1))
    assert not is_taken_up(Position("another", now.rev + 1))
    assert is_taken_up(Position(now.incarnation, now.rev + 1))
    assert not is_taken_up(Position(now.incarnation, now.rev + 1))


def test_nobody_acts_before_whoever_may_have_held_the_cluster_has_stopped(world: World) -> None:
    holder = an_operator(world)
    take_up(world)
    with pytest.raises(Problem) as caught:
        holder.sync()
    assert caught.value.code is ProblemCode.FENCED
    other = Operator(world, "iad-1", incarnation="second")
    for applicant in (holder, other):
        answer = applicant.apply()
        assert isinstance(answer, Problem)
        assert answer.code is ProblemCode.STANDBY
        assert "unknown since the record was restored" in answer.detail
    world.pass_s(20)
    epoch = holder.grant.epoch
    holder.open()
    assert holder.grant.epoch > epoch + 1_000_000


def test_a_cluster_that_was_free_waits_too(world: World) -> None:
    operator = an_operator(world)
    operator.release()
    take_up(world)
    assert isinstance(operator.apply(), Problem)
    world.pass_s(20)
    operator.open()


def test_a_cluster_that_never_had_an_operator_has_nobody_to_wait_for(world: World) -> None:
    take_up(world)
    assert isinstance(Operator(world, "iad-1").apply(), SessionGrant)


def test_what_the_first_operator_holds_goes_on_and_all_else_is_ended(world: World) -> None:
    operator = an_operator(world)
    operator.tell(*(a_node(f"n{number}") for number in range(3)))
    held, unheld, pending = (world.create(target=f"n{number}") for number in range(3))
    for id_ in (held, unheld):
        operator.say(id_, progress=a_progress())
    take_up(world)
    world.pass_s(20)
    operator.held = [held]
    operator.open()
    assert world.get(held).phase == "running"
    for id_, attempts in ((unheld, 1), (pending, 0)):
        document = world.get(id_)
        assert document.phase == "failed"
        assert document.status_reason is not None
        assert document.status_reason.code == "hub_restored"
        assert f"Look at {document.target}" in document.status_reason.message
        assert document.result is not None
        assert document.result.attempts == attempts
    operator.say(held)
    operator.say(held, "succeeded")
    document = world.get(held)
    assert document.result is not None
    assert document.result.attempts == 1
    assert "operation.taken_over" not in world.events()


def test_what_is_held_counts_after_a_restore_only(world: World) -> None:
    operator = an_operator(world)
    id_ = world.create()
    operator.say(id_)
    operator.held = []
    operator.open()
    assert world.get(id_).phase == "running"
    take_up(world)
    world.pass_s(20)
    operator.held = [id_]
    operator.open()
    operator.held = []
    operator.open()
    assert world.get(id_).phase == "running"


def test_a_record_may_be_restored_more_than_once(world: World) -> None:
    an_operator(world)
    take_up(world)
    first = world.store.position()
    take_up(world)
    assert world.store.position().rev > first.rev
    cluster = world.store.read(lambda connection: find_cluster(connection, "iad-1"))
    assert cluster is not None
    assert cluster.epoch == 2_000_000_001


def test_an_open_operation_on_a_workload_goes_on_after_a_restore(fleet: Fleet) -> None:
    """No operator holds it: it is the hub's own, and the graphs tell how far it is."""
    world = fleet.world
    fleet.bind(replicas=3)
    id_ = fleet.world.create("workload.undrain", "llama", cluster="sin-1")
    assert world.get(id_).cluster == "sin-1"
    take_up(world)
    world.pass_s(20, sweeping=False)
    for site in fleet.sites.values():
        site.operator.held = []
        site.operator.open()
    assert world.get(id_).phase == "running"
    fleet.write()
    assert fleet.ended(id_) == ("succeeded", "sin-1 was not drained: 1 + 1 + 1 = 3, divided")

"""Renewals that are written together: they never outlive a session, and never turn time back."""

import pytest

from hangar.hub.store.records import find_cluster
from hangar.hub.usecases.renew import Renewal, answer_if_fresh, renew_leases
from hangar.hub.usecases.sync import sync
from hangar.wire.operator import SyncAnswer, SyncRequest
from tests.hub.world import NOON_US, Operator, World, a_node

S = 1_000_000


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


@pytest.fixture
def operator(world: World) -> Operator:
    made = Operator(world, "iad-1")
    made.open()
    return made


def seen_us(world: World) -> int:
    cluster = world.store.read(lambda connection: find_cluster(connection, "iad-1"))
    assert cluster is not None
    assert cluster.seen_us is not None
    return cluster.seen_us


def ask(world: World, operator: Operator, known: Renewal | None = None) -> SyncAnswer | None:
    request = SyncRequest(session=operator.grant.session, epoch=operator.grant.epoch)
    return world.store.read(lambda c: answer_if_fresh(c, "iad-1", request, known, world.rules, world.now_us))


def test_a_fresh_lease_is_answered_without_a_transaction(world: World, operator: Operator) -> None:
    world.pass_s(14.9)
    assert ask(world, operator) == SyncAnswer(seen=0, jobs=[])


def test_its_answer_is_that_of_a_sync(world: World, operator: Operator) -> None:
    operator.tell(a_node("n01"), a_node("n02"))
    waiting = world.create("node.drain", "n01")
    world.cancel(world.create("node.drain", "n02"))
    request = SyncRequest(session=operator.grant.session, epoch=operator.grant.epoch)
    assert ask(world, operator) == world.store.write(lambda tx: sync(tx, "iad-1", request, world.now_us))
    world.cancel(waiting)
    answer = ask(world, operator)
    assert answer == world.store.write(lambda tx: sync(tx, "iad-1", request, world.now_us))
    assert answer is not None
    assert (answer.jobs, answer.seen) == ([], world.get(waiting).version)


@pytest.mark.parametrize("sweeping", [True, False])
def test_a_lease_that_ran_out_is_not(world: World, operator: Operator, sweeping: bool) -> None:
    world.pass_s(15, sweeping=sweeping)
    assert ask(world, operator) is None


def test_a_renewal_that_is_not_written_yet_keeps_it_fresh(world: World, operator: Operator) -> None:
    world.pass_s(20, sweeping=False)
    mine = Renewal("iad-1", operator.grant.session, operator.grant.epoch, NOON_US + 10 * S)
    assert ask(world, operator, mine) is not None
    others = Renewal("iad-1", "ses_other", operator.grant.epoch, NOON_US + 10 * S)
    assert ask(world, operator, others) is None


def test_a_session_that_is_over_is_not_answered(world: World, operator: Operator) -> None:
    operator.release()
    assert ask(world, operator) is None


def test_renewals_are_written_where_the_session_still_holds(world: World, operator: Operator) -> None:
    older = operator.grant
    operator.open()
    newer = operator.grant
    at = NOON_US + 5 * S
    world.store.write(lambda tx: renew_leases(tx, [Renewal("iad-1", older.session, older.epoch, at)]))
    assert seen_us(world) == NOON_US
    world.store.write(lambda tx: renew_leases(tx, [Renewal("iad-1", newer.session, newer.epoch, at)]))
    assert seen_us(world) == at
    world.store.write(lambda tx: renew_leases(tx, [Renewal("iad-1", newer.session, newer.epoch, at - S)]))
    assert seen_us(world) == at
    world.store.write(lambda tx: renew_leases(tx, []))

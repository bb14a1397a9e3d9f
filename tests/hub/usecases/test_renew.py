"""Renewals that are written together: they never outlive a session."""

import pytest

from hangar.hub.store.records import find_cluster
from hangar.hub.usecases.renew import Renewal, answer_if_online, renew_leases
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


def ask(world: World, operator: Operator) -> SyncAnswer | None:
    request = SyncRequest(session=operator.grant.session, epoch=operator.grant.epoch)
    return world.store.read(lambda c: answer_if_online(c, "iad-1", request, world.now_us))


def renew(world: World, *renewals: Renewal) -> set[Renewal]:
    return world.store.write(lambda tx: renew_leases(tx, renewals, world.now_us))


def renewal_of(operator: Operator) -> Renewal:
    return Renewal(operator.cluster, operator.grant.session, operator.grant.epoch)


def test_the_answer_is_that_of_a_sync(world: World, operator: Operator) -> None:
    assert ask(world, operator) == SyncAnswer(seen=0, jobs=[])
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


def test_a_cluster_that_was_given_up_takes_a_transaction_that_says_it_is_back(world: World, operator: Operator) -> None:
    world.pass_s(15)
    assert ask(world, operator) is None
    assert renew(world, renewal_of(operator)) == set()
    operator.sync()
    assert ask(world, operator) is not None
    assert renew(world, renewal_of(operator)) == {renewal_of(operator)}


def test_a_session_that_is_over_is_neither_answered_nor_renewed(world: World, operator: Operator) -> None:
    operator.release()
    assert ask(world, operator) is None
    assert renew(world, renewal_of(operator)) == set()


def test_renewals_are_written_together_where_their_sessions_still_hold(world: World, operator: Operator) -> None:
    older = renewal_of(operator)
    operator.open()
    world.add_cluster("ord-1")
    other = Operator(world, "ord-1")
    other.open()
    world.pass_s(5, sweeping=False)
    told = renew(world, older, renewal_of(operator), renewal_of(other))
    assert told == {renewal_of(operator), renewal_of(other)}
    assert seen_us(world) == NOON_US + 5 * S
    assert renew(world, older) == set()

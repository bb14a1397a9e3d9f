"""What operators tell of nodes: numbers, flips and who was behind them."""

import pytest

from hangar.hub.usecases.feed import EventFilters, list_events
from hangar.hub.usecases.fleet import NodeFilters, get_node, list_nodes
from hangar.hub.usecases.paging import PageRequest
from hangar.wire import shown
from hangar.wire.operator import CordonDoc
from tests.hub.world import Operator, World, a_node


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


@pytest.fixture
def operator(world: World) -> Operator:
    made = Operator(world, "iad-1")
    made.open()
    made.tell(a_node("n01"), a_node("n02"))
    return made


def names(world: World) -> list[str]:
    page = world.store.read(lambda connection: list_nodes(connection, NodeFilters(), PageRequest()))
    return [each.name for each in page.items]


def newest_event(world: World) -> shown.Event:
    page = world.store.read(lambda connection: list_events(connection, EventFilters(), PageRequest(size=1)))
    return page.items[0]


def test_a_complete_inventory_replaces_what_was_known(world: World, operator: Operator) -> None:
    assert names(world) == ["n01", "n02"]
    assert not operator.tell(a_node("n02"), a_node("n03")).resync
    assert names(world) == ["n02", "n03"]
    assert world.events("node") == ["node.added", "node.added", "node.added", "node.removed"]


def test_a_partial_one_changes_what_it_names(world: World, operator: Operator) -> None:
    assert not operator.tell(a_node("n03"), complete=False, gone=("n01",)).resync
    assert names(world) == ["n02", "n03"]


def test_a_skipped_number_asks_for_all_and_changes_nothing(world: World, operator: Operator) -> None:
    assert operator.tell_as(3, a_node("n03"), complete=False).resync
    assert names(world) == ["n01", "n02"]


def test_a_number_that_was_seen_changes_nothing(world: World, operator: Operator) -> None:
    assert not operator.tell_as(1, a_node("n03")).resync
    assert names(world) == ["n01", "n02"]


def test_a_session_begins_with_a_complete_one(world: World, operator: Operator) -> None:
    operator.open()
    assert operator.tell(a_node("n03"), complete=False).resync
    assert not operator.tell(a_node("n03")).resync
    assert names(world) == ["n03"]


def test_what_did_not_change_is_not_written(world: World, operator: Operator) -> None:
    before = world.store.read(lambda connection: get_node(connection, "n01", None))
    world.pass_s(5)
    operator.tell(a_node("n01"), a_node("n02"))
    assert world.store.read(lambda connection: get_node(connection, "n01", None)) == before


@pytest.mark.parametrize(
    ("cordon", "actor", "operation"),
    [
        (CordonDoc(operation="op_1", actor="max", reason="fan", manager="wingsmith"), "max", "op_1"),
        (CordonDoc(operation=None, actor=None, reason=None, manager="kubectl-cordon"), "kubectl-cordon", None),
        (None, None, None),
    ],
)
def test_a_cordon_is_an_event_with_who_did_it(
    world: World, operator: Operator, cordon: CordonDoc | None, actor: str | None, operation: str | None
) -> None:
    operator.tell(a_node("n01", cordoned=True, cordon=cordon), complete=False)
    event = newest_event(world)
    assert (event.type, event.object.name, event.object.cluster) == ("node.cordoned", "n01", "iad-1")
    assert (event.actor, event.operation) == (actor, operation)


@pytest.mark.parametrize(("ago_s", "actor"), [(None, "admin"), (9, "admin"), (11, None)])
def test_an_uncordon_is_put_down_to_our_operation_while_that_is_fresh(
    world: World, operator: Operator, ago_s: int | None, actor: str | None
) -> None:
    operator.tell(a_node("n01", cordoned=True), complete=False)
    id_ = world.create("node.uncordon", "n01")
    operator.say(id_)
    if ago_s is not None:
        operator.say(id_, "succeeded")
        world.pass_s(ago_s)
    operator.tell(a_node("n01"), complete=False)
    event = newest_event(world)
    assert (event.type, event.actor) == ("node.uncordoned", actor)


def test_readiness_flips_are_events(world: World, operator: Operator) -> None:
    operator.tell(a_node("n01", ready=False), complete=False)
    operator.tell(a_node("n01", ready=False, replicas=3), complete=False)
    operator.tell(a_node("n01"), complete=False)
    assert world.events("node")[2:] == ["node.not_ready", "node.ready"]


def test_a_node_replaced_under_its_name_is_told_with_the_cordon_that_went(world: World, operator: Operator) -> None:
    operator.tell(a_node("n01", cordoned=True), complete=False)
    operator.tell(a_node("n01", uid="new"), complete=False)
    event = newest_event(world)
    assert event.type == "node.replaced"
    assert event.message == "node n01 was replaced by another of the same name; the cordon went with the old one"


def test_a_node_shows_the_operation_that_holds_it(world: World, operator: Operator) -> None:
    id_ = world.create("node.drain", "n01")
    assert world.store.read(lambda connection: get_node(connection, "n01", None)).operation == id_
    world.cancel(id_)
    assert world.store.read(lambda connection: get_node(connection, "n01", None)).operation is None

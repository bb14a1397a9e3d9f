"""Listing events."""

from typing import Any

import pytest

from hangar.hub.usecases.feed import EventFilters, list_events, list_operation_events
from hangar.hub.usecases.paging import PageRequest, next_token
from hangar.wire import shown
from hangar.wire.operator import BlockerDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import MAINTAINER, World, a_node, a_progress, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


def page_of(world: World, size: int = 100, token: str | None = None, **filters: Any) -> shown.Page[shown.Event]:
    asked = EventFilters(**filters)
    return world.store.read(lambda c: list_events(c, asked, PageRequest(size, token)))


def test_the_newest_come_first_and_after_a_revision_the_oldest(world: World) -> None:
    an_operator(world)
    newest = [each.rev for each in page_of(world).items]
    assert newest == sorted(newest, reverse=True)
    assert [each.rev for each in page_of(world, after=2).items] == sorted(rev for rev in newest if rev > 2)


@pytest.mark.parametrize("after", [None, 0])
def test_pages_of_either_direction_hang_together(world: World, after: int | None) -> None:
    an_operator(world)
    whole = [each.rev for each in page_of(world, after=after).items]
    found, token = [], None
    while True:
        page = page_of(world, 2, token, after=after)
        found += [each.rev for each in page.items]
        token = page.next_page_token
        if token is None:
            break
    assert found == whole


@pytest.mark.parametrize(
    ("filters", "types"),
    [
        ({"type": "node.added"}, ["node.added", "node.added"]),
        ({"object": "iad-1-n01"}, ["node.added"]),
        ({"object": "iad-1/iad-1-n01"}, ["node.added"]),
        ({"object": "ord-1/iad-1-n01"}, []),
        ({"cluster": "iad-1", "type": "cluster.online"}, ["cluster.online"]),
        ({"cluster": "ord-1"}, []),
    ],
)
def test_events_are_filtered(world: World, filters: dict[str, Any], types: list[str]) -> None:
    an_operator(world)
    assert [each.type for each in page_of(world, **filters).items] == types


def test_an_unknown_type_is_told_what_there_is(world: World) -> None:
    with pytest.raises(Problem) as caught:
        page_of(world, type="node.exploded")
    assert caught.value.code is ProblemCode.INVALID_FILTER
    assert "node.cordoned" in caught.value.detail


@pytest.mark.parametrize("key", ["x", "-1", "9" * 30])
def test_a_forged_token_is_refused(world: World, key: str) -> None:
    filters = {"type": None, "object": None, "cluster": None, "operation": None, "after": None}
    with pytest.raises(Problem) as caught:
        page_of(world, 1, next_token("events", filters, [key]))
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_an_operations_events_tell_its_story(world: World) -> None:
    operator = an_operator(world)
    id_ = world.create(reason="fan", who=MAINTAINER)
    blocker = BlockerDoc(code="budget_spent", subject="default/api", message="pdb api needs 1, has 1")
    operator.say(id_, progress=a_progress(1, blockers=[blocker]))
    world.cancel(id_)
    operator.say(id_, "cancelled")
    page = world.store.read(lambda c: list_operation_events(c, id_, PageRequest()))
    assert [(each.message, each.actor) for each in page.items] == [
        ("node.drain iad-1-n01 was asked for by max: fan", "max"),
        ("node.drain iad-1-n01 started", None),
        ("evicted 1 of 3", None),
        ("node.drain iad-1-n01 was asked to stop by admin", "admin"),
        ("node.drain iad-1-n01 cancelled: it cancelled", "admin"),
    ]
    with pytest.raises(Problem) as caught:
        world.store.read(lambda c: list_operation_events(c, "op_nothing", PageRequest()))
    assert caught.value.code is ProblemCode.NOT_FOUND


def test_every_event_of_a_busy_fleet_has_a_sentence(world: World) -> None:
    operator = an_operator(world)
    id_ = world.create()
    operator.say(id_)
    operator.tell(a_node("iad-1-n01", cordoned=True), a_node("iad-1-n02", ready=False))
    operator.tell(a_node("iad-1-n01"), a_node("iad-1-n02", uid="new"), complete=False)
    operator.tell(a_node("iad-1-n02", uid="new", ready=False))
    operator.tell(a_node("iad-1-n02", uid="new"))
    an_operator_that_waits = type(operator)(world, "iad-1", incarnation="second")
    an_operator_that_waits.apply()
    operator.release()
    an_operator_that_waits.open()
    world.pass_s(20)
    third = type(operator)(world, "iad-1", incarnation="third")
    third.open()
    third.say(id_)
    third.say(id_, "succeeded")
    page = page_of(world)
    assert all(each.message and "None" not in each.message for each in page.items)

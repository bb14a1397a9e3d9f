"""Listing operations: filters, pages, and what a page may cost."""

import pytest

from hangar.hub.usecases import queries
from hangar.hub.usecases.paging import PageRequest, next_token
from hangar.hub.usecases.queries import OperationFilters, list_operations
from hangar.wire import shown
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.world import MAINTAINER, NOON_US, Operator, World, a_node

DAY = "2026-11-18T"


@pytest.fixture
def world() -> World:
    """Six operations, one a second: drains and cordons of three nodes, some over."""
    made = World()
    made.add_cluster()
    operator = Operator(made, "iad-1")
    operator.open()
    operator.tell(a_node("n01"), a_node("n02"), a_node("n03"))
    for index, (type_, target, phase) in enumerate(
        [
            ("node.drain", "n01", "succeeded"),
            ("node.cordon", "n02", "failed"),
            ("node.drain", "n01", "succeeded"),
            ("node.cordon", "n01", "pending"),
            ("node.drain", "n02", "running"),
            ("node.drain", "n03", "pending"),
        ]
    ):
        id_ = made.create(type_, target, **({"who": MAINTAINER} if index % 2 else {}))
        if phase != "pending":
            operator.say(id_)
        if phase in ("succeeded", "failed"):
            operator.say(id_, phase)
        made.pass_s(1, sweeping=False)
    return made


def page_of(world: World, size: int = 100, token: str | None = None, **filters: object) -> shown.Page[shown.Operation]:
    asked = OperationFilters(**filters)  # type: ignore[arg-type]
    return world.store.read(lambda c: list_operations(c, asked, PageRequest(size, token), world.rules))


def seconds(page: shown.Page[shown.Operation]) -> list[int]:
    """When each was created, in seconds after noon."""
    return [int(each.created_at[17:19]) - 40 for each in page.items]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [5, 4, 3, 2, 1, 0]),
        ({"type": "node.drain"}, [5, 4, 2, 0]),
        ({"type": "node.drain", "phase": "succeeded"}, [2, 0]),
        ({"phase": "running"}, [4]),
        ({"target": "n01"}, [3, 2, 0]),
        ({"target": "n01", "phase": "pending", "type": "node.cordon", "created_by": "max"}, [3]),
        ({"cluster": "iad-1", "created_by": "admin"}, [4, 2, 0]),
        ({"target": "nobody"}, []),
        ({"target": "iad-1/n01", "cluster": "iad-1"}, [3, 2, 0]),
        ({"target": "iad-1/n01", "cluster": "ord-1"}, []),
        ({"target": "ord-1/n01"}, []),
        ({"target": ""}, []),
        ({"since_us": NOON_US + 3_000_000}, [5, 4, 3]),
        ({"until_us": NOON_US + 3_000_000}, [2, 1, 0]),
        ({"since_us": NOON_US + 1_000_001, "until_us": NOON_US + 3_000_001}, [3, 2]),
        ({"since_us": NOON_US, "until_us": NOON_US}, []),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_filters_are_ands_and_pages_hang_together(
    world: World, filters: dict[str, object], expected: list[int], size: int
) -> None:
    found, token = [], None
    while True:
        page = page_of(world, size, token, **filters)
        assert len(page.items) <= size
        found += seconds(page)
        token = page.next_page_token
        if token is None:
            break
    assert found == expected


def test_a_page_stands_still_while_new_operations_come(world: World) -> None:
    first = page_of(world, 2)
    world.cancel(first.items[0].id)
    world.create("node.uncordon", "n03")
    assert seconds(page_of(world, 2, first.next_page_token)) == [3, 2]


def test_a_list_tells_the_revision_it_was_read_at(world: World) -> None:
    assert page_of(world).as_of == max(world.revs())


def test_every_wrong_filter_is_told_with_what_there_is(world: World) -> None:
    with pytest.raises(Problem) as caught:
        page_of(world, type="node.reboot", phase="done")
    assert caught.value.code is ProblemCode.INVALID_FILTER
    assert [each.path for each in caught.value.errors] == ["query.type", "query.phase"]
    assert "pending, running, succeeded, failed, cancelled" in caught.value.errors[1].message


@pytest.mark.parametrize(
    "token", ["", "!", "AAAA", "bm90IGpzb24", next_token("operations", {}, ["x"]), next_token("nodes", {}, ["x", "y"])]
)
def test_a_token_of_another_list_is_refused(world: World, token: str) -> None:
    with pytest.raises(Problem) as caught:
        page_of(world, 2, token)
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_a_token_is_bound_to_its_filters(world: World) -> None:
    token = page_of(world, 1, type="node.drain").next_page_token
    with pytest.raises(Problem) as caught:
        page_of(world, 1, token, type="node.cordon")
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_a_page_that_examined_enough_comes_short_with_a_token(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "PAGE_EXAMINED_MAX", 2)
    pages, token = [], None
    while True:
        page = page_of(world, 100, token, cluster="iad-1", type="node.cordon")
        pages.append(seconds(page))
        token = page.next_page_token
        if token is None:
            break
    assert pages == [[], [3], [1], []]

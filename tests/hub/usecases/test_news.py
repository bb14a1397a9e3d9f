"""What the feed has beyond a revision: the events, and those to wake."""

import pytest

from hangar.hub.store.tx import EventType, Subject, Tx
from hangar.hub.usecases.news import News, read_news
from tests.hub.world import World, a_progress, an_operator


@pytest.fixture
def world() -> World:
    made = World()
    made.add_cluster()
    return made


def news(world: World, after_rev: int) -> News:
    return world.store.read(lambda connection: read_news(connection, after_rev))


def test_all_that_happened_after_a_revision_is_told_with_whom_to_wake(world: World) -> None:
    operator = an_operator(world)
    before = world.store.position()
    id_ = world.create()
    operator.say(id_, progress=a_progress())
    found = news(world, before.rev)
    assert [each.type for each in found.events] == ["operation.created", "operation.started", "operation.progressed"]
    assert found.events[0].rev == before.rev + 1
    assert found.position == world.store.position()
    assert found.woken == {f"operation:{id_}", "cluster:iad-1"}
    assert found.is_all


def test_a_change_without_an_event_is_news_too(world: World) -> None:
    operator = an_operator(world)
    id_ = world.create()
    operator.say(id_, progress=a_progress())
    before = world.store.position()
    operator.say(id_, progress=a_progress(), memory={"seen": 1})
    found = news(world, before.rev)
    assert (found.events, found.woken) == ([], {f"operation:{id_}"})
    assert found.position.rev > before.rev


def test_there_is_none_at_the_end_nor_beyond_it(world: World) -> None:
    now = world.store.position()
    for after_rev in (now.rev, now.rev + 100):
        assert news(world, after_rev) == News(now, [], set())


def test_more_than_can_be_read_at_once_is_read_up_to_where_it_is_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hangar.hub.usecases.news.FEED_ROWS_MAX", 2)

    def three(tx: Tx) -> None:
        for name in "abc":
            tx.event(EventType.CLUSTER_ADDED, Subject("cluster", name), 1)

    before = world.store.position()
    world.store.write(three)
    first = news(world, before.rev)
    assert ([each.object.name for each in first.events], first.is_all) == (["a", "b"], False)
    rest = news(world, first.position.rev)
    assert ([each.object.name for each in rest.events], rest.is_all) == (["c"], True)

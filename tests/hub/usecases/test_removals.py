"""Graphs that Wingsmith created and that are to go: told until they are gone, and what was adopted is left alone."""

import msgspec
import pytest
from sqlalchemy import select

from hangar.domain.limits import CREATION_UNSEEN_S
from hangar.hub.store.tables import removals
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.remove_workloads import delete_workload
from hangar.hub.usecases.renew import answer_if_online
from hangar.wire import shown
from hangar.wire.operator import RemovalDoc, SyncRequest, UnwrittenDoc
from tests.hub.sites import TEMPLATE, Fleet, Site, a_graph
from tests.hub.world import ADMIN

NEW = Binding("fra-1", "serving", "new")
GOING = RemovalDoc(namespace="serving", graph="new", uid="uid-new")


@pytest.fixture
def site(fleet: Fleet) -> Site:
    fleet.apply("new", template=TEMPLATE, bindings=(NEW,), replicas=1)
    return fleet["fra-1"]


def delete(fleet: Fleet, name: str = "new", *, keep: bool = False) -> shown.RemovedGraph:
    removal = fleet.world.store.write(lambda tx: delete_workload(tx, ADMIN, name, fleet.world.now_us, keep=keep))
    return removal.graphs[0]


def rows(fleet: Fleet) -> list[str | None]:
    return list(fleet.read(lambda connection: connection.execute(select(removals.c.why)).scalars().all()))


def test_a_graph_of_ours_is_to_be_removed_until_it_is_gone(fleet: Fleet, site: Site) -> None:
    site.tell(a_graph("new", is_ours=True))
    seen = site.hears().seen
    told = delete(fleet)
    assert (told.fate, told.message) == ("removed", "graph serving/new on fra-1 is removed")
    heard = site.hears()
    assert (heard.removals, heard.desired) == ([GOING], [])
    assert heard.seen > seen
    site.tell(a_graph("llama"), complete=False)
    assert site.hears().removals == [GOING]
    site.lose("new", complete=False)
    assert site.hears().removals == []
    assert rows(fleet) == []


def test_an_idle_operator_hears_of_a_removal_too(fleet: Fleet, site: Site) -> None:
    site.tell(a_graph("new", is_ours=True))
    delete(fleet)
    grant = site.operator.grant
    request = SyncRequest(session=grant.session, epoch=grant.epoch)
    answer = fleet.read(lambda connection: answer_if_online(connection, "fra-1", request, fleet.world.now_us))
    assert answer is not None
    assert answer.removals == [GOING]


def test_a_whole_inventory_without_it_says_that_it_is_gone(fleet: Fleet, site: Site) -> None:
    site.tell(a_graph("new", is_ours=True))
    delete(fleet)
    site.send(graphs=None)
    assert site.hears().removals == [GOING], "nothing was said of graphs"
    site.lose("new")
    assert site.hears().removals == []


def test_what_is_kept_or_was_adopted_is_only_forgotten(fleet: Fleet, site: Site) -> None:
    site.tell(a_graph("new", is_ours=True))
    assert delete(fleet, keep=True).message == "graph serving/new on fra-1 is kept as it is"
    fleet.bind(on=["fra-1"])
    assert delete(fleet, "llama").message == "graph serving/llama on fra-1 was adopted and stays as it is"
    assert site.hears().removals == []


def test_a_graph_that_is_not_there_and_was_never_to_be_made_is_said_to_be_missing(fleet: Fleet) -> None:
    fleet.apply("lost", bindings=(Binding("fra-1", "serving", "lost"),))
    assert delete(fleet, "lost").message == "graph serving/lost on fra-1 was not there"


def test_an_offline_cluster_follows_and_that_is_said(fleet: Fleet, site: Site) -> None:
    site.tell(a_graph("new", is_ours=True))
    site.operator.release()
    told = delete(fleet)
    assert told.message == (
        "graph serving/new on fra-1 is removed; its operator is offline, and does so when it is back"
    )


def test_another_graph_of_the_same_name_is_not_removed(fleet: Fleet, site: Site) -> None:
    site.tell(a_graph("new", is_ours=True))
    delete(fleet)
    site.tell(a_graph("new", uid="another"))
    assert site.hears().removals == []


# --- created, perhaps -------------------------------------------------------------------------------------------------


def test_a_graph_that_was_being_created_is_removed_when_it_turns_up(fleet: Fleet, site: Site) -> None:
    told = delete(fleet)
    assert (told.fate, told.message) == ("unseen", "graph serving/new on fra-1 is removed, if it has been created")
    assert site.hears().removals == []
    site.tell(a_graph("new", is_ours=True), complete=False)
    assert site.hears().removals == [GOING]


def test_what_turns_up_and_is_not_ours_is_left_alone(fleet: Fleet, site: Site) -> None:
    delete(fleet)
    site.tell(a_graph("new"), complete=False)
    assert (site.hears().removals, rows(fleet)) == ([], [])


def test_what_does_not_turn_up_is_not_waited_for_for_ever(fleet: Fleet, site: Site) -> None:
    delete(fleet)
    fleet.world.now_us += round(CREATION_UNSEEN_S * 1_000_000) - 1
    site.tell(a_graph("llama"))
    assert rows(fleet) == [None]
    fleet.world.now_us += 1
    site.tell(a_graph("llama"))
    assert rows(fleet) == []


def test_what_was_being_created_can_be_bound_again_at_once(fleet: Fleet, site: Site) -> None:
    delete(fleet)
    fleet.apply("new", template=TEMPLATE, bindings=(NEW,), replicas=1)
    site.tell(a_graph("new", is_ours=True))
    assert site.hears().removals == []
    assert fleet.see("new").deployments[0].state == "reconciling"


def test_why_a_graph_is_not_gone_is_noted(fleet: Fleet, site: Site) -> None:
    site.tell(a_graph("new", is_ours=True))
    delete(fleet)
    why = UnwrittenDoc(namespace="serving", graph="new", rev=0, code="refused", why="no access")
    site.send(complete=False, unwritten=[why])
    assert rows(fleet) == ["no access (refused)"]
    site.send(complete=False, unwritten=[msgspec.structs.replace(why, rev=7)])
    assert rows(fleet) == [None]

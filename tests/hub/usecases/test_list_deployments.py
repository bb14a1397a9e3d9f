"""Deployments page by page, and after them the graphs that nobody has bound."""

from typing import Any

import msgspec
import pytest

from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.list_deployments import DeploymentFilters, list_deployments
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.remove_workloads import delete_workload
from hangar.hub.usecases.show_workloads import WorkloadFilters, list_workloads
from hangar.wire import shown
from hangar.wire.operator import ComponentDoc, RivalDoc, UnwrittenDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import TEMPLATE, Fleet, a_graph
from tests.hub.world import ADMIN

BOUND = [("a", "fra-1"), ("b", "fra-1"), ("llama", "fra-1"), ("llama", "iad-1"), ("llama", "sin-1")]
FOUND = [("-", "fra-1/x"), ("-", "fra-1/y"), ("-", "sin-1/x")]


def page(fleet: Fleet, token: str | None = None, size: int = 20, **filters: Any) -> shown.Page[shown.Deployment]:
    asked = DeploymentFilters(**filters)
    return fleet.read(lambda connection: list_deployments(connection, asked, PageRequest(size, token)))


def keys(of: shown.Page[shown.Deployment]) -> list[tuple[str, str]]:
    return [
        (each.workload, each.cluster) if each.workload is not None else ("-", f"{each.cluster}/{each.graph}")
        for each in of.items
    ]


@pytest.fixture
def many(fleet: Fleet) -> Fleet:
    """The workload llama on three clusters, two more on the first, and three graphs that nobody bound."""
    for name in "abxy":
        fleet["fra-1"].tell(a_graph(name))
    fleet["sin-1"].tell(a_graph("x"))
    fleet.bind(replicas=3)
    for name in "ab":
        fleet.bind(name, on=["fra-1"])
    return fleet


def test_deployments_come_by_workload_and_cluster_and_then_what_nobody_bound(many: Fleet) -> None:
    whole = page(many)
    assert (keys(whole), whole.next_page_token) == (BOUND + FOUND, None)
    assert whole.as_of == many.world.store.position().rev


@pytest.mark.parametrize("size", range(1, 10))
def test_pages_of_any_size_hold_each_once_and_in_order(many: Fleet, size: int) -> None:
    seen, token = [], None
    while True:
        part = page(many, token, size=size)
        seen += keys(part)
        assert len(part.items) <= size
        token = part.next_page_token
        if token is None:
            break
    assert seen == BOUND + FOUND


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"workload": "llama", "cluster": "iad-1"}, [("llama", "iad-1")]),
        ({"cluster": "sin-1"}, [("llama", "sin-1"), ("-", "sin-1/x")]),
        ({"workload": "gone"}, []),
        ({"state": "discovered"}, FOUND),
        ({"state": "discovered", "cluster": "sin-1"}, FOUND[2:]),
        ({"state": "discovered", "workload": "llama"}, []),
        ({"state": "drifted"}, []),
    ],
)
def test_a_list_is_cut_down_by_its_filters(many: Fleet, filters: dict[str, Any], expected: list[object]) -> None:
    assert keys(page(many, **filters)) == expected


def test_a_page_may_come_short_by_its_filter_and_goes_on_by_its_token(many: Fleet) -> None:
    many["fra-1"].write("b")
    many["fra-1"].decode("b", replicas=7)
    short = page(many, size=1, state="drifted")
    assert (short.items, short.next_page_token is None) == ([], False)
    assert keys(page(many, short.next_page_token, size=1, state="drifted")) == [("b", "fra-1")]


def test_a_token_is_good_for_this_list_and_its_filters_alone(many: Fleet) -> None:
    other = many.read(lambda c: list_workloads(c, WorkloadFilters(), PageRequest(1))).next_page_token
    for token in (other, page(many, size=1, cluster="fra-1").next_page_token):
        with pytest.raises(Problem) as caught:
            page(many, token)
        assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_an_unknown_state_is_told_with_those_there_are(fleet: Fleet) -> None:
    with pytest.raises(Problem) as caught:
        page(fleet, state="sad")
    assert caught.value.code is ProblemCode.INVALID_FILTER
    choices = "reconciling, ready, drained, drifted, missing, discovered"
    assert caught.value.errors[0].message == f"'sad' is no state: there are {choices}"


# --- what nobody bound ------------------------------------------------------------------------------------------------


def test_a_graph_that_nobody_bound_is_shown_with_its_numbers_and_never_touched(fleet: Fleet) -> None:
    site = fleet["fra-1"]
    rival = RivalDoc(kind="ScaledObject", name="x", component="decode")
    site.tell(a_graph("x", rivals=[rival], drains=["op_1"]))
    site.decode("x", replicas=3, counted=3, updated=3, ready=2, pods=3)
    found = page(fleet, state="discovered", cluster="fra-1").items[-1]
    assert (found.workload, found.graph, found.state, found.desired) == (None, "x", "discovered", None)
    assert (found.observed, found.ready, found.shape, found.online) == (3, 2, {"decode": 1}, True)
    assert ([each.name for each in found.rivals], found.drains, found.message) == (["x"], ["op_1"], "")
    assert [(each.name, each.desired, each.replicas, each.pods) for each in found.components] == [
        ("Frontend", None, 1, 0),
        ("decode", None, 3, 3),
    ]
    assert site.hears().desired == []


def test_one_that_does_not_tell_its_replicas_shows_its_components_alone(fleet: Fleet) -> None:
    workers = [ComponentDoc(name=name, role="worker", replicas=1) for name in "ab"]
    rival = RivalDoc(kind="ScaledObject", name="x", component="a")
    fleet["fra-1"].tell(a_graph("x", components=workers, rivals=[rival]))
    found = page(fleet, state="discovered", cluster="fra-1").items[-1]
    assert (found.observed, found.ready, found.shape, len(found.components)) == (None, 0, None, 2)
    assert [each.component for each in found.rivals] == ["a"]


def test_one_that_is_being_removed_says_so_and_why_it_is_still_there(fleet: Fleet) -> None:
    site = fleet["fra-1"]
    fleet.apply("new", template=TEMPLATE, bindings=(Binding("fra-1", "serving", "new"),), replicas=1)
    site.tell(a_graph("new", is_ours=True))
    fleet.world.store.write(lambda tx: delete_workload(tx, ADMIN, "new", fleet.world.now_us))
    text = "is being removed, since it served workload new"
    assert page(fleet, state="discovered", cluster="fra-1").items[-1].message == text
    why = UnwrittenDoc(namespace="serving", graph="new", rev=0, code="refused", why="no access")
    site.send(complete=False, unwritten=[why])
    assert page(fleet, state="discovered", cluster="fra-1").items[-1].message == f"{text}: no access (refused)"


def test_the_drains_that_move_pods_of_a_deployment_are_shown(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"])
    site = fleet["fra-1"]
    site.tell(msgspec.structs.replace(site.graphs["llama"], drains=["op_1", "op_2"]))
    assert fleet.deployment("fra-1").drains == ["op_1", "op_2"]

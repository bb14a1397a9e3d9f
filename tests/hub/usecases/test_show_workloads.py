"""Workloads and deployments as users see them: states, pages, filters."""

import pytest

from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.show_workloads import WorkloadFilters, list_workloads, show_workload
from hangar.wire import shown
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import Fleet, a_graph


def workloads(fleet: Fleet, token: str | None = None, size: int = 10, **filters: str) -> shown.Page[shown.Workload]:
    asked = WorkloadFilters(**filters)
    return fleet.read(lambda connection: list_workloads(connection, asked, PageRequest(size, token)))


def names(page: shown.Page[shown.Workload]) -> list[str]:
    return [each.name for each in page.items]


@pytest.fixture
def many(fleet: Fleet) -> Fleet:
    """The workload llama on three clusters, and four more on the first, of which c is of another project."""
    fleet.add_project("audio", {})
    fleet.bind(replicas=3)
    for name in "abcd":
        fleet["fra-1"].tell(a_graph(name))
        fleet.bind(name, on=["fra-1"], project="audio" if name == "c" else "chat")
    return fleet


# --- states -----------------------------------------------------------------------------------------------------------


def test_a_deployment_is_reconciling_until_it_is_written_and_ready(fleet: Fleet) -> None:
    fleet.bind(on=["fra-1"], replicas=2)
    new = fleet.deployment("fra-1")
    assert (new.state, new.desired, new.observed, new.ready) == ("reconciling", 2, 0, 0)
    assert new.message == "fra-1/serving/llama is to have 2 replicas, and its operator has not written that yet"
    fleet.write("fra-1")
    assert fleet.deployment("fra-1").message == "fra-1/serving/llama has 0 of 2 replicas ready"
    fleet["fra-1"].settle()
    ready = fleet.deployment("fra-1")
    assert (ready.state, ready.observed, ready.ready, ready.message) == ("ready", 2, 2, "")
    front, decode = ready.components
    assert (front.name, front.role, front.desired, front.replicas) == ("Frontend", "frontend", None, 1)
    assert (decode.desired, decode.replicas, decode.ready, decode.pods) == (2, 2, 2, 2)


def test_a_workload_is_as_the_worst_of_its_deployments(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    assert fleet.see().state == "reconciling"
    fleet.settle()
    assert fleet.see().state == "running"
    fleet["fra-1"].decode(replicas=2)
    assert (fleet.see().state, fleet.deployment("fra-1").changed_by) == ("drifted", ["hangar-operator"])
    fleet["fra-1"].lose()
    assert (fleet.see().state, fleet.deployment("fra-1").state) == ("reconciling", "missing")
    assert fleet.deployment("fra-1").message.startswith("fra-1/serving/llama is not there")


def test_a_workload_of_no_deployment_runs(fleet: Fleet) -> None:
    fleet.apply(replicas=0)
    seen = fleet.see()
    assert (seen.state, seen.placement, seen.gpus_per_replica) == ("running", "0 = 0, divided", None)


def test_numbers_by_hand_that_make_no_whole_replica_are_not_observed_as_some(fleet: Fleet) -> None:
    fleet["fra-1"].tell(a_graph("pair"))
    fleet.bind("pair", on=["fra-1"], shape={"decode": 2}, replicas=1)
    fleet["fra-1"].decode("pair", replicas=3)
    assert fleet.deployment("fra-1", "pair").observed is None


def test_an_open_operation_and_an_absent_operator_are_shown(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    id_ = fleet.scale(6)
    fleet["sin-1"].operator.release()
    assert fleet.see().operation == id_
    assert [(each.online, each.operation) for each in fleet.see().deployments] == [
        (True, id_),
        (True, id_),
        (False, id_),
    ]


def test_an_unknown_workload_is_not_found(fleet: Fleet) -> None:
    with pytest.raises(Problem) as caught:
        fleet.read(lambda connection: show_workload(connection, "mistral"))
    assert caught.value.code is ProblemCode.NOT_FOUND
    assert [each.path for each in caught.value.errors] == ["name"]


# --- lists ------------------------------------------------------------------------------------------------------------


def test_workloads_are_listed_by_name_page_by_page(many: Fleet) -> None:
    first = workloads(many, size=2)
    second = workloads(many, first.next_page_token, size=2)
    third = workloads(many, second.next_page_token, size=2)
    assert [names(page) for page in (first, second, third)] == [["a", "b"], ["c", "d"], ["llama"]]
    assert third.next_page_token is None
    assert first.as_of == many.world.store.position().rev


def test_workloads_are_filtered_by_project_and_state(many: Fleet) -> None:
    assert names(workloads(many, project="audio")) == ["c"]
    assert names(workloads(many, project="nobody")) == []
    many["fra-1"].write("b")
    many["fra-1"].settle("b")
    assert names(workloads(many, state="running")) == ["b"]
    assert names(workloads(many, state="reconciling", project="chat")) == ["a", "d", "llama"]


def test_a_page_may_come_short_by_its_filter_and_goes_on_by_its_token(many: Fleet) -> None:
    many["fra-1"].write("d")
    many["fra-1"].settle("d")
    first = workloads(many, size=2, state="running")
    assert names(first) == []
    assert first.next_page_token is not None
    second = workloads(many, first.next_page_token, size=2, state="running")
    assert names(second) == ["d"]


def test_a_token_is_good_for_its_list_and_filters_alone(many: Fleet) -> None:
    token = workloads(many, size=1).next_page_token
    with pytest.raises(Problem) as caught:
        workloads(many, token, project="chat")
    assert caught.value.code is ProblemCode.INVALID_PAGE_TOKEN


def test_an_unknown_state_is_told_with_those_there_are(fleet: Fleet) -> None:
    with pytest.raises(Problem) as caught:
        workloads(fleet, state="sad")
    assert caught.value.code is ProblemCode.INVALID_FILTER
    choices = "running, paused, reconciling, drifted"
    assert caught.value.errors[0].message == f"'sad' is no state: there are {choices}"

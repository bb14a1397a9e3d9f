"""How much of a project's quota its workloads use, and what goes beyond it."""

import pytest

from hangar.domain.workloads.placement import Division, Policy
from hangar.hub.usecases.paging import PageRequest
from hangar.hub.usecases.projects import QuotaFilters, list_quotas
from hangar.wire.operator import ComponentDoc
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import GPU, Fleet, a_graph


def used(fleet: Fleet, project: str = "chat") -> int | None:
    filters = QuotaFilters(project=project, resource=GPU)
    (quota,) = fleet.read(lambda connection: list_quotas(connection, filters, PageRequest())).items
    return quota.used


def refused(fleet: Fleet, name: str, **given: object) -> str:
    with pytest.raises(Problem) as caught:
        fleet.bind(name, **given)
    assert caught.value.code is ProblemCode.QUOTA_EXCEEDED
    return caught.value.detail


def test_what_is_used_is_what_is_asked_for_paused_or_not(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    assert used(fleet) == 12
    fleet.world.create("workload.pause", "llama")
    assert used(fleet) == 12


def test_a_duplicated_number_is_used_on_every_cluster(fleet: Fleet) -> None:
    fleet.bind(replicas=3, policy=Policy(Division.DUPLICATED))
    assert used(fleet) == 36


def test_the_workloads_of_a_project_share_its_quota(fleet: Fleet) -> None:
    fleet["fra-1"].tell(a_graph("mistral"))
    fleet.bind(replicas=10)
    detail = refused(fleet, "mistral", on=["fra-1"], replicas=7)
    assert "its other workloads use 40, and mistral would use 28 with 7 replicas: 4 too many" in detail
    fleet.bind("mistral", on=["fra-1"], replicas=6)
    assert used(fleet) == 64


def test_what_asks_for_less_is_allowed_beyond_the_quota_too(fleet: Fleet) -> None:
    fleet.bind(replicas=10)
    fleet.add_project("chat", {GPU: 8})
    assert used(fleet) == 40
    fleet.world.cancel(fleet.scale(9))
    assert fleet.refusal("workload.scale", params={"replicas": 10}).code is ProblemCode.QUOTA_EXCEEDED


def test_a_workload_moves_only_to_a_project_that_has_room_for_it(fleet: Fleet) -> None:
    fleet.add_project("small", {GPU: 8})
    fleet.bind(replicas=3)
    detail = refused(fleet, "llama", project="small")
    assert "project small may use 8 nvidia.com/gpu; its other workloads use 0, and llama would use 12" in detail
    assert (used(fleet), used(fleet, "small")) == (12, 0)
    fleet.add_project("small", {GPU: 12})
    fleet.bind(project="small")
    assert (used(fleet), used(fleet, "small")) == (0, 12)


def test_a_project_without_a_quota_bounds_nothing(fleet: Fleet) -> None:
    fleet.add_project("chat", {})
    fleet.bind(replicas=100)
    fleet.scale(200)


def test_what_cannot_be_counted_is_not_known_and_not_refused(fleet: Fleet) -> None:
    uncounted = [ComponentDoc(name="decode", role="worker", replicas=0, gpus_per_pod=None)]
    fleet["fra-1"].tell(a_graph("odd", components=uncounted))
    fleet.bind("odd", on=["fra-1"], replicas=1000)
    assert used(fleet) is None
